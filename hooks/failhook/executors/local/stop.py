"""A request to stop, which anybody may make at any time, in whichever thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

CancelAction = Literal["cancel", "mark_failed", "interrupt"]
Why = Literal["deadline", "cancel", "shutdown", "heartbeat"]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the executor ends an attempt, and on whose behalf.

    Attributes:
        why: what moved the executor.
        actor: who asked for it.
        action: how a cancel is reported.
    """

    why: Why
    actor: str | None = None
    action: CancelAction = "cancel"


class StopRequest:
    """Holds the first request; whoever listens is woken."""

    def __init__(self) -> None:
        self.stop: Stop | None = None
        self._lock = threading.Lock()
        self._wake: int | None = None

    def ask(self, stop: Stop) -> None:
        """Ask for a stop, unless somebody did before."""
        with self._lock:
            if self.stop is None:
                self.stop = stop
                if self._wake is not None:
                    os.write(self._wake, b"!")

    @contextmanager
    def listen(self) -> Generator[int]:
        """Give a descriptor that is readable from the first request on."""
        read, write = os.pipe()
        with self._lock:
            self._wake = write
            if self.stop is not None:
                os.write(write, b"!")
        try:
            yield read
        finally:
            with self._lock:
                self._wake = None
            os.close(read)
            os.close(write)
