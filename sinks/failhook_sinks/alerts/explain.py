"""Why somebody gets an alert, and why somebody does not: every route's answer to one event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from failhook.plugin import FailureEvent
from failhook_sinks.alerts.interest import declines
from failhook_sinks.alerts.moments import happened_at, in_words
from failhook_sinks.alerts.router import Lane, Router
from failhook_sinks.alerts.tree import Route, every_route, routes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one route makes of an event.

    Attributes:
        route: the route; its ``place`` says where it stands.
        taken: whether an alert waits in one of its groups.
        because: one sentence; where the event is taken, what else holds it back, or "".
        receiver: who gets it; "" where it is not taken.
        mention: whom that calls.
        group_key: of the group; "" where it is not taken.
        group_labels: what the group has in common.
        wait: seconds until a new group is sent; one that is there already has its own time, within
            ``route.group_interval``.
    """

    route: Route
    taken: bool
    because: str = ""
    receiver: str = ""
    mention: str = ""
    group_key: str = ""
    group_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    wait: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What the whole tree makes of an event.

    Attributes:
        labels: what it is routed by.
        owner: whom the owner map names; "" for nobody.
        answers: one for each route, parents first.
    """

    labels: Mapping[str, str]
    owner: str
    answers: Sequence[Answer]


def explain(event: FailureEvent, router: Router, *, now: datetime, max_age: float) -> Explanation:
    """Return every route's answer to a failure, or to a success in doubt; nothing is sent.

    Args:
        event: what failed. Recoveries and amendments follow the failure, wherever that went.
        router: the routing tree and the owners.
        now: the time, UTC.
        max_age: seconds; an older event joins its route's summary.
    """
    labels, owner = router.labels(event)
    taken = {route.place for route in routes_of(router.root, labels)}
    lane = lane_of(event, now=now, max_age=max_age)
    refused = dict(_refusals(router.root, labels))
    answers: list[Answer] = []
    for route in every_route(router.root):
        because = refused.get(route.place, "") or declines(route, event)
        if route.place not in taken or because:
            answers.append(Answer(route=route, taken=False, because=because))
            continue
        place = router.place(route, labels, owner, lane)
        answers.append(
            Answer(
                route=route,
                taken=True,
                because=_held_back(route, lane, max_age),
                receiver=place.receiver,
                mention="" if owner is None else owner.mention_at(place.receiver),
                group_key=place.key,
                group_labels=place.labels,
                wait=route.group_wait,
            )
        )
    return Explanation(labels=labels, owner="" if owner is None else owner.name, answers=answers)


def lane_of(event: FailureEvent, *, now: datetime, max_age: float) -> Lane:
    """Return with what an event may be gathered."""
    if event.simulated:
        return "simulated"
    return "older" if (now - happened_at(event)).total_seconds() > max_age else ""


def _held_back(route: Route, lane: Lane, max_age: float) -> str:
    threshold = route.threshold
    if threshold is not None:
        each = f" for each {', '.join(threshold.for_each)}" if threshold.for_each else ""
        within = in_words(threshold.within)
        return f"sent when {threshold.count} have failed within {within}{each}"
    if lane == "older":
        return f"older than {in_words(max_age)}: part of one summary"
    return ""


def _refusals(route: Route, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield place and reason of each route that is not taken, for a route that is looked at."""
    failed = [str(matcher) for matcher in route.matchers if not matcher.matches(labels)]
    if failed:
        yield from _all(route, f"no match: {', '.join(failed)}")
        return
    takers: list[str] = []
    stopped = ""
    for child in route.routes:
        if stopped:
            yield from _all(child, f"{stopped} took it, and does not continue")
            continue
        yield from _refusals(child, labels)
        if child.takes(labels):
            takers.append(child.place)
            stopped = "" if child.goes_on else child.place
    if takers:
        yield route.place, f"{', '.join(takers)} took it"


def _all(route: Route, because: str) -> Iterator[tuple[str, str]]:
    yield route.place, because
    for below in every_route(route)[1:]:
        yield below.place, f"{route.place} above it was not taken"
