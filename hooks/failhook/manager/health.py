"""How each plugin fares: counters, and quarantine for one that keeps failing."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from failhook.capture import capture
from failhook.clock import Clock
from failhook.log import logger, say
from failhook.manager.hooks import EVENTS
from failhook.manager.limits import Limits
from failhook.manager.no_answer import NoAnswer, OutOfTime
from failhook.manager.outcome import error_line

_MAX_TOLD: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginHealth:
    """How one part of one plugin fares.

    Attributes:
        plugin: the plugin's name.
        part: ``events`` for the hooks that take events, else the hook's name.
        delivered: calls that ended well.
        undelivered: calls that the plugin itself said it could not deliver.
        failed: calls that raised, ran out of time or answered nonsense.
        slow: those of them that ran past the time limit.
        consecutive_failures: failures since the last call that ended well.
        last_success_at: when a call last ended well, UTC.
        last_error: the last failure, in one line.
        quarantined: whether it is left alone, but for a probe from time to time.
    """

    plugin: str
    part: str
    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    slow: int = 0
    consecutive_failures: int = 0
    last_success_at: datetime | None = None
    last_error: str = ""
    quarantined: bool = False


class Health:
    """Watches one part of one plugin; any thread may report.

    Args:
        plugin: the plugin's name.
        part: ``events``, or a hook that is watched by itself.
        clock: the time.
        limits: when quarantine begins, and how its probes are spaced.
        redact: takes secrets out of what is logged.
    """

    def __init__(
        self, plugin: str, part: str, clock: Clock, limits: Limits, redact: Callable[[str], str]
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._redact = redact
        self._now = PluginHealth(plugin=plugin, part=part)
        self._told: set[tuple[str, str]] = set()
        self._interval = limits.probe
        self._probe_at: float | None = None
        self._lock = threading.RLock()  # a signal's handler may report too
        self._pid = os.getpid()

    @property
    def state(self) -> PluginHealth:
        """Return the counters as they are."""
        return self._now

    def wait(self) -> float:
        """Return seconds until it may be called: 0 unless it is in quarantine."""
        probe_at = self._probe_at
        return 0.0 if probe_at is None else max(0.0, probe_at - self._clock.monotonic())

    def succeeded(self, *, late: bool = False) -> None:
        """Count a call that ended well; unless it was `late`, that ends a quarantine."""
        with self._guard():
            before = self._now
            self._now = replace(
                before,
                delivered=before.delivered + 1,
                consecutive_failures=before.consecutive_failures if late else 0,
                last_success_at=self._clock.now(),
                quarantined=before.quarantined and late,
            )
            if self._now.quarantined is before.quarantined:
                return
            self._probe_at, self._interval = None, self._limits.probe
            self._told.clear()
        say(
            logging.WARNING,
            "plugin %r has left quarantine: it works again after %d failures in a row",
            before.plugin,
            before.consecutive_failures,
        )

    def undelivered(self) -> None:
        """Count what a plugin said it could not deliver: it works, its other side does not."""
        with self._guard():
            self._now = replace(self._now, undelivered=self._now.undelivered + 1)
            if self._now.quarantined:
                self._probe_at = self._clock.monotonic() + self._interval

    def failed(self, hook: str, error: BaseException, *, late: bool = False) -> None:
        """Count a failure; the first of its kind is logged, and so is the quarantine.

        Args:
            hook: the hook that was called.
            error: what was raised, or why there was no answer.
            late: it was raised after the time limit.
        """
        kind = type(error)
        told = (hook, kind.__qualname__)
        line = error_line(error, self._redact)
        with self._guard():
            before = self._now
            failures = before.consecutive_failures + 1
            quarantined = failures >= self._limits.failures
            self._now = replace(
                before,
                failed=before.failed + 1,
                slow=before.slow + (late or kind is OutOfTime),
                consecutive_failures=failures,
                last_error=line,
                quarantined=quarantined,
            )
            if before.quarantined:
                self._interval = min(self._interval * 2, self._limits.longest_probe)
            if quarantined:
                self._probe_at = self._clock.monotonic() + self._interval
            first = told not in self._told and len(self._told) < _MAX_TOLD
            if first:
                self._told.add(told)
        self._tell_failure(hook, line, error, logging.WARNING if first else logging.DEBUG)
        if quarantined and not before.quarantined:
            self._tell_quarantine(hook, line, failures)

    def _tell_failure(self, hook: str, line: str, error: BaseException, level: int) -> None:
        if not logger.isEnabledFor(level):
            return
        plain = issubclass(type(error), NoAnswer)
        traceback = "" if plain else "\n" + self._redact(capture(error).traceback).rstrip()
        say(level, "plugin %r: %s failed: %s%s", self._now.plugin, hook, line, traceback)

    def _tell_quarantine(self, hook: str, line: str, failures: int) -> None:
        say(
            logging.WARNING,
            "plugin %r is in quarantine: %s failed %d times in a row; %s, the next try is in "
            "%.0f s. Last: %s. To see every failure, set the logger 'failhook' to DEBUG",
            self._now.plugin,
            hook,
            failures,
            "its events wait" if self._now.part == EVENTS else "it is passed over",
            self._limits.probe,
            line,
        )

    def _guard(self) -> threading.RLock:
        if self._pid != os.getpid():  # forked: the parent may have held the lock just then
            self._lock, self._pid = threading.RLock(), os.getpid()
        return self._lock
