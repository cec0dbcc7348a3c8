"""Times and durations as people read them: short, and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60))


def duration(seconds: float) -> str:
    """Write seconds with the two units that matter: ``0.4s``, ``12s``, ``5m 3s``, ``2d 4h``."""
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"{seconds:.1f}s".replace(".0s", "s")
    whole = round(seconds)
    for unit, size in _UNITS:
        if whole >= size:
            smaller, small = {"d": ("h", 3_600), "h": ("m", 60), "m": ("s", 1)}[unit]
            rest = whole % size // small
            return f"{whole // size}{unit} {rest}{smaller}" if rest else f"{whole // size}{unit}"
    return f"{whole}s"


def ago(moment: datetime, now: datetime) -> str:
    """Write how long ago something was; what lies ahead says so."""
    seconds = (now - moment).total_seconds()
    return f"in {duration(-seconds)}" if seconds < -1 else f"{duration(seconds)} ago"


def second(moment: datetime, *, year: bool = True) -> str:
    """Write a time to the second, in UTC and without saying so: ``2026-03-29 10:15:02``."""
    text = f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    return text if year else text[5:]
