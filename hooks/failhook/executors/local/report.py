"""What the child has said so far, put together from the bytes that came over the socket."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any, cast

from failhook.details import Started
from failhook.executors.local import launch


class Report:
    """The child's own words; what makes no sense is passed over, since the task might write too.

    Attributes:
        started: how far it has come.
        refusal: why the task cannot be run at all.
        terminations: how many SIGTERM a callable got.
        error: what it raised, in the shape of `ErrorInfo`.
        unsendable: the type of a return value that cannot be pickled, and why.
        result: the return value, pickled.
    """

    def __init__(self) -> None:
        self.started = Started.NO
        self.refusal: OSError | None = None
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
        while len(self._buffer) >= launch.HEADER.size:
            kind, length = launch.HEADER.unpack_from(self._buffer)
            end = launch.HEADER.size + length
            if len(self._buffer) < end:
                return
            payload = bytes(memoryview(self._buffer)[launch.HEADER.size : end])
            del self._buffer[:end]
            with contextlib.suppress(ValueError, TypeError):
                self._take(kind, payload)

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == launch.LOADING:
            self.started = Started.MAYBE
        elif kind == launch.STARTED:
            self.started = Started.YES
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
