"""The hooks, as data: their arguments, which event goes to which, and what an event offers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from failhook.error_info import ErrorInfo
from failhook.event import EventType, FailureEvent
from failhook.spec import FailureListener

CLASSIFY: Final = "classify_failure"
EVENTS: Final = "events"
"""The part of a plugin that takes events; its other hooks are watched one by one."""

HOOK_OF: Final[Mapping[EventType, str]] = {
    EventType.FAILED: "on_task_failed",
    EventType.AMENDED: "on_failure_amended",
    EventType.RECOVERED: "on_task_recovered",
    EventType.SUSPECT_SUCCESS: "on_suspect_success",
}


def hook_arguments() -> dict[str, tuple[str, ...]]:
    """Return every hook with the names of its arguments, as the specification has them."""
    return {
        name: tuple(inspect.signature(function).parameters)[1:]
        for name, function in vars(FailureListener).items()
        if inspect.isfunction(function)
    }


def part_of(hook: str) -> str:
    """Return the part of a plugin that a hook is watched as."""
    return EVENTS if hook in HOOK_OF.values() else hook


def offered(event: FailureEvent, error: ErrorInfo | None = None) -> dict[str, Any]:
    """Return what an event offers to its hooks, by argument.

    Args:
        event: what happened.
        error: the error as the process that raised it knows it. Only its live exception is taken:
            the event's own texts are the redacted ones.
    """
    event = event.without_exception()
    told = event.error
    if told is not None and error is not None:
        told = replace(told, exception=error.exception)
    return {
        "task": event.task,
        "error": told,
        "failure_details": event.failure_details,
        "decision": event.decision,
        "previous": event.previous,
        "event": event,
    }
