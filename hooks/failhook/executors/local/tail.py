"""The end of what a task writes, kept while all of it is passed on."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import termios
import threading
import time
from array import array
from typing import IO, Final

_PATIENCE: Final = 1.0
"""Seconds that the last output gets to be passed on; a terminal may take it slowly, or never."""
_CHUNK: Final = 1 << 16


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
        self._wakers: list[int] = []

    def follow(self, pipe: IO[bytes] | None, target: int) -> None:
        """Pass on everything from a pipe to a descriptor of this process."""
        if pipe is not None:
            asked, waker = os.pipe()
            thread = threading.Thread(
                target=self._copy, args=(pipe, asked, target), name="failhook-output", daemon=True
            )
            try:
                thread.start()
            except BaseException:  # the system has no more threads
                os.close(asked)
                os.close(waker)
                pipe.close()
                raise
            self._wakers.append(waker)
            self._threads.append(thread)

    def close(self) -> None:
        """Take what is in the pipes by now, and let go of them.

        The task has ended; somebody who got away from it may hold them open for ever.
        """
        give_up = time.monotonic() + _PATIENCE
        while self._wakers:
            os.close(self._wakers.pop())
        for thread in self._threads:
            thread.join(max(0.0, give_up - time.monotonic()))

    def text(self) -> str:
        """Return the last output."""
        with self._lock:
            return self._kept.decode("utf-8", "replace")

    def _copy(self, pipe: IO[bytes], asked: int, target: int) -> None:
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.register(asked, 0)
        left = None
        try:
            with pipe:
                while left != 0:
                    if left is None and asked in dict(poll.poll()):
                        left = _available(pipe)
                        continue
                    chunk = pipe.read(_CHUNK if left is None else min(left, _CHUNK))
                    if not chunk:
                        return
                    if left is not None:
                        left -= len(chunk)
                    self._keep(chunk)
                    with contextlib.suppress(OSError):  # nobody watches; it is still kept
                        while chunk:
                            chunk = chunk[os.write(target, chunk) :]
        finally:
            os.close(asked)

    def _keep(self, chunk: bytes) -> None:
        with self._lock:
            self._kept += chunk
            del self._kept[: -self._size]


def _available(pipe: IO[bytes]) -> int:
    """Return how many bytes a pipe holds."""
    number = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, number)
    return number[0]
