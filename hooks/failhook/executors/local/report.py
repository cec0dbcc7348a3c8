"""What the child has said so far, put together from the bytes that came over the socket."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from typing import Any, Final, cast

from failhook.details import Started
from failhook.executors.local import launch

_LONGEST: Final = {
    launch.LOADING: 0,
    launch.STARTED: 32,
    launch.BEAT: 0,
    launch.TERMINATED: 32,
    launch.NOT_STARTED: launch.LONGEST_TEXT,
    launch.ERROR: launch.LONGEST_TEXT,
    launch.UNSENDABLE: 2 * launch.LONGEST_TEXT,
    launch.RESULT: sys.maxsize,
}
"""The most bytes that a frame may have: what claims more is junk."""


class Report:
    """The child's own words; what makes no sense is passed over, since the task might write too.

    Attributes:
        started: how far it has come.
        refusal: why the task cannot be run at all.
        peak: the most bytes of memory that its process had in use before the task began.
        terminations: how many SIGTERM a callable got.
        error: what it raised, in the shape of `ErrorInfo`.
        unsendable: the type of a return value that cannot be pickled, and why.
        result: the return value, pickled.
    """

    def __init__(self) -> None:
        self.started = Started.NO
        self.refusal: OSError | None = None
        self.peak = 0
        self.terminations = 0
        self.error: Mapping[str, Any] | None = None
        self.unsendable: Mapping[str, Any] | None = None
        self.result: bytes | None = None
        self._buffer = bytearray()

    @property
    def final(self) -> bool:
        """Return whether the task has said how it ended."""
        return (
            self.result is not None
            or self.error is not None
            or self.unsendable is not None
            or self.refusal is not None
        )

    def feed(self, data: bytes) -> None:
        """Take in what was read from the socket."""
        self._buffer += data
        while self._frame():
            pass

    def _frame(self) -> bool:
        """Take in the first frame, if all of it is here, and whatever junk comes before it."""
        buffer = self._buffer
        begin = buffer.find(launch.MARK)
        if begin < 0:
            del buffer[: 1 - len(launch.MARK)]  # the end may be the beginning of one
            return False
        del buffer[:begin]
        if len(buffer) < launch.HEADER.size:
            return False
        _, kind, length = launch.HEADER.unpack_from(buffer)
        if length > _LONGEST.get(kind, 0):
            del buffer[: len(launch.MARK)]
            return True
        end = launch.HEADER.size + length
        if len(buffer) < end:
            return False
        payload = bytes(memoryview(buffer)[launch.HEADER.size : end])
        del buffer[:end]
        with contextlib.suppress(ValueError, TypeError):
            self._take(kind, payload)
        return True

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == launch.LOADING:
            self.started = Started.MAYBE
        elif kind == launch.STARTED:
            self.started = Started.YES
            self.peak = int(payload)
        elif kind == launch.TERMINATED:
            self.terminations = int(payload)
        elif kind == launch.RESULT:
            self.result = payload
        elif kind == launch.NOT_STARTED:
            errno, message, filename = json.loads(payload)
            self.refusal = OSError(errno, message, filename)
            self.started = Started.NO
        elif kind == launch.ERROR:
            self.error = _mapping(payload)
        elif kind == launch.UNSENDABLE:
            self.unsendable = _mapping(payload)


def _mapping(payload: bytes) -> Mapping[str, Any]:
    document: object = json.loads(payload)
    if not isinstance(document, dict):
        raise TypeError("a report is an object")
    return cast("dict[str, Any]", document)
