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


def as_utc(moment: datetime) -> datetime:
    """Return the same moment in UTC; one without an offset is taken as UTC.

    Raises:
        ValueError: in UTC it is before the year 1 or after the year 9999.
    """
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        msg = f"{moment} is outside the years 1 to 9999 in UTC"
        raise ValueError(msg) from None


def no_earlier(moment: datetime, than: datetime) -> datetime:
    """Return the moment in UTC, or the other one where the clock was set back in between."""
    return max(as_utc(than), as_utc(moment))


def to_rfc3339(moment: datetime) -> str:
    """Write a time as RFC 3339 in UTC with microseconds, ending in ``Z``."""
    return as_utc(moment).isoformat(timespec="microseconds")[:-6] + "Z"


def from_rfc3339(text: str) -> datetime:
    """Read an RFC 3339 time; one without an offset is taken as UTC.

    Raises:
        ValueError: the text is not a time, or in UTC it is outside the years 1 to 9999.
    """
    return as_utc(datetime.fromisoformat(text))
