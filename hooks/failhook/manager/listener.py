"""One registered plugin: called alone, within limits, whatever it does."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from types import CoroutineType
from typing import Any

from failhook.clock import Clock
from failhook.details import FailureDetails
from failhook.errors import Undelivered
from failhook.log import say
from failhook.manager.checks import Implementation
from failhook.manager.health import Health
from failhook.manager.limits import Limits
from failhook.manager.loop import LoopThread
from failhook.manager.no_answer import OutOfTime, StillRunning
from failhook.manager.outcome import (
    DELIVERED,
    Call,
    Outcome,
    Status,
    error_line,
    failed,
    undelivered,
)
from failhook.manager.verdicts import sound_verdict
from failhook.manager.worker import Worker


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave: a value, or what was raised; and in how many seconds, where it is known."""

    value: object = None
    error: BaseException | None = None
    seconds: float | None = None


@dataclass(slots=True)
class _Delivery:
    hook: str
    since: float
    pid: int
    overdue: bool = False


def _ignore(_value: object) -> None:
    """Leave what a plugin returned to itself: most hooks have nothing to answer."""


def _nobody(_call: Call) -> None:
    """Count nothing."""


class Listener:
    """A plugin with its implementations, its threads and its health.

    Args:
        name: the plugin's name.
        plugin: the plugin itself.
        implementations: what it implements, by hook.
        close: its ``close``; None where it has none.
        parts: the part that each hook is watched as.
        clock: the time.
        limits: how long it may take.
        redact: takes secrets out of what is logged or stored of its errors.
    """

    def __init__(
        self,
        name: str,
        plugin: object,
        implementations: Mapping[str, Implementation],
        close: Implementation | None,
        *,
        parts: Mapping[str, str],
        clock: Clock,
        limits: Limits,
        redact: Callable[[str], str],
    ) -> None:
        self.name = name
        self.plugin = plugin
        self.implementations = implementations
        self._parts = {hook: parts[hook] for hook in implementations}
        self.health = {
            part: Health(name, part, clock, limits, redact)
            for part in dict.fromkeys(self._parts.values())
        }
        self._close = close
        self._clock = clock
        self._limits = limits
        self._redact = redact
        self.on_call: Callable[[Call], None] = _nobody
        self._delivery: _Delivery | None = None
        self._threads = self._new_threads()

    def deliver(
        self,
        hook: str,
        given: Mapping[str, Any],
        read: Callable[[object], object] = _ignore,
        *,
        punctual: bool = False,
    ) -> Outcome:
        """Call one implementation in this thread and say what became of it; it never raises.

        Args:
            hook: what to call.
            given: with what.
            read: turns what it returns into an outcome, where there is anything to read.
            punctual: whether an answer that comes after the time limit is worth nothing.
        """
        delivery = self._delivery = _Delivery(hook, self._clock.monotonic(), os.getpid())
        answer = self._attempt(self.implementations[hook], given, self._limits.call, read)
        self._delivery = None
        late = self._clock.monotonic() - delivery.since > self._limits.call
        if late and punctual and answer.error is None:
            answer = Answer(error=OutOfTime(self._limits.call), seconds=answer.seconds)
        outcome = self._judge(hook, answer, late=late, counted=delivery.overdue)
        if outcome.delivered and isinstance(answer.value, Outcome):
            return answer.value
        return outcome

    def overdue(self) -> bool:
        """Return whether a delivery runs past its limit; the first time, count it as a failure."""
        delivery = self._delivery
        if delivery is None or delivery.pid != os.getpid():
            return False
        if self._clock.monotonic() - delivery.since <= self._limits.call:
            return False
        if not delivery.overdue:
            delivery.overdue = True
            self._failed(delivery.hook, OutOfTime(self._limits.call), late=True)
        return True

    def begin(
        self,
        hook: str,
        given: Mapping[str, Any],
        deadline: float,
        read: Callable[[object], object] = _ignore,
    ) -> Future[Answer] | None:
        """Start a call in the plugin's own thread; None where it is passed over just now.

        Args:
            hook: what to call.
            given: with what.
            deadline: on the monotonic clock; it is worth nothing later.
            read: what becomes of what it returns, in that thread too.
        """
        health = self.health[self._parts[hook]]
        if health.wait() > 0:
            return None
        implementation = self.implementations[hook]
        try:
            return self._begin(implementation, given, deadline, read)
        except StillRunning:
            return None
        except RuntimeError as error:
            self._failed(hook, error)
            return None

    def finish(self, hook: str, future: Future[Answer] | None, deadline: float) -> Outcome:
        """Wait for what `begin` started and say what became of it."""
        if future is None:
            return failed("passed over: in quarantine, or still in an earlier call")
        return self._judge(hook, self._answer(future, deadline, self._limits.call))

    def ask(self, hook: str, given: Mapping[str, Any]) -> FailureDetails | None:
        """Return an implementation's verdict, None where it has none or none in time."""
        deadline = self._clock.monotonic() + self._limits.ask
        future = self.begin(hook, given, deadline, self._verdict)
        if future is None:
            return None
        answer = self._answer(future, deadline, self._limits.ask)
        self._judge(hook, answer)
        return answer.value if isinstance(answer.value, FailureDetails) else None

    def begin_close(self, deadline: float) -> Future[Answer] | None:
        """Start the plugin's ``close(timeout)`` in its own thread; None where it has none."""
        if self._close is None:
            return None
        try:
            if self._delivery is None or self._delivery.pid != os.getpid():
                return self._begin(self._close, {"timeout": self._left(deadline)}, deadline)
            refusal: Exception = StillRunning()
        except (StillRunning, RuntimeError) as error:
            refusal = error
        refused: Future[Answer] = Future()
        refused.set_result(Answer(error=refusal))
        return refused

    def finish_close(self, future: Future[Answer] | None, deadline: float) -> bool:
        """Wait for ``close`` and return whether it ended well; what it raises is logged."""
        if future is None:
            return True
        error = self._answer(future, deadline, self._left(deadline)).error
        if error is not None:
            line = error_line(error, self._redact)
            say(logging.WARNING, "plugin %r: close failed: %s", self.name, line)
        return error is None

    def stop(self, deadline: float) -> None:
        """Let its threads end; wait for its loop until the deadline."""
        self._worker.stop()
        self._loop.stop(self._left(deadline))

    def before_fork(self, deadline: float) -> None:
        """End its threads, as far as they are idle; the next call begins them anew."""
        self._worker.rest(self._left(deadline))
        self._loop.rest(self._left(deadline))

    def after_fork_in_parent(self) -> None:
        """Let its background tasks go on."""
        self._loop.go_on()

    def after_fork_in_child(self) -> None:
        """Leave what is the parent's alone."""
        _, _, loop = self._threads
        loop.abandon()
        self._threads = self._new_threads()

    def _verdict(self, value: object) -> FailureDetails | None:
        return None if value is None else sound_verdict(value, rule=f"plugin:{self.name}")

    def _left(self, deadline: float) -> float:
        return max(0.0, deadline - self._clock.monotonic())

    def _begin(
        self,
        implementation: Implementation,
        given: Mapping[str, Any],
        deadline: float,
        read: Callable[[object], object] = _ignore,
    ) -> Future[Answer]:
        return self._worker.begin(
            lambda: self._attempt(implementation, given, self._left(deadline), read),
            patience=self._left(deadline),
        )

    def _answer(self, future: Future[Answer], deadline: float, limit: float) -> Answer:
        try:
            return self._worker.wait(future, self._left(deadline), limit=limit)
        except OutOfTime as late:
            return Answer(error=late)

    def _attempt(
        self,
        implementation: Implementation,
        given: Mapping[str, Any],
        limit: float,
        read: Callable[[object], object] = _ignore,
    ) -> Answer:
        begun = self._clock.monotonic()
        try:
            positional, keywords = implementation.arguments.bind(given)
            value: Any = implementation.function(*positional, **keywords)
            if issubclass(type(value), CoroutineType):
                value = self._loop.run(value, limit)
            return Answer(read(value), seconds=self._clock.monotonic() - begun)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything at all
            return Answer(error=error, seconds=self._clock.monotonic() - begun)

    def _judge(
        self, hook: str, answer: Answer, *, late: bool = False, counted: bool = False
    ) -> Outcome:
        """Count how a call ended; `counted` says that it was counted as failed while it ran."""
        health, error = self.health[self._parts[hook]], answer.error
        if error is None:
            if late and not counted:
                self._failed(hook, OutOfTime(self._limits.call), late=True)
            health.succeeded(late=late or counted)
            self._tell(hook, Status.DELIVERED, answer.seconds, slow=False)
            return DELIVERED
        try:
            if isinstance(error, Undelivered):
                outcome = undelivered(error, error_line(error, self._redact))
                health.undelivered()
                self._tell(hook, outcome.status, answer.seconds, slow=late, error=outcome.error)
                return outcome
        except BaseException as broken:  # noqa: BLE001 - an exception may lie, or raise when read
            error = broken
        if counted:
            return failed(error_line(error, self._redact))
        return self._failed(hook, error, late=late, seconds=answer.seconds)

    def _failed(
        self, hook: str, error: BaseException, *, late: bool = False, seconds: float | None = None
    ) -> Outcome:
        outcome = failed(error_line(error, self._redact))
        self.health[self._parts[hook]].failed(hook, error, late=late)
        slow = late or isinstance(error, OutOfTime)
        self._tell(hook, outcome.status, seconds, slow=slow, error=outcome.error)
        return outcome

    def _tell(
        self, hook: str, status: Status, seconds: float | None, *, slow: bool, error: str = ""
    ) -> None:
        now = self._clock.now()
        self.on_call(Call(self.name, hook, status, now, seconds, slow=slow, error=error))

    @property
    def _worker(self) -> Worker:
        return self._own_threads()[1]

    @property
    def _loop(self) -> LoopThread:
        return self._own_threads()[2]

    def _own_threads(self) -> tuple[int, Worker, LoopThread]:
        """Return the plugin's threads; a forked child makes its own."""
        if self._threads[0] != os.getpid():
            self._threads = self._new_threads()
        return self._threads

    def _new_threads(self) -> tuple[int, Worker, LoopThread]:
        name = f"failhook-{self.name}"
        return os.getpid(), Worker(f"{name}-calls"), LoopThread(f"{name}-loop")
