"""Which of the failures that a route matches it wants to hear of."""

from __future__ import annotations

from failhook.plugin import EventType, FailureEvent, Kind
from failhook_sinks.alerts.tree import Route


def declines(route: Route, event: FailureEvent) -> str:
    """Return why a route that matches a failure does not want it; "" where it does."""
    if event.type is EventType.SUSPECT_SUCCESS:
        return "" if route.notify_on == "every" else "a success in doubt: only notify_on = every"
    if event.failure_details.kind is Kind.MANUAL and not route.manual:
        return "somebody ended it: only notify_manual, or a matcher kind = manual"
    if event.final or _early(route, event):
        return ""
    how = f"nth={route.nth}" if route.notify_on == "nth" else route.notify_on
    return f"attempt {event.task.attempt} is not the end of it: notify_on is {how}"


def _early(route: Route, event: FailureEvent) -> bool:
    """Return whether a route wants a failure that is not final."""
    match route.notify_on:
        case "every":
            return True
        case "first":
            return event.first_failure is None
        case "nth":
            return event.task.attempt >= route.nth
        case "final":
            return False
