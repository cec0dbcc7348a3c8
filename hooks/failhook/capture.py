"""From a live exception to an `ErrorInfo`, whatever the exception does when it is looked at."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from failhook.details import JsonScalar
from failhook.error_info import MAX_DEPTH, NO_ATTRIBUTES, ErrorInfo, Mark
from failhook.errors import TaskError
from failhook.text import clean, cut

MESSAGE_WINDOW: Final = 32_768
TRACEBACK_WINDOW: Final = 98_304
"""Characters kept, coarsely: redaction and the exact cut come later, where the event is built."""

_MAX_ERRORS: Final = 256
_MAX_MARK_SEARCH: Final = 4_096
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
    if isinstance(error, ErrorInfo):
        return error
    if isinstance(error, BaseException):
        return _Capture().outermost(error)
    if isinstance(error, Mapping):
        return ErrorInfo.from_dict(error)
    if error is None:
        return ErrorInfo(type="builtins.Exception")
    return ErrorInfo(type="builtins.str", message=_window(_safe_str(error), MESSAGE_WINDOW))


def headline(error: BaseException, *, named: bool = True) -> str:
    """Return an exception's type and text in one line, coarsely cut; never raises.

    The traceback is not looked at, so that it costs the same however long that is.

    Args:
        error: any exception.
        named: whether its type comes first.
    """
    name = _qualified(type(error)).removeprefix("builtins.")
    message = " ".join(_window(_safe_str(error), MESSAGE_WINDOW).split())
    return ": ".join(part for part in (name if named or not message else "", message) if part)


class _Capture:
    """One walk over one exception: every object once, and no more than a bounded number."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def outermost(self, exception: BaseException) -> ErrorInfo:
        below = self._below(exception, 0)
        return ErrorInfo(
            **below,
            traceback=_traceback(exception),
            mark=find_mark(exception),
            exception=exception,
        )

    def _below(self, exception: BaseException, depth: int) -> dict[str, Any]:
        self._seen.add(id(exception))
        kind = type(exception)
        fields: dict[str, Any] = {
            "type": _qualified(kind),
            "message": _window(_safe_str(exception), MESSAGE_WINDOW),
            "mro": tuple(_qualified(base) for base in kind.__mro__[:_MAX_MRO] if base is not object),
            "attributes": _attributes(exception),
        }
        notes = _quietly(exception, "__notes__")
        if isinstance(notes, list):
            fields["notes"] = tuple(
                _window(_safe_str(note), MESSAGE_WINDOW) for note in notes[:_MAX_NOTES]
            )
        if depth < MAX_DEPTH:
            for name, nested in (
                ("cause", exception.__cause__),
                ("context", None if exception.__suppress_context__ else exception.__context__),
            ):
                if nested is not None and self._fresh(nested):
                    fields[name] = ErrorInfo(**self._below(nested, depth + 1))
            if isinstance(exception, BaseExceptionGroup):
                fields["exceptions"] = tuple(
                    ErrorInfo(**self._below(member, depth + 1))
                    for member in _members(exception)
                    if self._fresh(member)
                )
        return fields

    def _fresh(self, exception: BaseException) -> bool:
        return id(exception) not in self._seen and len(self._seen) < _MAX_ERRORS


def find_mark(exception: BaseException) -> Mark | None:
    """Return what the nearest `TaskError` says, at any depth of cause, context or group.

    Breadth first; a suppressed context is searched too, and so are exceptions that a wrapper
    carries as its arguments or in a future (tenacity's RetryError). A cycle ends the search.
    """
    queue: list[BaseException] = [exception]
    seen = {id(exception)}
    for current in queue:
        if isinstance(current, TaskError):
            return _mark(current)
        for nested in _nested(current):
            if id(nested) not in seen and len(seen) < _MAX_MARK_SEARCH:
                seen.add(id(nested))
                queue.append(nested)
    return None


def _nested(exception: BaseException) -> Iterator[BaseException]:
    for nested in (exception.__cause__, exception.__context__):
        if nested is not None:
            yield nested
    if isinstance(exception, BaseExceptionGroup):
        yield from _members(exception)
    for argument in exception.args[:4]:
        if isinstance(argument, BaseException):
            yield argument
    attempt = _quietly(exception, "last_attempt")
    if attempt is not None:
        inner = _quietly(attempt, "_exception")
        if isinstance(inner, BaseException):
            yield inner


def _members(group: BaseExceptionGroup[BaseException]) -> tuple[BaseException, ...]:
    members = _quietly(group, "exceptions")
    return members[:_MAX_ERRORS] if isinstance(members, tuple) else ()


def _mark(error: TaskError) -> Mark:
    code = _quietly(error, "code")
    kind = _quietly(error, "kind")
    deterministic = _quietly(error, "deterministic")
    retry_after = _quietly(error, "retry_after")
    return Mark(
        message=_window(_safe_str(error), MESSAGE_WINDOW),
        code=code if isinstance(code, str) else None,
        kind=str(kind) if isinstance(kind, str) else None,
        deterministic=deterministic if isinstance(deterministic, bool) else None,
        retry_after=float(retry_after) if isinstance(retry_after, int | float) else None,
    )


def _traceback(exception: BaseException) -> str:
    try:
        lines = traceback.format_exception(exception)
    except BaseException as failure:  # noqa: BLE001 - formatting runs the exception's own code
        return f"(the traceback cannot be formatted: {type(failure).__name__})"
    return _window("".join(lines), TRACEBACK_WINDOW)


def _attributes(exception: BaseException) -> Mapping[str, JsonScalar]:
    found: dict[str, JsonScalar] = {}
    for name in _KNOWN_ATTRIBUTES:
        value = _quietly(exception, name)
        if value is not None:
            _add(found, name, value)
    if isinstance(exception, SystemExit):
        _add(found, "code", exception.code)
    response = _quietly(exception, "response")
    if response is not None:
        _add_response(found, response)
    return MappingProxyType(found) if found else NO_ATTRIBUTES


def _add_response(found: dict[str, JsonScalar], response: object) -> None:
    """Read an HTTP response object (requests, httpx) or botocore's error document."""
    _add(found, "status_code", _quietly(response, "status_code"))
    headers = _quietly(response, "headers")
    with contextlib.suppress(Exception):
        if isinstance(response, Mapping):
            _add(found, "error_code", response["Error"]["Code"])
            _add(found, "status_code", response["ResponseMetadata"]["HTTPStatusCode"])
        elif headers is not None:
            _add(found, "retry_after", headers.get("Retry-After"))


def _add(found: dict[str, JsonScalar], name: str, value: object) -> None:
    if isinstance(value, str):
        found[name] = _window(value, 256)
    elif isinstance(value, bool | int | float):
        found[name] = value


def _quietly(owner: object, name: str) -> Any:
    """Read an attribute of a stranger's object; one that raises counts as absent."""
    try:
        return getattr(owner, name, None)
    except BaseException:  # noqa: BLE001 - a property may raise anything, and must not end the host
        return None


def _safe_str(value: object) -> str:
    try:
        return clean(str(value))
    except BaseException as failure:  # noqa: BLE001 - a stranger's __str__ may raise anything
        return f"<{type(value).__name__}: its text cannot be read ({type(failure).__name__})>"


def _window(text: str, limit: int) -> str:
    return cut(clean(text), limit)


def _qualified(kind: type) -> str:
    module = kind.__module__ if isinstance(kind.__module__, str) else "?"
    return clean(f"{module}.{kind.__qualname__}")
