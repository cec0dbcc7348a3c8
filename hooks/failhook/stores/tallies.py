"""What every store says in the same way: the order of tallies, and a clock that was set back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from failhook.clock import to_rfc3339
from failhook.outbox.reading import Tally

_AHEAD: Final = timedelta(minutes=5)
"""Clocks of several machines may differ that much."""


def sorted_tallies(tallies: Iterable[Tally]) -> list[Tally]:
    """Return tallies, most failures first."""
    return sorted(tallies, key=lambda tally: (-tally.failures, tally.value))


def clock_problems(newest: datetime | None, now: datetime) -> Iterator[str]:
    """Say that a store holds what has not happened yet by the clock of this machine."""
    if newest is not None and newest > now + _AHEAD:
        yield (
            f"its newest record is of {to_rfc3339(newest)}, later than the clock of this machine "
            "says; set the clocks of the machines that use it"
        )
