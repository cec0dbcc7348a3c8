"""Find the mark that a task or a plugin left, however deep it is wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from failhook.capture.stranger import (
    MESSAGE_WINDOW,
    arguments,
    links,
    members,
    of_type,
    quietly,
    scalar,
    text_of,
)
from failhook.error_info import Mark
from failhook.errors import TaskError

_MAX_SEARCH: Final = 4_096
_MAX_ARGUMENTS: Final = 4


def find_mark(exception: BaseException) -> Mark | None:
    """Return what the nearest `TaskError` says, at any depth of cause, context or group.

    Breadth first; a suppressed context is searched too, and so are exceptions that a wrapper
    carries as its arguments or in a future (tenacity's RetryError). A cycle ends the search.
    """
    queue: list[BaseException] = [exception]
    seen = {id(exception)}
    for current in queue:
        if of_type(current, TaskError):
            return _mark(current)
        for nested in _nested(current):
            if id(nested) not in seen and len(seen) < _MAX_SEARCH:
                seen.add(id(nested))
                queue.append(nested)
    return None


def _nested(exception: BaseException) -> Iterator[BaseException]:
    for _, nested in links(exception, hidden=True):
        yield nested
    yield from members(exception)[:_MAX_SEARCH]
    for argument in arguments(exception)[:_MAX_ARGUMENTS]:
        if of_type(argument, BaseException):
            yield argument
    attempt = quietly(exception, "last_attempt")
    if attempt is not None:
        inner = quietly(attempt, "_exception")
        if of_type(inner, BaseException):
            yield inner


def _mark(error: BaseException) -> Mark:
    code = scalar(quietly(error, "code"))
    kind = scalar(quietly(error, "kind"))
    deterministic = quietly(error, "deterministic")
    retry_after = scalar(quietly(error, "retry_after"))
    if isinstance(retry_after, bool) or not isinstance(retry_after, int | float):
        retry_after = None
    return Mark(
        message=text_of(error, MESSAGE_WINDOW),
        code=code if isinstance(code, str) else None,
        kind=kind if isinstance(kind, str) else None,
        deterministic=deterministic if type(deterministic) is bool else None,
        retry_after=None if retry_after is None else max(0.0, float(retry_after)),
    )
