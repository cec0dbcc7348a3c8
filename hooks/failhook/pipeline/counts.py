"""Keeps count of what plugins did in this process, for the store and for the host's metrics."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from failhook.clock import Clock
from failhook.forks import PATIENCE, watch_forks
from failhook.log import say
from failhook.manager import Call, Status
from failhook.manager.no_answer import NoAnswer
from failhook.manager.worker import Worker
from failhook.metrics import (
    ATTEMPTS,
    DURATION,
    EVENTS,
    HOOK,
    OUTCOME,
    PLUGIN,
    QUEUE,
    Instrument,
    Metrics,
)
from failhook.outbox.port import HookCalls, Outbox

_MOST_DURATIONS: Final = 10_000
"""Durations that wait for the metrics; the oldest are forgotten first."""

_EXPORT: Final = 0.5
"""Seconds that it is waited for the metrics, so that the last numbers are out at a close."""

_QUEUE_EVERY: Final = 15.0
"""Seconds between two looks at how much waits."""

_Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """What became of events in this process so far.

    Attributes:
        delivered: events that plugins have taken.
        refused: calls that did not end well; the event is tried again, or is a dead letter.
        dead: events that became dead letters.
        dropped: events that were dropped because too many waited.
    """

    delivered: int = 0
    refused: int = 0
    dead: int = 0
    dropped: int = 0


@dataclass(slots=True)
class _Hook:
    """What one hook of one plugin did since it was last written down."""

    called_at: datetime
    delivered_at: datetime | None = None
    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    slow: int = 0
    error: str = ""


class Counts:
    """Counts in memory, and hands the counts on when `write` is called; any thread may use it.

    Args:
        outbox: keeps the counts of hooks.
        host: this machine's name.
        clock: the time.
        metrics: the host's, if it has any.
    """

    def __init__(self, outbox: Outbox, host: str, clock: Clock, metrics: Metrics | None) -> None:
        self._outbox = outbox
        self._host = host
        self._clock = clock
        self._metrics = metrics
        self._broken = False
        self._worker = Worker("failhook-metrics")
        self._begin()
        watch_forks(self)

    def _begin(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may report too
        self._hooks: dict[tuple[str, str], _Hook] = {}
        self._numbers: Counter[tuple[Instrument, _Attributes]] = Counter()
        self._durations: deque[tuple[float, _Attributes]] = deque(maxlen=_MOST_DURATIONS)
        self._waiting: dict[str, int] = {}
        self._look_at = self._clock.monotonic()
        self.progress = Progress()

    def called(self, call: Call) -> None:
        """Count one call of a plugin."""
        with self._lock:
            hook = self._hooks.get((call.plugin, call.hook))
            if hook is None:
                hook = self._hooks[call.plugin, call.hook] = _Hook(call.at)
            hook.called_at = call.at
            hook.slow += call.slow
            if call.status is Status.DELIVERED:
                hook.delivered += 1
                hook.delivered_at = call.at
            else:
                hook.undelivered += call.status is Status.UNDELIVERED
                hook.failed += call.status is Status.FAILED
                hook.error = call.error
                self.progress = replace(self.progress, refused=self.progress.refused + 1)
            if self._metrics is not None:
                attributes = (
                    (PLUGIN, call.plugin),
                    (HOOK, call.hook),
                    (OUTCOME, call.status.value),
                )
                self._numbers[ATTEMPTS, attributes] += 1
                if call.seconds is not None:
                    self._durations.append((call.seconds, attributes))

    def delivered(self, plugin: str, events: int) -> None:
        """Count what a plugin has taken."""
        with self._lock:
            self.progress = replace(self.progress, delivered=self.progress.delivered + events)
            self._left(plugin, "delivered", events)

    def buried(self, plugin: str, events: int) -> None:
        """Count dead letters."""
        with self._lock:
            self.progress = replace(self.progress, dead=self.progress.dead + events)
            self._left(plugin, "dead", events)

    def dropped(self, plugin: str, events: int) -> None:
        """Count what was dropped because the bounds were reached."""
        with self._lock:
            self.progress = replace(self.progress, dropped=self.progress.dropped + events)
            self._left(plugin, "dropped", events)

    def write(self) -> None:
        """Add the counts of hooks to the store, and let the metrics have theirs.

        Raises:
            StoreError: the store cannot be written; the counts are kept.
        """
        try:
            self._write_hooks()
            self._look_at_queue()
        finally:
            self._export()

    def before_fork(self) -> None:
        """End the thread of the metrics, if it is idle."""
        self._worker.rest(PATIENCE)

    def after_fork_in_parent(self) -> None:
        """Nothing is to be done: the thread comes back when it is needed."""

    def after_fork_in_child(self) -> None:
        """Forget what the parent will write."""
        self._begin()
        self._worker = Worker("failhook-metrics")

    def _left(self, plugin: str, outcome: str, events: int) -> None:
        if self._metrics is not None:
            self._numbers[EVENTS, ((PLUGIN, plugin), (OUTCOME, outcome))] += events

    def _write_hooks(self) -> None:
        with self._lock:
            hooks, self._hooks = self._hooks, {}
        if not hooks:
            return
        try:
            self._outbox.note_calls(self._calls(hooks))
        except BaseException:
            with self._lock:
                for key, later in self._hooks.items():
                    hooks[key] = _sum(hooks[key], later) if key in hooks else later
                self._hooks = hooks
            raise

    def _calls(self, hooks: dict[tuple[str, str], _Hook]) -> Sequence[HookCalls]:
        pid = os.getpid()
        return [
            HookCalls(
                plugin=plugin,
                hook=name,
                host=self._host,
                pid=pid,
                called_at=hook.called_at,
                delivered_at=hook.delivered_at,
                delivered=hook.delivered,
                undelivered=hook.undelivered,
                failed=hook.failed,
                slow=hook.slow,
                error=hook.error,
            )
            for (plugin, name), hook in hooks.items()
        ]

    def _look_at_queue(self) -> None:
        """Take the change of what waits, but now and then only: counting has its price."""
        if self._metrics is None or self._clock.monotonic() < self._look_at:
            return
        self._look_at = self._clock.monotonic() + _QUEUE_EVERY
        now = {waiting.plugin: waiting.count for waiting in self._outbox.waiting()}
        with self._lock:
            for plugin in now.keys() | self._waiting.keys():
                change = now.get(plugin, 0) - self._waiting.get(plugin, 0)
                self._numbers[QUEUE, ((PLUGIN, plugin),)] += change
            self._waiting = now

    def _export(self) -> None:
        metrics = self._metrics
        if metrics is None or not (self._numbers or self._durations):
            return
        try:
            future = self._worker.begin(lambda: self._send(metrics), patience=0.0)
            self._worker.wait(future, _EXPORT, limit=_EXPORT)
        except (NoAnswer, RuntimeError):  # it hangs, or there is no thread: the numbers add up
            return

    def _send(self, metrics: Metrics) -> None:
        with self._lock:
            numbers, self._numbers = self._numbers, Counter()
            durations = list(self._durations)
            self._durations.clear()
        try:
            for (instrument, attributes), value in numbers.items():
                if value:
                    metrics.count(instrument.name, value, dict(attributes))
            for seconds, attributes in durations:
                metrics.record(DURATION.name, seconds, dict(attributes))
        except BaseException as error:  # noqa: BLE001 - a host's object may raise anything at all
            if not self._broken:
                self._broken = True
                say(logging.ERROR, "the metrics object broke; its numbers are lost", error=error)


def _sum(earlier: _Hook, later: _Hook) -> _Hook:
    return _Hook(
        called_at=later.called_at,
        delivered_at=later.delivered_at or earlier.delivered_at,
        delivered=earlier.delivered + later.delivered,
        undelivered=earlier.undelivered + later.undelivered,
        failed=earlier.failed + later.failed,
        slow=earlier.slow + later.slow,
        error=later.error or earlier.error,
    )
