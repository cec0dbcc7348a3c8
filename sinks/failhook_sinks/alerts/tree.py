"""The routing tree: which routes an alert takes.

It is Alertmanager's (prometheus/alertmanager, dispatch/route.go), decision by decision: a test
compares the two. A route matches when all its matchers do; then its children are tried in order,
and the first that matches ends the search unless it says ``continue``. A route none of whose
children match takes the alert itself. What a route does not say it has from its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from failhook.plugin import Matcher

NotifyOn = Literal["final", "every", "first", "nth"]

BY_ALL: Final = "..."
"""As the one name in ``group_by``: every label, so that each alert is a group of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """So many failures, or nothing is sent.

    Attributes:
        count: how many there must be.
        within: seconds within which they must be.
        for_each: labels whose values are counted apart; none counts everything together.
    """

    count: int
    within: float
    for_each: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One node of the tree, with everything that it has from its parents filled in.

    Attributes:
        place: where it stands in the configuration: ``route``, ``route.routes[1]``.
        receiver: who gets what it takes.
        matchers: all of them must match; none match everything.
        goes_on: try the next sibling too (``continue``).
        group_by: labels whose values part its alerts into groups; ``("...",)`` is by all labels.
        group_wait: seconds until a new group is first sent.
        group_interval: seconds between two looks at a group.
        repeat_interval: seconds after which a group that did not change is sent again.
        send_resolved: whether recoveries are sent.
        notify_on: which failures of a task it wants to hear of.
        nth: the attempt from which on, where `notify_on` is nth.
        to_owner: send to the receiver of the task's owner, where that has one.
        manual: take what people ended themselves, too.
        threshold: how many failures there must be before anything is sent; None sends the first.
        routes: its children.
    """

    place: str
    receiver: str
    matchers: tuple[Matcher, ...] = ()
    goes_on: bool = False
    group_by: tuple[str, ...] = ("cause",)
    group_wait: float = 3.0
    group_interval: float = 300.0
    repeat_interval: float = 14_400.0
    send_resolved: bool = True
    notify_on: NotifyOn = "final"
    nth: int = 1
    to_owner: bool = False
    manual: bool = False
    threshold: Threshold | None = None
    routes: tuple[Route, ...] = ()

    def takes(self, labels: Mapping[str, str]) -> bool:
        """Return whether all its matchers match."""
        return all(matcher.matches(labels) for matcher in self.matchers)

    def group_labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return the labels that decide which of its groups an alert belongs to."""
        names = sorted(labels) if self.group_by == (BY_ALL,) else self.group_by
        return {name: labels[name] for name in names if labels.get(name)}


def routes_of(route: Route, labels: Mapping[str, str]) -> Sequence[Route]:
    """Return the routes that an alert with these labels takes, in order; none where none match."""
    if not route.takes(labels):
        return ()
    taken: list[Route] = []
    for child in route.routes:
        found = routes_of(child, labels)
        taken += found
        if found and not child.goes_on:
            break
    return taken or (route,)


def every_route(route: Route) -> Sequence[Route]:
    """Return a route and all below it, parents first."""
    return [route, *(each for child in route.routes for each in every_route(child))]
