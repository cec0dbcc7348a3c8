"""Routes that nothing can ever take: a mistake that no error would show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from failhook.plugin import Action, Confidence, Kind, Matcher
from failhook_sinks.alerts.tree import Route

_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "alertname": ("TaskFailed", "SuspectSuccess"),
    "kind": tuple(kind.value for kind in Kind),
    "confidence": tuple(confidence.value for confidence in Confidence),
    "action": (*(action.value for action in Action), ""),
    "final": ("true", "false"),
    "simulated": ("true", ""),
}
"""Labels with a closed set of values, "" where it may be missing; no task's own hides these."""


def never_reached(route: Route, matched: Sequence[Matcher], earlier: Sequence[Route]) -> str:
    """Return why nothing can ever take a route, or "".

    It finds what can be told for certain, and does not reason about regular expressions.

    Args:
        route: the route.
        matched: the matchers of all its parents, which match what comes here.
        earlier: the siblings that are tried before it.
    """
    given = (*matched, *route.matchers)
    for matcher in route.matchers:
        values = _VALUES.get(matcher.name)
        if values and not any(matcher.matches({matcher.name: value}) for value in values):
            allowed = ", ".join(value or '""' for value in values)
            return f"{matcher} never matches; {matcher.name} is one of {allowed}"
    for one in given:
        if one.operator == "=":
            label = {one.name: one.value}
            for other in given:
                if other.name == one.name and not other.matches(label):
                    above, below = sorted((one, other), key=given.index)
                    return f"{above} and {below} exclude each other"
    for sibling in earlier:
        if not sibling.goes_on and all(_holds(each, given) for each in sibling.matchers):
            return f"{sibling.place} takes all of it before, and does not continue"
    return ""


def _holds(matcher: Matcher, given: Sequence[Matcher]) -> bool:
    """Return whether a matcher must match where all of `given` do."""
    if matcher in given or (matcher.operator == "=~" and matcher.value == ".*"):
        return True
    return any(
        each.operator == "="
        and each.name == matcher.name
        and matcher.matches({each.name: each.value})
        for each in given
    )
