"""Describe an exception and all that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from traceback import StackSummary, TracebackException, walk_tb
from types import MappingProxyType
from typing import Any, Final

from failhook.capture.mark import find_mark
from failhook.capture.stranger import (
    MESSAGE_WINDOW,
    TRACEBACK_WINDOW,
    bases_of,
    frames_of,
    links,
    members,
    of_type,
    qualified,
    quietly,
    scalar,
    text_of,
    window,
)
from failhook.details import JsonScalar, is_object
from failhook.error_info import MAX_DEPTH, NO_ATTRIBUTES, ErrorInfo

_MAX_ERRORS: Final = 256
_MAX_MRO: Final = 32
_MAX_NOTES: Final = 16
_KNOWN_ATTRIBUTES: Final = (
    *("errno", "winerror", "returncode", "exit_code", "exitcode", "signal", "signum"),
    *("status_code", "status", "code", "reason", "pgcode", "sqlstate", "retry_after"),
    *("non_retryable", "allow_retries", "cmd_name"),
)


def capture(error: object) -> ErrorInfo:
    """Describe an exception, a string, a recorded error or nothing; it never raises.

    Args:
        error: a `BaseException`, an `ErrorInfo`, a mapping in its JSON shape, a string, or None.
    """
    if of_type(error, BaseException):
        return _captured(error)
    if error is None:
        return ErrorInfo(type="builtins.Exception")
    try:
        if isinstance(error, ErrorInfo):
            return error
        if is_object(error):
            return ErrorInfo.from_dict(error)
    except BaseException:  # noqa: BLE001 - a mapping of a stranger's may raise anything
        return ErrorInfo(type="builtins.Exception", message=text_of(error, MESSAGE_WINDOW))
    return ErrorInfo(type="builtins.str", message=text_of(error, MESSAGE_WINDOW))


def headline(error: BaseException, *, named: bool = True) -> str:
    """Return an exception's type and text in one line, coarsely cut; never raises.

    The traceback is not looked at, so that it costs the same however long that is.

    Args:
        error: any exception.
        named: whether its type comes first.
    """
    name = qualified(type(error)).removeprefix("builtins.")
    message = " ".join(text_of(error, MESSAGE_WINDOW).split())
    return ": ".join(part for part in (name if named or not message else "", message) if part)


def _captured(exception: BaseException) -> ErrorInfo:
    try:
        return _Walk().outermost(exception)
    except BaseException as failure:  # noqa: BLE001 - out of memory or of stack: less is told
        return ErrorInfo(
            type=qualified(type(exception)),
            message=f"(it cannot be described: {qualified(type(failure))})",
            exception=exception,
        )


class _Walk:
    """One walk over one exception: every object once, and no more than a bounded number."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def outermost(self, exception: BaseException) -> ErrorInfo:
        message = text_of(exception, MESSAGE_WINDOW)
        return self._described(
            exception,
            message,
            traceback=_traceback(exception, message),
            mark=find_mark(exception),
            exception=exception,
        )

    def _described(
        self,
        exception: BaseException,
        message: str,
        /,
        *,
        depth: int = 0,
        left_out: int = 0,
        **outermost: Any,
    ) -> ErrorInfo:
        self._seen.add(id(exception))
        kind = type(exception)
        below: dict[str, Any] = {}
        if depth < MAX_DEPTH:
            for name, nested in links(exception):
                if self._fresh(nested):
                    below[name] = self._nested(nested, depth + 1)
            group = members(exception)
            if group:
                below["exceptions"] = described = tuple(
                    [
                        self._nested(member, depth + 1)
                        for member in group[:_MAX_ERRORS]
                        if self._fresh(member)
                    ]
                )
                left_out += len(group) - len(described)
        return ErrorInfo(
            type=qualified(kind),
            message=message,
            mro=tuple(
                [qualified(base) for base in bases_of(kind)[:_MAX_MRO] if base is not object]
            ),
            notes=_notes(exception, left_out),
            attributes=_attributes(exception),
            **below,
            **outermost,
        )

    def _nested(self, exception: BaseException, depth: int) -> ErrorInfo:
        """Describe one below; at the last depth its own root stands for all that follow."""
        left_out = 0
        if depth == MAX_DEPTH:
            while (below := self._onward(exception)) is not None:
                exception = below
                left_out += 1
        return self._described(
            exception, text_of(exception, MESSAGE_WINDOW), depth=depth, left_out=left_out
        )

    def _onward(self, exception: BaseException) -> BaseException | None:
        self._seen.add(id(exception))
        for _, nested in links(exception):
            if id(nested) not in self._seen:
                return nested
        return None

    def _fresh(self, exception: BaseException) -> bool:
        return id(exception) not in self._seen and len(self._seen) < _MAX_ERRORS


def _notes(exception: BaseException, left_out: int) -> tuple[str, ...]:
    notes: Any = quietly(exception, "__notes__")
    found: list[str] = []
    if notes is not None:
        try:
            texts = [notes] if isinstance(notes, str) else islice(notes, _MAX_NOTES)
            found += [text_of(note, MESSAGE_WINDOW) for note in texts]
        except BaseException:  # noqa: BLE001 - notes of a wrong type may raise anything
            found = ["<notes that cannot be read>"]
    if left_out:
        found.append(f"[... {left_out} errors left out ...]")
    return tuple(found)


def _traceback(exception: BaseException, message: str) -> str:
    """Format as ``python -X no_debug_ranges`` does: marking columns takes most of the time."""
    try:
        whole = TracebackException(type(exception), exception, frames_of(exception), compact=True)
        todo = [whole]
        for each in todo:
            for frame in each.stack:
                frame.colno = None
            todo += filter(None, (each.__cause__, each.__context__))
            todo += each.exceptions or ()
        lines = list(whole.format())
    except BaseException:  # noqa: BLE001 - formatting runs the exception's own code
        lines = _frames(exception)
        lines.append(f"{qualified(type(exception)).removeprefix('builtins.')}: {message}\n")
    return window("".join(lines), TRACEBACK_WINDOW)


def _frames(exception: BaseException) -> list[str]:
    """Format the frames alone, without asking the exception anything."""
    try:
        stack = StackSummary.extract(walk_tb(frames_of(exception)))
        return ["Traceback (most recent call last):\n", *stack.format()]
    except BaseException as failure:  # noqa: BLE001 - source lines come from a stranger's loader
        return [f"(the frames cannot be formatted: {qualified(type(failure))})\n"]


def _attributes(exception: BaseException) -> Mapping[str, JsonScalar]:
    found: dict[str, JsonScalar] = {}
    try:
        values = [getattr(exception, name, None) for name in _KNOWN_ATTRIBUTES]
    except BaseException:  # noqa: BLE001 - one raises: then each is read in a try of its own
        values = [quietly(exception, name) for name in _KNOWN_ATTRIBUTES]
    for name, value in zip(_KNOWN_ATTRIBUTES, values, strict=True):
        if value is not None:
            _add(found, name, value)
    response = quietly(exception, "response")
    if response is not None:
        _add_response(found, response)
    return MappingProxyType(found) if found else NO_ATTRIBUTES


def _add_response(found: dict[str, JsonScalar], response: Any) -> None:
    """Read an HTTP response object (requests, httpx) or botocore's error document."""
    _add(found, "status_code", quietly(response, "status_code"))
    try:
        if is_object(response):
            _add(found, "error_code", response["Error"]["Code"])
            _add(found, "status_code", response["ResponseMetadata"]["HTTPStatusCode"])
        else:
            _add(found, "retry_after", response.headers.get("Retry-After"))
    except BaseException:  # noqa: BLE001, S110 - a stranger's object: what cannot be read is absent
        pass


def _add(found: dict[str, JsonScalar], name: str, value: object) -> None:
    told = scalar(value)
    if told is not None:
        found[name] = told
