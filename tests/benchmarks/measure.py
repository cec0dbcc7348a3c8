"""Two things measured beside each other: interleaved in one run, medians, a ratio."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was measured beside what.

    Attributes:
        what: the measured thing.
        beside: what it is compared with.
        ours: seconds, median.
        theirs: seconds, median.
        at_most: the ratio that the design allows; None where it names none.
    """

    what: str
    beside: str
    ours: float
    theirs: float
    at_most: float | None = None

    @property
    def ratio(self) -> float:
        """Return how many times as long it took."""
        return self.ours / self.theirs


def interleaved(
    ours: Callable[[T], object], theirs: Callable[[T], object], inputs: Iterable[T]
) -> tuple[float, float]:
    """Return the median seconds of both, called in turn with each input."""
    first: list[float] = []
    second: list[float] = []
    clock = time.perf_counter
    gc.collect()
    gc.disable()
    try:
        for value in inputs:
            begun = clock()
            ours(value)
            between = clock()
            theirs(value)
            ended = clock()
            first.append(between - begun)
            second.append(ended - between)
    finally:
        gc.enable()
    warm = len(first) // 10
    return statistics.median(first[warm:]), statistics.median(second[warm:])


def table(ratios: Iterable[Ratio]) -> str:
    """Return the measures as an aligned table."""
    rows = [("what", "beside", "ours", "theirs", "ratio", "at most")]
    for each in ratios:
        limit = "-" if each.at_most is None else f"{each.at_most:g} x"
        rows.append(
            (
                each.what,
                each.beside,
                _time(each.ours),
                _time(each.theirs),
                f"{each.ratio:.2f} x",
                limit,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 0.01 else f"{seconds * 1e3:.1f} ms"
