"""A block of work on a store that is never left half open, whatever interrupts it.

A signal's handler may raise between any two steps of the main thread: Ctrl-C, an alarm, a soft time
limit. So a session is a generator: how far it has come is known exactly, what it has taken is
given back by its own ``with`` and ``finally``, and to close it twice does no harm.
"""

from __future__ import annotations

from collections.abc import Generator
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Session(Generic[T]):
    """Runs a generator that yields once: up to there to begin, the rest to end well.

    Args:
        steps: what is raised in the block is raised where it yields.
    """

    __slots__ = ("_steps",)

    def __init__(self, steps: Generator[T]) -> None:
        self._steps = steps

    def __enter__(self) -> T:
        try:
            return next(self._steps)
        except BaseException:
            self.end()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            next(self._steps, None)
            return
        try:
            self._steps.throw(error)
        except BaseException as raised:
            if raised is not error:
                raise

    def end(self) -> None:
        """Roll back and give back what is held, unless it is over already."""
        self._steps.close()
