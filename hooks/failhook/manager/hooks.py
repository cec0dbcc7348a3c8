"""The hooks, as data: their arguments, which event goes to which, and what an event offers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from failhook.event import EventType, FailureEvent
from failhook.spec import FailureListener

CLASSIFY: Final = "classify_failure"
EVENTS: Final = "events"
"""The part of a plugin that takes events; its other hooks are watched one by one."""

GROUP: Final = "group_event"
DUE: Final = "on_group_due"
DROPPED: Final = "on_events_dropped"

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
    return EVENTS if hook in (*HOOK_OF.values(), GROUP, DUE) else hook


def offered(event: FailureEvent) -> dict[str, Any]:
    """Return what an event offers to its hooks, by argument.

    A live exception is lent as ``error`` alone: nothing live can be reached from ``event``.
    """
    return {
        "task": event.task,
        "error": event.error,
        "failure_details": event.failure_details,
        "decision": event.decision,
        "previous": event.previous,
        "event": event.without_exception(),
    }
