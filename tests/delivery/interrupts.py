"""A process whose main thread is interrupted in the middle of its calls, again and again."""

from __future__ import annotations

import random
import signal
import threading
from datetime import datetime
from multiprocessing.connection import Connection

from failhook.clock import SystemClock
from failhook.errors import StoreError
from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.plugin import FailureEvent, Task, hookimpl
from failhook.policy import Policy
from failhook.stores import open_store

BUG = Evidence.returncode(3)

_ENDLESS = Policies(Policy(retries=1_000_000))
_STUCK = 20.0
"""Seconds after which a report of another thread or process counts as stuck."""


class Interrupted(KeyboardInterrupt):
    """What a signal's handler raises, be it for Ctrl-C or for a soft time limit."""


class Alarm:
    """Raises `Interrupted` in the main thread once, within some time of `set`."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._chance = random.Random(7)
        self.armed = False
        signal.signal(signal.SIGALRM, self._ring)

    def set(self) -> None:
        self.armed = True
        signal.setitimer(signal.ITIMER_REAL, self._chance.uniform(2e-5, self._longest), 0.02)

    def stop(self) -> None:
        self.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, *_: object) -> None:
        if self.armed:
            self.armed = False
            raise Interrupted


class Signalling(SystemClock):
    """A clock that sends this process a signal when the main thread reads it for the nth time."""

    def __init__(self) -> None:
        self.left = 0

    def now(self) -> datetime:
        self._count()
        return super().now()

    def monotonic(self) -> float:
        self._count()
        return super().monotonic()

    def _count(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.left -= 1
            if not self.left:
                signal.raise_signal(signal.SIGALRM)


class Judging:
    """A plugin that is asked in line, and has no opinion."""

    @hookimpl
    def classify_failure(self, task: Task) -> None:
        del task


class Heard:
    """A plugin that remembers which attempts of a task it heard of."""

    def __init__(self) -> None:
        self.attempts: list[int] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        if event.task.name == "interrupted":
            self.attempts.append(event.task.attempt)


def neighbour(where: str, line: Connection) -> None:
    """Report an attempt from another process for each number that comes in."""
    pipeline = Pipeline(open_store(where), policies=_ENDLESS, dispatch="none")
    while number := line.recv():
        pipeline.failed(Task("w", "neighbour", run_id="r", attempt=number), BUG)
        line.send(number)


def interrupt(where: str, count: int, longest: float, line: Connection | None) -> None:
    """Report attempts of one task while an alarm rings `count` times at random moments.

    After each, this thread reports the same attempt again, and another thread and another process
    report one of theirs. In the end each attempt has counted once and was heard of once.
    """
    manager, alarm, heard = Manager(), Alarm(longest), Heard()
    manager.register(heard, "heard")
    pipeline = Pipeline(open_store(where), manager=manager, policies=_ENDLESS)
    attempt = 1
    for number in range(1, count + 1):
        try:
            alarm.set()
            while alarm.armed:  # Python itself swallows what is raised in a `__del__`
                pipeline.failed(_task("interrupted", attempt), BUG)
                attempt += 1
        except Interrupted:
            pipeline.failed(_task("interrupted", attempt), BUG)  # while the other one is handled
        alarm.stop()
        pipeline.failed(_task("interrupted", attempt), BUG)
        _beside(pipeline, number)
        if line is not None:
            line.send(number)
            assert line.poll(_STUCK), "another process is held out"
            assert number == line.recv()
    with pipeline.store.transaction() as ledger:
        account = ledger.account(_task("interrupted", attempt).key)
        beside = ledger.account(_task("beside", 1).key)
    assert account is not None
    assert beside is not None
    assert (attempt, count) == (account.user, beside.user)
    assert pipeline.close(_STUCK)
    assert list(range(1, attempt + 1)) == heard.attempts


def report_from_handlers(where: str) -> None:
    """Let a signal's handler report an attempt of the same task, at every reading of the clock.

    It is counted, or refused where the main thread is in a transaction just then.
    """
    clock, heard = Signalling(), Heard()
    manager = Manager(clock=clock)
    manager.register(Judging, "judging")
    manager.register(heard, "heard")
    pipeline = Pipeline(open_store(where), manager=manager, policies=_ENDLESS, clock=clock)
    counted: list[int] = []
    refused: list[str] = []

    def handle(*_: object) -> None:
        try:
            pipeline.failed(_task("interrupted", 2 * reading), BUG)
            counted.append(2 * reading)
        except StoreError as error:
            refused.append(str(error))

    signal.signal(signal.SIGALRM, handle)
    for reading in range(1, 100):
        clock.left = reading
        pipeline.failed(_task("interrupted", 2 * reading - 1), BUG)
        counted.append(2 * reading - 1)
        if clock.left > 0:
            break
    with pipeline.store.transaction() as ledger:
        account = ledger.account(_task("interrupted", 1).key)
    assert account is not None
    assert len(counted) == account.user
    assert 2 * reading - 2 == len(counted) + len(refused) - 1
    assert refused
    assert all("this thread is in a transaction already" in each for each in refused)
    assert any(not number % 2 for number in counted)
    assert pipeline.close(_STUCK)
    assert sorted(counted) == sorted(heard.attempts)


def _task(name: str, attempt: int) -> Task:
    return Task("w", name, run_id="r", attempt=attempt)


def _beside(pipeline: Pipeline, number: int) -> None:
    """Report an attempt from another thread."""
    decided: list[object] = []

    def report() -> None:
        decided.append(pipeline.failed(_task("beside", number), BUG))

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    thread.join(_STUCK)
    assert decided, "another thread is held out"
