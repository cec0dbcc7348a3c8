from __future__ import annotations

import asyncio
import threading
import time

import pytest

from failhook.details import FailureDetails, Kind
from failhook.evidence import Evidence
from failhook.manager import Limits, Status
from failhook.plugin import hookimpl

SHORT = Limits(call=0.05, ask=5.0)


class Plugin:
    """Hears failures on a loop."""

    def __init__(self):
        self.heard = []

    @hookimpl
    async def on_task_failed(self, task, *, failure_details=None):
        await asyncio.sleep(0)
        self.heard.append((task.name, failure_details.reason, asyncio.get_running_loop()))


def test_async_implementation_runs_on_one_loop_of_ours(make_manager, event):
    """An async def is awaited; all calls of a plugin run on the same loop, from whatever thread."""
    plugin = Plugin()
    manager = make_manager(plugin)

    manager.call("Plugin", event)
    lane = threading.Thread(target=manager.call, args=("Plugin", event))
    lane.start()
    lane.join()
    manager.call_hook("on_task_failed", event=event)

    assert [("load", "Evicted")] * 3 == [heard[:2] for heard in plugin.heard]
    assert 1 == len({heard[2] for heard in plugin.heard})


def test_async_implementation_runs_while_the_host_has_a_loop(make_manager, event):
    """A host that runs a loop of its own in the calling thread is no obstacle."""
    plugin = Plugin()
    manager = make_manager(plugin)

    async def host():
        assert manager.call("Plugin", event).delivered
        return asyncio.get_running_loop()

    hosts_loop = asyncio.run(host())

    ((_, _, loop),) = plugin.heard
    assert hosts_loop is not loop


def test_async_implementation_is_cancelled_at_its_limit(make_manager, event):
    """At the limit the coroutine is cancelled and can clean up; the next event is delivered."""
    cleaned = threading.Event()

    class Slow:
        slow = True

        @hookimpl
        async def on_task_failed(self):
            try:
                await asyncio.sleep(60 if Slow.slow else 0)
            finally:
                cleaned.set()

    manager = make_manager(Slow, limits=SHORT)

    outcome = manager.call("Slow", event)

    assert Status.FAILED is outcome.status
    assert "it ran for longer than 0.05 s" == outcome.error
    assert cleaned.wait(60)
    (health,) = manager.health()
    assert (1, 1) == (health.failed, health.slow)
    Slow.slow = False
    while not manager.call("Slow", event).delivered:
        time.sleep(0.01)


def test_coroutine_that_ignores_its_cancellation_is_passed_over(make_manager, event):
    """One that blocks the loop holds the plugin's one thread; no call is begun meanwhile."""
    release = threading.Event()
    begun = []

    class Blocking:
        @hookimpl
        async def on_task_failed(self):
            begun.append(1)
            release.wait(60)

    manager = make_manager(Blocking, limits=SHORT)
    try:
        first = manager.call("Blocking", event)
        threads = threading.active_count()
        more = [manager.call("Blocking", event) for _ in range(20)]
        assert threads == threading.active_count()
    finally:
        release.set()

    assert "it ran for longer than 0.05 s" == first.error
    assert {"it is still in an earlier call"} == {outcome.error for outcome in more}
    assert [1] == begun
    while not manager.call("Blocking", event).delivered:
        time.sleep(0.01)


def test_own_timeout_error_is_the_plugins(make_manager, event):
    """A TimeoutError that the plugin raises itself is told as such."""

    class Client:
        @hookimpl
        async def on_task_failed(self):
            raise TimeoutError("connect")

    assert "TimeoutError: connect" == make_manager(Client).call("Client", event).error


def test_background_task_that_exits_does_not_end_the_loop(make_manager, event, caplog):
    """SystemExit in a task that the plugin left running ends neither the loop nor the process."""

    class Careless(Plugin):
        left_behind = []  # noqa: RUF012 - a plugin is a stranger's code

        @hookimpl
        async def on_task_failed(self, task, *, failure_details=None):
            async def exit_later():
                raise SystemExit(4)

            self.left_behind.append(asyncio.create_task(exit_later()))
            await asyncio.sleep(0.01)
            await super().on_task_failed(task, failure_details=failure_details)

    plugin = Careless()
    manager = make_manager(plugin)

    assert manager.call("Careless", event).delivered
    assert manager.call("Careless", event).delivered
    assert 2 == len(plugin.heard)
    assert ["4", "4"] == [str(task.exception()) for task in plugin.left_behind]
    assert "a background task of a plugin tried to end its loop" in caplog.text


def test_async_classifier_answers_in_line(make_manager, event):
    """classify_failure may be async as well."""

    class Classifier:
        @hookimpl
        async def classify_failure(self, task, evidence):
            await asyncio.sleep(0)
            return FailureDetails(kind=Kind.INFRA, reason=f"From{evidence.system}")

    details = make_manager(Classifier, limits=SHORT).ask(event.task, Evidence.returncode(3))

    assert (Kind.INFRA, "Fromprocess") == (details.kind, details.reason)


def test_async_close_runs_on_the_plugins_loop(make_manager, event):
    """An async close() is awaited on the loop that the hooks ran on, then the loop ends."""

    class Session(Plugin):
        async def close(self, timeout):  # noqa: ASYNC109 - the name that plugins are promised
            self.heard.append(("close", timeout > 0, asyncio.get_running_loop()))

    plugin = Session()
    manager = make_manager(plugin)
    manager.call("Session", event)

    assert manager.close(10)

    (_, _, loop), (name, bounded, closing_loop) = plugin.heard
    assert ("close", True) == (name, bounded)
    assert loop is closing_loop
    assert loop.is_closed()


def test_close_cancels_what_a_plugin_left_running(make_manager, event, caplog):
    """Background tasks are cancelled when the loop ends, also one that tries to exit then."""
    cancelled = []

    class Careless:
        @hookimpl
        async def on_task_failed(self):
            self.tasks = [asyncio.create_task(self.run(error)) for error in (None, SystemExit(4))]
            await asyncio.sleep(0)

        async def run(self, error):
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.append(1)
                if error is not None:
                    raise error

    plugin = Careless()
    manager = make_manager(plugin)
    manager.call("Careless", event)

    assert manager.close(10)

    assert [1, 1] == cancelled
    assert [None, "4"] == [
        None if task.cancelled() else str(task.exception()) for task in plugin.tasks
    ]
    assert "tried to end its loop" in caplog.text


@pytest.mark.parametrize("again", [False, True])
def test_close_ends_every_thread(make_manager, event, again):
    """After close no thread of the manager is left, and a late event starts what it needs anew."""
    before = set(threading.enumerate())
    plugin = Plugin()
    manager = make_manager(plugin)
    manager.call("Plugin", event)
    manager.call_hook("on_task_failed", event=event)

    assert manager.close(10)
    if again:
        assert manager.call("Plugin", event).delivered
        assert manager.close(10)

    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert before == set(threading.enumerate())
