"""Calls that may end the process are made one at a time, so that it is known which one did."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_TICK: Final = 0.05


class Probation:
    """A seat that one lane of a process has at a time."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._holder: object = None

    def begin(self, who: object, *, in_vain: Callable[[], bool]) -> bool:
        """Wait for the seat; return False where `in_vain` says, within a moment, to stop."""
        with self._free:
            while self._holder is not None:
                if in_vain():
                    return False
                self._free.wait(_TICK)
            self._holder = who
            return True

    def end(self, who: object) -> None:
        """Give the seat up, if this lane has it; another thread may do that for it."""
        with self._free:
            if self._holder is who:
                self._holder = None
                self._free.notify_all()
