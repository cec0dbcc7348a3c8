"""The clock, passed in wherever time matters, and the one way times are written down."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time: `now` for people and records, `monotonic` for durations."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, for measuring durations in this process."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def to_rfc3339(moment: datetime) -> str:
    """Write a time as RFC 3339 in UTC with microseconds, ending in ``Z``."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def from_rfc3339(text: str) -> datetime:
    """Read an RFC 3339 time; one without an offset is taken as UTC.

    Raises:
        ValueError: the text is not a time.
    """
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
