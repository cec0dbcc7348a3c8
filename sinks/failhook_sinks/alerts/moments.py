"""When things happened, as the state of a group keeps it: whole microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from failhook.plugin import FailureEvent

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def happened_at(event: FailureEvent) -> datetime:
    """Return when what an event tells of came to its end, UTC."""
    return event.ended_at or event.observed_at


def began_at(event: FailureEvent) -> datetime:
    """Return when the run that an event tells of began, UTC; where nobody saw that, its end."""
    return event.started_at or happened_at(event)


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the moment, UTC."""
    return _EPOCH + micros * _MICROSECOND


def in_words(seconds: float) -> str:
    """Return a duration as the configuration takes it: ``1h30m``."""
    left = round(seconds)
    parts: list[str] = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
