"""The end of what a task writes, kept while all of it is passed on."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import IO, Final

_PATIENCE: Final = 1.0
"""Seconds to wait for the last output; somebody who left the group may hold the pipe for ever."""


class Tail:
    """Keeps the last `size` bytes of what comes through its pipes.

    Each pipe has a thread of its own, so that a slow terminal stalls the task, as it would
    without us, but never the supervision.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept = bytearray()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def follow(self, pipe: IO[bytes] | None, target: int) -> None:
        """Pass on everything from a pipe to a descriptor of this process."""
        if pipe is not None:
            thread = threading.Thread(target=self._copy, args=(pipe, target), daemon=True)
            self._threads.append(thread)
            thread.start()

    def text(self) -> str:
        """Return the last output, once no more comes."""
        give_up = time.monotonic() + _PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, give_up - time.monotonic()))
        with self._lock:
            return self._kept.decode("utf-8", "replace")

    def _copy(self, pipe: IO[bytes], target: int) -> None:
        with pipe:
            while chunk := pipe.read(1 << 16):
                with self._lock:
                    self._kept += chunk
                    del self._kept[: -self._size]
                with contextlib.suppress(OSError):  # nobody watches; it is still kept
                    while chunk:
                        chunk = chunk[os.write(target, chunk) :]
