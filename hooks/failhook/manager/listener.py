"""One registered plugin: called alone, within limits, whatever it does."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Final

from failhook.clock import Clock
from failhook.details import FailureDetails
from failhook.errors import Undelivered
from failhook.manager.arguments import Arguments
from failhook.manager.checks import Implementation
from failhook.manager.health import Health
from failhook.manager.hooks import EVENTS
from failhook.manager.limits import Limits
from failhook.manager.outcome import DELIVERED, Outcome, error_line, failed, undelivered
from failhook.manager.threads import LoopThread, OutOfTime, StillRunning, Worker
from failhook.manager.verdicts import NotAVerdict, sound_verdict

logger: Final = logging.getLogger("failhook")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave: a value, or what was raised."""

    value: object = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Delivery:
    hook: str
    since: float
    overdue: bool = False


def _ignore(_value: object) -> None:
    """Leave what a plugin returned to itself: only `classify_failure` has anything to answer."""


class Listener:
    """A plugin with its implementations, its threads and its health.

    Args:
        name: the plugin's name.
        plugin: the plugin itself.
        implementations: what it implements, by hook.
        close: its ``close``, with the arguments that it names; None where it has none.
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
        close: tuple[Callable[..., object], Arguments] | None,
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
        self._delivery: _Delivery | None = None
        self._threads: tuple[int, Worker, LoopThread] | None = None

    def deliver(self, hook: str, given: Mapping[str, Any]) -> Outcome:
        """Call one implementation in this thread and say what became of it; it never raises."""
        delivery = self._delivery = _Delivery(hook, self._clock.monotonic())
        answer = self._attempt(hook, given, self._limits.call)
        self._delivery = None
        late = self._clock.monotonic() - delivery.since > self._limits.call
        return self._judge(hook, answer, late=late, counted=delivery.overdue)

    def overdue(self) -> bool:
        """Return whether a delivery runs past its limit; the first time, count it as a failure."""
        delivery = self._delivery
        if delivery is None or self._clock.monotonic() - delivery.since <= self._limits.call:
            return False
        if not delivery.overdue:
            delivery.overdue = True
            line = str(OutOfTime(self._limits.call))
            self.health[EVENTS].failed(delivery.hook, line, slow=True)
        return True

    def begin(
        self,
        hook: str,
        given: Mapping[str, Any],
        limit: float,
        read: Callable[[object], object] = _ignore,
    ) -> Future[Answer] | None:
        """Start a call in the plugin's own thread; None where it is passed over just now.

        What it returns goes through `read`, in that thread too.
        """
        health = self.health[self._parts[hook]]
        if health.wait() > 0:
            return None
        try:
            return self._worker.begin(lambda: self._attempt(hook, given, limit, read))
        except StillRunning:
            return None
        except RuntimeError as error:
            health.failed(hook, error_line(error), error)
            return None

    def finish(self, hook: str, future: Future[Answer] | None, timeout: float) -> Outcome:
        """Wait for what `begin` started and say what became of it."""
        if future is None:
            return failed("passed over: in quarantine, or still in an earlier call")
        return self._judge(hook, _result(future, timeout))

    def ask(self, hook: str, given: Mapping[str, Any]) -> FailureDetails | None:
        """Return an implementation's verdict, None where it has none or none in time."""
        limit = self._limits.ask

        def read(value: object) -> FailureDetails | None:
            return None if value is None else sound_verdict(value, rule=f"plugin:{self.name}")

        future = self.begin(hook, given, limit, read)
        if future is None:
            return None
        answer = _result(future, limit)
        self._judge(hook, answer)
        return answer.value if isinstance(answer.value, FailureDetails) else None

    def begin_close(self, timeout: float) -> Future[Answer] | None:
        """Start the plugin's ``close(timeout)`` in its own thread; None where it has none."""
        if self._close is None:
            return None
        function, arguments = self._close
        given = {"timeout": timeout}
        try:
            if self._delivery is None:
                return self._worker.begin(lambda: self._call(function, arguments, given, timeout))
            refusal: Exception = StillRunning()
        except (StillRunning, RuntimeError) as error:
            refusal = error
        refused: Future[Answer] = Future()
        refused.set_result(Answer(error=refusal))
        return refused

    def finish_close(self, future: Future[Answer] | None, timeout: float) -> bool:
        """Wait for ``close`` and return whether it ended well; what it raises is logged."""
        if future is None:
            return True
        error = _result(future, timeout).error
        if error is not None:
            logger.warning(
                "plugin %r: close failed: %s", self.name, self._redact(error_line(error))
            )
        return error is None

    def stop(self, timeout: float) -> None:
        """Let its threads end."""
        if self._threads is not None and self._threads[0] == os.getpid():
            _, worker, loop = self._threads
            worker.stop()
            loop.stop(timeout)

    def _attempt(
        self,
        hook: str,
        given: Mapping[str, Any],
        limit: float,
        read: Callable[[object], object] = _ignore,
    ) -> Answer:
        implementation = self.implementations[hook]
        return self._call(implementation.function, implementation.arguments, given, limit, read)

    def _call(
        self,
        function: Callable[..., object],
        arguments: Arguments,
        given: Mapping[str, Any],
        limit: float,
        read: Callable[[object], object] = _ignore,
    ) -> Answer:
        try:
            positional, keywords = arguments.bind(given)
            value: Any = function(*positional, **keywords)
            if issubclass(type(value), CoroutineType):
                value = self._loop.run(value, limit)
            return Answer(read(value))
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything at all
            return Answer(error=error)

    def _judge(
        self, hook: str, answer: Answer, *, late: bool = False, counted: bool = False
    ) -> Outcome:
        """Count how a call ended; `counted` says that it was counted as failed while it ran."""
        health = self.health[self._parts[hook]]
        error = answer.error
        if error is None:
            if late and not counted:
                health.failed(hook, str(OutOfTime(self._limits.call)), slow=True)
            health.succeeded(late=late or counted)
            return DELIVERED
        try:
            if isinstance(error, Undelivered):
                outcome = undelivered(error, self._redact(error_line(error)))
                health.undelivered()
                return outcome
        except BaseException as broken:  # noqa: BLE001 - an exception may lie, or raise when read
            error = broken
        ours = type(error) in (OutOfTime, StillRunning, NotAVerdict)
        line = self._redact(str(error) if ours else error_line(error))
        if not counted:
            slow = late or type(error) is OutOfTime
            health.failed(hook, line, None if ours else error, slow=slow)
        return failed(line)

    @property
    def _worker(self) -> Worker:
        return self._own_threads()[1]

    @property
    def _loop(self) -> LoopThread:
        return self._own_threads()[2]

    def _own_threads(self) -> tuple[int, Worker, LoopThread]:
        """Return the plugin's threads; a forked child makes its own."""
        threads = self._threads
        if threads is None or threads[0] != os.getpid():
            name = f"failhook-{self.name}"
            threads = self._threads = (os.getpid(), Worker(name), LoopThread(f"{name}-loop"))
        return threads


def _result(future: Future[Answer], timeout: float) -> Answer:
    try:
        return future.result(max(0.0, timeout))
    except TimeoutError:
        return Answer(error=OutOfTime(timeout))
