from __future__ import annotations

import asyncio
import threading

import pytest

from failhook.evidence import Evidence
from failhook.manager import Status
from failhook.manager.no_answer import StillRunning
from failhook.manager.worker import Worker
from failhook.plugin import hookimpl


class Plugin:
    @hookimpl
    def on_task_failed(self):
        pass

    @hookimpl
    def classify_failure(self):
        pass


class Asynchronous:
    @hookimpl
    async def on_task_failed(self):
        pass


@pytest.fixture
def exhausted(monkeypatch):
    """Let the machine have no thread to give."""

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)


def test_machine_without_threads_is_no_crash(make_manager, event, exhausted):
    """Where no thread can be started, whoever calls goes on, and the plugin's counters tell."""
    manager = make_manager(Plugin, Asynchronous)

    assert manager.ask(event.task, Evidence.returncode(1)) is None
    assert manager.call("Plugin", event).delivered
    outcome = manager.call("Asynchronous", event)
    assert (Status.FAILED, "RuntimeError: can't start new thread") == (
        outcome.status,
        outcome.error,
    )
    outcomes = manager.call_hook("on_task_failed", event=event)
    assert {Status.FAILED} == {outcome.status for outcome in outcomes.values()}


def test_seat_is_free_again_after_anything(exhausted, monkeypatch):
    """A worker whose thread could not start, or whose function raised, takes the next function."""
    worker = Worker("w")
    with pytest.raises(RuntimeError):
        worker.begin(list, 0)
    monkeypatch.undo()

    failing = worker.begin(lambda: "".index("x"), 1)
    with pytest.raises(ValueError, match="substring"):
        worker.wait(failing, 10, limit=10)

    assert 3 == worker.wait(worker.begin(lambda: 3, 1), 10, limit=10)
    worker.stop()


def test_waiting_for_the_seat_is_bounded():
    """Where a function is still at work the next one waits only as long as it may."""
    worker, release = Worker("w"), threading.Event()
    first = worker.begin(release.wait, 0)
    try:
        with pytest.raises(StillRunning):
            worker.begin(list, 0.01)
    finally:
        release.set()

    assert worker.wait(first, 10, limit=10)
    worker.stop()


def test_quarantined_plugin_is_passed_over_by_a_broadcast(make_manager, event, clock):
    """call_hook leaves a plugin in quarantine alone, says so, and reaches the others."""

    class Failing:
        asked = 0

        @hookimpl
        async def on_task_failed(self):
            Failing.asked += 1
            await asyncio.sleep(0)
            raise ValueError("boom")

    manager = make_manager(Failing, Plugin, clock=clock)
    for _ in range(6):
        outcomes = manager.call_hook("on_task_failed", event=event)

    assert 5 == Failing.asked
    assert outcomes["Plugin"].delivered
    assert "passed over: in quarantine, or still in an earlier call" == outcomes["Failing"].error
