"""A process may fork at any moment: each side delivers its own, once, and no thread is copied."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.plugin import FailureEvent, Task, Undelivered, hookimpl
from failhook.stores import open_store
from tests.outbox.world import QUICK, Good, fail, pipeline_on, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork there")

FORKS = 30
"""How often the process forks; the promise is tested with 500 when there is time."""


class Written:
    """Writes what it hears into a file, from whatever process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @hookimpl
    async def on_task_failed(self, event: FailureEvent) -> None:
        with self.path.open("a") as file:
            file.write(f"{event.task.name}\n")

    @hookimpl
    def classify_failure(self) -> None:
        return None


def ours() -> list[str]:
    """Return the threads of failhook in this process."""
    return [each.name for each in threading.enumerate() if each.name.startswith("failhook-")]


def forked(function) -> int:
    """Run a function in a child that has a minute; return the child's process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 255
    try:
        signal.alarm(60)
        function()
        code = 0
    finally:
        os._exit(code)


def test_both_sides_of_a_fork_deliver_theirs(store, tmp_path):
    """Events before and after, again and again: no deadlock, no loss, no duplicate, no warning."""
    heard, codes = tmp_path / "heard", []
    pipeline = pipeline_on(store, Written(heard))

    def child(number):
        fail(pipeline, f"child-{number}")
        assert pipeline.flush(30)
        pipeline.close(30)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(FORKS):
            fail(pipeline, f"before-{number}")
            pid = os.fork() if number % 2 else forked(lambda: child(number))  # noqa: B023 - at once
            if not pid:
                os._exit(0)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            fail(pipeline, f"after-{number}")
    assert pipeline.flush(30)
    assert pipeline.close(30)

    expected = [f"{when}-{number}" for number in range(FORKS) for when in ("before", "after")]
    expected += [f"child-{number}" for number in range(0, FORKS, 2)]
    assert sorted(expected) == sorted(heard.read_text().split())
    assert [0] * FORKS == codes


def test_no_thread_of_ours_is_there_when_the_kernel_copies(store, tmp_path):
    """What Python 3.12 and later warn of, counted as they do, in the kernel."""
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("no /proc here")
    counted = []
    os.register_at_fork(before=lambda: counted.append(len(list(tasks.iterdir()))))
    pipeline = pipeline_on(store, Written(tmp_path / "heard"))  # is told of forks before that one
    others = len(list(tasks.iterdir()))
    fail(pipeline, "a")
    assert pipeline.flush(20)
    os.register_at_fork(before=counted.clear)  # runs first of all
    began = ours()
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)

    assert began
    assert [others] == counted
    assert pipeline.close()


def test_what_waits_for_its_next_try_goes_out_after_a_fork(store):
    """The parent's threads come back; from Python 3.12 to 3.13 with its next call."""

    class Once(Good):
        """Refuses the first time."""

        refused = False

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            if not self.refused:
                self.refused = True
                raise Undelivered("429", retry_after=0.2)
            self.events.append(event)

    plugin = Once()
    pipeline = pipeline_on(store, plugin)
    fail(pipeline, "a")
    assert pipeline.flush(20)
    os.waitpid(forked(lambda: None), 0)
    if sys.version_info[:2] in ((3, 12), (3, 13)):
        pipeline.succeeded(Task("nightly", "other"))

    assert until(lambda: len(plugin.events) == 1)
    assert pipeline.close()


def test_a_fork_does_not_wait_for_a_plugin_that_hangs(store):
    """Its thread stays the parent's, the child delivers its own, and nothing is heard twice."""
    entered, over = threading.Event(), threading.Event()

    class Busy(Good):
        """Hangs on the first event."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            entered.set()
            if event.task.name == "a":
                over.wait(60)
            self.events.append(event)

    plugin, good = Busy(), Good()
    pipeline = pipeline_on(store, plugin, good)
    fail(pipeline, "a")
    try:
        assert entered.wait(20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # rightly: the plugin's own call

            def child() -> None:
                fail(pipeline, "b")
                assert until(lambda: "b" in {event.task.name for event in plugin.events})
                pipeline.close(1)
                assert ["b"] == [event.task.name for event in plugin.events]

            pid = forked(child)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        over.set()
    assert pipeline.close(20)
    assert ["a"] == [event.task.name for event in plugin.events]


def test_a_pipeline_that_was_closed_before_the_fork_is_closed_in_the_child(store):
    """And says what it said in the parent."""
    pipeline = pipeline_on(store, Good())
    fail(pipeline, "a")
    assert pipeline.close()

    def child() -> None:
        assert pipeline.close()

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(forked(child), 0)[1])


def report(path: str, heard: str, name: str) -> None:
    """Report in a process of multiprocessing; it builds what it does not inherit."""
    manager = Manager()
    manager.register(Written(Path(heard)), "written")
    with Pipeline(open_store(path), manager=manager, delivery=QUICK) as pipeline:
        pipeline.failed(Task("nightly", name, run_id="r"), Evidence.returncode(3))
        assert pipeline.flush(30)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_multiprocessing_deliver_their_own(tmp_path, method):
    """On one store, beside the parent's pipeline: each event once."""
    path, heard = tmp_path / "failhook.db", tmp_path / "heard"
    pipeline = pipeline_on(open_store(path), Written(heard))
    fail(pipeline, "parent")
    assert pipeline.flush(30)
    context = multiprocessing.get_context(method)
    workers = [
        context.Process(target=report, args=(str(path), str(heard), f"worker-{number}"))
        for number in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert pipeline.flush(30)
    assert pipeline.close(30)

    assert [0, 0, 0] == [worker.exitcode for worker in workers]
    assert ["parent", "worker-0", "worker-1", "worker-2"] == sorted(heard.read_text().split())


CHILDREN = """
import multiprocessing, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
from failhook import Evidence, Manager, Pipeline, Task, hookimpl
from failhook.stores import open_store

class Slow:
    @hookimpl
    def on_task_failed(self, task):
        time.sleep(0.05)
        with open(sys.argv[2], "a") as file:
            file.write(task.name + chr(10))

def begin():
    global pipeline
    manager = Manager()
    manager.register(Slow(), "slow")
    pipeline = Pipeline(open_store(sys.argv[1]), manager=manager)

def work(name):
    pipeline.failed(Task("nightly", name), Evidence.returncode(3))

if __name__ == "__main__":
    begin()
    context = multiprocessing.get_context(sys.argv[3])
    if sys.argv[3] == "fork":
        child = context.Process(target=work, args=("process",))
        child.start()
        child.join()
        assert child.exitcode == 0
    with context.Pool(2, begin) as pool:
        pool.map(work, ["pool-1", "pool-2"], chunksize=1)
        pool.close()
        pool.join()
    with ProcessPoolExecutor(2, context, begin) as pool:
        list(pool.map(work, ["executor-1", "executor-2"]))
    assert pipeline.close(30)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("where", ["memory", "sqlite"])
def test_children_of_multiprocessing_flush_when_they_come_to_their_end(tmp_path, where, method):
    """Nothing that they reported is lost with them, nor told twice, and no lease stays."""
    path, heard = tmp_path / "failhook.db", tmp_path / "heard"
    store = str(path) if where == "sqlite" else "memory"
    script = tmp_path / "children.py"
    script.write_text(CHILDREN)
    command = [sys.executable, "-W", "error", str(script), store, str(heard), method]
    subprocess.run(command, check=True, timeout=60)

    names = ["executor-1", "executor-2", "pool-1", "pool-2", *["process"] * (method == "fork")]
    assert names == sorted(heard.read_text().split())
    if where == "sqlite":
        with closing(open_store(path)) as left:
            assert (0, []) == (left.pending(), list(left.holders("slow")))
