"""A clock that a test sets; what waits for real time meanwhile waits a fraction of a second."""

from __future__ import annotations

from datetime import datetime, timedelta

from failhook.plugin import SystemClock


class SettableClock:
    """The machine's clock, and what a test has added to it."""

    def __init__(self) -> None:
        self._system = SystemClock()
        self._wall = timedelta()
        self._passed = 0.0

    def now(self) -> datetime:
        return self._system.now() + self._wall

    def monotonic(self) -> float:
        return self._system.monotonic() + self._passed

    def pass_time(self, seconds: float) -> None:
        """Let time go by: both clocks show it."""
        self._wall += timedelta(seconds=seconds)
        self._passed += seconds

    def step(self, seconds: float) -> None:
        """Set the wall clock forward or back; no time goes by."""
        self._wall += timedelta(seconds=seconds)
