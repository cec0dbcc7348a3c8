"""A connection that gives up on a server which is there and does not answer."""

from __future__ import annotations

from collections.abc import Generator
from time import monotonic
from typing import Any, TypeVar

from psycopg import Connection, OperationalError

T = TypeVar("T")


class PatientConnection(Connection[tuple[Any, ...]]):
    """Bounds each wait for the server.

    The server's own timeouts end what takes too long. This is for a server that is frozen itself,
    or cannot get at its disk: it would keep its client waiting for ever.

    Attributes:
        patience: seconds for one answer.
    """

    patience: float

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **more: Any) -> T:
        return super().wait(_in_time(gen, monotonic() + self.patience), *args, **more)

    def __del__(self, _warn: object = None, /) -> None:
        """Go without a warning: a store that is let go of need not have been closed."""


def _in_time(gen: Generator[Any, Any, T], end: float) -> Generator[Any, Any, T]:
    """Pass on what a step waits for; psycopg wakes it up now and then, with a 0."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and monotonic() > end:
                raise OperationalError("the server does not answer")
            wanted = gen.send(ready)
    except StopIteration as stop:
        answer: T = stop.value
        return answer
