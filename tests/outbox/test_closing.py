"""A close keeps its time and tells the truth, whatever hangs; and nothing forgotten lives on."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from failhook.manager import Limits
from failhook.outbox.limits import DeliveryLimits
from failhook.plugin import FailureEvent, Undelivered, hookimpl
from failhook.stores import open_store
from tests.outbox.world import QUICK, Gathering, Good, fail, pipeline_on, until

FOREVER = 60.0


def our_threads() -> set[threading.Thread]:
    """Return the threads of failhook that live."""
    return {each for each in threading.enumerate() if each.name.startswith("failhook-")}


def close_in_time(pipeline, timeout, wait=5.0):
    """Return what a close says, and fail where it takes much longer than it may."""
    answer = []
    thread = threading.Thread(target=lambda: answer.append(pipeline.close(timeout)), daemon=True)
    thread.start()
    thread.join(wait)  # the margin is the machine's, not the code's
    assert answer, "the close is still under way"
    return answer[0]


class Hanging:
    """Hangs until it is let go."""

    def __init__(self) -> None:
        self.entered, self.over = threading.Event(), threading.Event()

    @hookimpl
    def on_task_failed(self) -> None:
        self.entered.set()
        self.over.wait(FOREVER)


@pytest.fixture
def hanging():
    """Return a plugin that hangs; it is let go at the end."""
    plugin = Hanging()
    yield plugin
    plugin.over.set()


def test_a_hung_plugin_does_not_hold_a_close(store, hanging):
    """It returns in time, and says that not all went out."""
    pipeline = pipeline_on(store, hanging, Good(), manager=Limits(call=FOREVER))
    fail(pipeline, "a")
    assert hanging.entered.wait(20)

    assert close_in_time(pipeline, 0.5) is False


class HangingLoop(Hanging):
    """Hangs in a coroutine, so that its loop cannot even be told to stop."""

    @hookimpl
    async def on_task_failed(self) -> None:
        self.entered.set()
        self.over.wait(FOREVER)


@pytest.mark.parametrize(("kind", "timeout"), [(Hanging, FOREVER - 10), (HangingLoop, 10.0)])
def test_a_close_waits_for_no_call_that_is_past_its_limit(store, kind, timeout):
    """What it was about is put back already: there is nothing more to wait for.

    A coroutine that blocks its loop is waited for no longer than the close may take.
    """
    hanging, good = kind(), Good()
    pipeline = pipeline_on(store, hanging, good, manager=Limits(call=0.2, failures=1000))
    fail(pipeline, "a")

    try:
        said = close_in_time(pipeline, timeout, wait=40.0)
    finally:
        hanging.over.set()
    assert kind is HangingLoop or said is False  # that one has failed, for good
    assert 1 == len(good.events)


def test_a_locked_store_does_not_hold_a_close(tmp_path, caplog):
    """Nobody can say then what waits, so that it is not said that all went out."""
    path = tmp_path / "failhook.db"
    pipeline = pipeline_on(open_store(f"sqlite:///{path}?busy_timeout=30"), Good())
    fail(pipeline, "a")
    assert pipeline.flush(20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    assert close_in_time(pipeline, 0.5) is False
    assert "the store did not say within 0.5 s what waits" in caplog.text
    other.execute("ROLLBACK")
    other.close()
    assert until(lambda: not our_threads(), 60.0)


def test_a_store_that_is_gone_is_told_and_does_not_raise(tmp_path, caplog):
    """The close ends what it can."""
    folder = tmp_path / "folder"
    folder.mkdir()
    pipeline = pipeline_on(open_store(folder / "failhook.db"), Good())
    fail(pipeline, "a")
    assert pipeline.flush(20)
    shutil.rmtree(folder)

    assert close_in_time(pipeline, 5.0, wait=10.0) is False
    assert "it cannot be told whether every event went out" in caplog.text


def test_what_waits_for_its_time_did_not_go_out(store, clock):
    """No group before its time and no row before its next try; a dead letter waits no more."""

    class Refusing:
        """Refuses for a while, or for good."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            raise Undelivered("no", retryable=event.task.name == "later", retry_after=60.0)

    grouped = pipeline_on(store, Gathering(clock), clock=clock)
    fail(grouped, "a")
    buried = pipeline_on(store, Refusing(), clock=clock)
    fail(buried, "never")
    refused = pipeline_on(store, Refusing(), clock=clock)
    said = (grouped.close(), buried.close())
    fail(refused, "later")

    assert (False, True) == said
    assert not refused.close()


def test_a_close_from_within_a_plugins_own_call_comes_back(store):
    """It waits neither for itself nor for ever."""
    said = []

    class Closing:
        """Closes its pipeline."""

        @hookimpl
        def on_task_failed(self) -> None:
            said.append(pipeline.close(1.0))

    pipeline = pipeline_on(store, Closing(), Good())
    fail(pipeline, "a")

    assert until(lambda: said == [False])
    assert pipeline.closed


def test_all_who_close_are_told_the_same(store):
    """Twice, and from several threads at once."""
    good = Good()
    pipeline = pipeline_on(store, good)
    fail(pipeline, *"abc")
    said = []
    threads = [threading.Thread(target=lambda: said.append(pipeline.close(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert [True] * 4 == said
    assert pipeline.close()
    assert 3 == len(good.events)


def test_a_close_ends_every_thread(store):
    """Those of async plugins and of notices, too."""

    class Async:
        """Is a coroutine function that breaks."""

        @hookimpl
        async def on_task_failed(self) -> None:
            raise ValueError("broken")

        @hookimpl
        async def on_delivery_failed(self) -> None:
            pass

    pipeline = pipeline_on(store, Async(), Good())
    fail(pipeline, "a")
    assert until(lambda: bool(store.dead_letters()))
    assert our_threads()
    assert pipeline.close(20)

    assert until(lambda: not our_threads(), 60.0)


def test_pipelines_that_are_forgotten_leave_no_thread_behind(tmp_path):
    """Thirty are dropped without a close: each tries what is due, and its threads end."""

    class Async(Good):
        """Has a loop of its own, and a worker."""

        @hookimpl
        async def on_task_failed(self, event: FailureEvent) -> None:
            self.events.append(event)

        @hookimpl
        def classify_failure(self) -> None:
            return None

    plugins = [Async() for _ in range(30)]
    for plugin in plugins:
        fail(pipeline_on(open_store("memory"), plugin), "a")
    gc.collect()

    assert until(lambda: gc.collect() >= 0 and not our_threads())
    assert [1] * 30 == [len(plugin.events) for plugin in plugins]


EXIT = """
import sys, threading
from failhook import Evidence, Manager, Pipeline, Task, hookimpl
from failhook.stores import open_store

class Good:
    @hookimpl
    def on_task_failed(self, task):
        print("heard", task.name, flush=True)

class Hanging:
    @hookimpl
    def on_task_failed(self):
        threading.Event().wait()

manager = Manager()
manager.register(Good(), "good")
if "hang" in sys.argv:
    manager.register(Hanging(), "hanging")
pipeline = Pipeline(open_store(sys.argv[1]), manager=manager)
for name in "abc":
    pipeline.failed(Task("nightly", name), Evidence.returncode(3))
"""


def test_the_end_of_the_interpreter_delivers_what_is_due_and_is_bounded(tmp_path: Path):
    """A hung plugin keeps nobody; what stays goes out with the next process."""
    path = tmp_path / "failhook.db"
    command = [sys.executable, "-W", "error", "-c", EXIT, str(path), "hang"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    good = Good()
    later = pipeline_on(open_store(path))
    later.manager.register(good, "hanging")
    assert later.flush(20)

    assert (0, "") == (ran.returncode, ran.stderr)
    assert {"heard a", "heard b", "heard c"} == set(ran.stdout.splitlines())
    assert 3 == len(good.events)
    assert later.close()


def test_a_call_that_outlasts_the_interpreter_is_not_taken_for_its_death(tmp_path: Path):
    """Its lease is given back: the process ended in good order, whatever the plugin was at."""
    path = tmp_path / "failhook.db"
    command = [sys.executable, "-W", "error", "-c", EXIT, str(path), "hang"]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    store = open_store(path)

    assert ([], 3) == (list(store.holders("hanging")), store.pending(["hanging"]))
    store.close()


def test_a_sidecar_in_waiting_sees_what_another_process_reports(store, clock):
    """Nobody wakes it: it looks for itself."""
    good = Good()
    limits = DeliveryLimits(gather=0.0, poll=0.02)
    listening = pipeline_on(store, good, limits=limits)
    fail(listening, "a")
    assert until(lambda: len(good.events) == 1)
    reporting = pipeline_on(store, good, dispatch="none", limits=QUICK)
    fail(reporting, "b")

    assert until(lambda: len(good.events) == 2)
    assert listening.close()
