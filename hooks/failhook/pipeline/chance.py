"""Random numbers for jitter from wherever a host says, made safe."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from failhook.log import say

_MIDDLE: Final = 0.5


class Chance:
    """Gives a number in 0..1 whatever its source does; what is wrong with it is logged once.

    Args:
        source: should return a number in 0..1. For any other answer, and where it raises, 0.5
            stands in.
    """

    def __init__(self, source: Callable[[], object]) -> None:
        self._source = source
        self._said = False

    def __call__(self) -> float:
        """Return the next number."""
        try:
            number = self._source()
        except Exception as error:  # noqa: BLE001 - a report must not fail for its jitter
            return self._instead(f"raised {error!r}")
        if isinstance(number, int | float) and 0 <= number <= 1:
            return float(number)
        return self._instead(f"returned {number!r}")

    def _instead(self, what: str) -> float:
        if not self._said:
            self._said = True
            say(
                logging.ERROR,
                "Pipeline(random=...) %s; it must return a number in 0..1. 0.5 is used instead",
                what,
            )
        return _MIDDLE
