from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import warnings

import pytest

from failhook.evidence import Evidence
from failhook.manager import Limits
from failhook.plugin import FailureDetails, Kind, hookimpl

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork there")


class Plugin:
    @hookimpl
    async def on_task_failed(self):
        pass

    @hookimpl
    def classify_failure(self, task, evidence):
        return FailureDetails(kind=Kind.INFRA, reason="Evicted")


def in_a_child(function):
    """Return what `function` answers in a forked child; 255 where it hangs or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 and later: fork beside threads
        pid = os.fork()
    if pid == 0:
        code = 255
        try:
            signal.alarm(60)
            code = function()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_forked_child_calls_with_threads_of_its_own(make_manager, event):
    """After a fork parent and child both go on: no lock and no loop of the parent is waited for."""
    manager = make_manager(Plugin, limits=Limits(call=30, ask=30))

    def both():
        delivered = manager.call("Plugin", event).delivered
        details = manager.ask(event.task, Evidence.returncode(1))
        return int(delivered) + 2 * int(details is not None)

    assert 3 == both()
    for _ in range(20):
        assert 3 == in_a_child(both)
    assert 3 == both()


def test_forked_child_does_not_inherit_a_hang(make_manager, event, clock):
    """A call that runs in the parent while it forks is not the child's: nothing hangs there."""
    entered, release = threading.Event(), threading.Event()

    class Busy:
        @hookimpl
        def on_task_failed(self):
            entered.set()
            release.wait(60)

        def close(self):
            pass

    manager = make_manager(Busy, clock=clock)
    lane = threading.Thread(target=manager.call, args=("Busy", event))
    lane.start()
    try:
        assert entered.wait(60)
        clock.seconds += 31

        assert 0 == in_a_child(lambda: len(manager.overdue()))
        assert 1 == in_a_child(lambda: int(manager.close(30)))
    finally:
        release.set()
        lane.join(60)


def test_the_loop_of_an_async_plugin_outlives_forks(make_manager, event):
    """What a plugin opened on its loop serves on; a child has its own and leaves that one alone."""
    loops, ticks = [], []

    class Async:
        @hookimpl
        async def on_task_failed(self):
            loops.append(asyncio.get_running_loop())
            if len(loops) == 1:
                self.background = asyncio.create_task(self.tick())

        async def tick(self):
            while True:
                ticks.append(1)
                await asyncio.sleep(0.01)

    def child():
        manager.call("Async", event)
        gc.collect()
        return len({id(loop) for loop in loops})

    manager = make_manager(Async)
    manager.call("Async", event)
    seen = [in_a_child(child) for _ in range(3)]
    manager.call("Async", event)
    before = len(ticks)
    for _ in range(500):
        if len(ticks) > before:
            break
        threading.Event().wait(0.01)

    assert [2, 2, 2] == seen
    assert loops[0] is loops[1]
    assert len(ticks) > before


def test_idle_threads_are_gone_when_the_process_forks(make_manager, event):
    """Those of workers and loops; they come back with the next call."""

    def alive():
        return sum(each.name.startswith("failhook-Plugin-") for each in threading.enumerate())

    at_fork = []
    os.register_at_fork(before=lambda: at_fork.append(alive()))
    manager = make_manager(Plugin, limits=Limits(call=30, ask=30))
    manager.call("Plugin", event)
    manager.ask(event.task, Evidence.returncode(1))
    before = alive()

    assert 2 <= before
    assert 0 == in_a_child(lambda: 0)
    assert 0 == at_fork[-1]
    assert manager.call("Plugin", event).delivered
