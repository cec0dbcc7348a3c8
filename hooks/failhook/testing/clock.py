"""A clock that stands still until it is told to go on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class ManualClock:
    """Tells the time that a test sets.

    Args:
        start: UTC.
    """

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._seconds = 0.0

    def now(self) -> datetime:
        """Return the wall-clock time."""
        return self._start + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        """Return the seconds since the start."""
        return self._seconds

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds

    def reach(self, moment: datetime) -> None:
        """Let time pass until then; a moment that has passed changes nothing."""
        self._seconds = max(self._seconds, (moment - self._start).total_seconds())
