"""How long things have run, by a clock that nobody sets: what the wall clock cannot be asked."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from failhook.clock import Clock

_MOST: Final = 10_000


class Stopwatch:
    """Remembers when attempts and tasks of this process began, in monotonic time.

    So a step of the wall clock changes no duration and no deadline. Of what began in another
    process only the wall clock can tell. The newest 10,000 beginnings are kept.

    Args:
        clock: the time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began: OrderedDict[str, float] = OrderedDict()

    def start(self, key: str) -> None:
        """Take now as the beginning of an attempt."""
        self._keep(key, self._clock.monotonic())

    def stop(self, key: str, started_at: datetime | None) -> datetime | None:
        """Return when an attempt ended, UTC: as long after its start as it ran.

        Asked before the wall clock is, it is never the later one of the two.

        Args:
            key: the attempt's.
            started_at: its start by the wall clock, if that was seen.

        Returns:
            None for an attempt that began elsewhere.
        """
        began = self._began.pop(key, None)
        if began is None or started_at is None:
            return None
        return started_at + timedelta(seconds=max(0.0, self._clock.monotonic() - began))

    def elapsed(self, key: str, started_at: datetime, now: datetime) -> float:
        """Return the seconds since a task began; never less than at an earlier call.

        Args:
            key: the task's.
            started_at: its start by the wall clock, for a task that is new to this process.
            now: the wall clock's time.
        """
        monotonic = self._clock.monotonic()
        began = self._began.get(key)
        if began is None:
            began = monotonic - max(0.0, (now - started_at).total_seconds())
            self._keep(key, began)
        return max(0.0, monotonic - began)

    def _keep(self, key: str, began: float) -> None:
        while len(self._began) >= _MOST:
            self._began.popitem(last=False)
        self._began[key] = began
