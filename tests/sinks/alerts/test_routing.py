"""Routing and grouping by labels, beside a real Alertmanager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from failhook.plugin import Matcher
from failhook_sinks.alerts.tree import Route, every_route, routes_of
from tests.alertmanager import running
from tests.outbox.world import until

TREES, ALERTS = 100, 40
NAMES, VALUES = "abc", ("x", "y", "xy", "z")
PATTERNS = ("x|y", ".*", ".+", "x.*", "[xy]", "y?", "", "(?:x|z)", "xy?", "[^x]+", "x{1,2}")

Labels = Mapping[str, str]
Outcome = dict[tuple[tuple[str, str], ...], tuple[list[str], set[tuple[str, str]]]]
"""For each alert: its receivers in order; receiver and labels of each group that it is in."""


def random_route(random: Random, place: str, depth: int) -> Route:
    """Return a random route with a receiver of its own, and routes below it."""
    matchers: list[Matcher] = []
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        operator = random.choice(("=", "!=", "=~", "!~"))
        value = random.choice(PATTERNS if "~" in operator else ("", *VALUES))
        matchers.append(Matcher(random.choice(NAMES), operator, value))
    count = random.choice((0, 1, 2, 3)) if depth else 0
    return Route(
        place=place,
        receiver=place,
        matchers=tuple(matchers),
        goes_on=random.random() < 0.4,
        group_by=random.choice((("a",), ("b", "a"), ("c", "none"), ("...",))),
        routes=tuple(random_route(random, f"{place}.{n}", depth - 1) for n in range(count)),
    )


def forest(random: Random, trees: int = TREES) -> Route:
    """Return many random trees below one root, each for the alerts of its own number."""
    routes = tuple(
        replace(
            random_route(random, f"r{n}", 3),
            matchers=(Matcher("tree", "=", str(n)),),
            goes_on=False,
        )
        for n in range(trees)
    )
    return Route(place="root", receiver="root", group_by=(), routes=routes)


def random_alerts(random: Random, trees: int = TREES) -> Sequence[Labels]:
    """Return random alerts, some without some labels; no two of one tree are alike."""
    alerts: list[Labels] = []
    for tree in range(trees):
        for number in range(ALERTS):
            labels = {name: random.choice(VALUES) for name in NAMES if random.random() < 0.7}
            alerts.append({"tree": str(tree), "number": str(number), **labels})
    return alerts


def ours(root: Route, alerts: Sequence[Labels]) -> Outcome:
    """Return where our tree sends each alert."""
    return {
        identity(labels): (
            [route.receiver for route in routes_of(root, labels)],
            {
                (route.receiver, str(sorted(route.group_labels(labels).items())))
                for route in routes_of(root, labels)
            },
        )
        for labels in alerts
    }


def theirs(root: Route, alerts: Sequence[Labels]) -> Outcome:
    """Return where a real Alertmanager sends each alert."""
    receivers = [{"name": route.receiver} for route in every_route(root)]
    config = {"route": as_yaml(root), "receivers": receivers}
    end = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    with running(config) as server:
        for first in range(0, len(alerts), 500):
            batch = alerts[first : first + 500]
            server.post("/api/v2/alerts", [{"labels": dict(a), "endsAt": end} for a in batch])
        outcome: Outcome = {
            identity(alert["labels"]): ([each["name"] for each in alert["receivers"]], set())
            for alert in server.get("/api/v2/alerts")
        }
        wanted = sum(len(set(names)) for names, _ in outcome.values())
        assert until(lambda: wanted == len(list(memberships(server.get("/api/v2/alerts/groups")))))
        for labels, membership in memberships(server.get("/api/v2/alerts/groups")):
            outcome[labels][1].add(membership)
    return outcome


def memberships(groups) -> Iterator[tuple[tuple[tuple[str, str], ...], tuple[str, str]]]:
    """Yield each alert of each group, with the group's receiver and labels."""
    for group in groups:
        place = (group["receiver"]["name"], str(sorted(group["labels"].items())))
        for alert in group["alerts"]:
            yield identity(alert["labels"]), place


def as_yaml(route: Route) -> dict[str, object]:
    """Return a route as Alertmanager's configuration has it; nothing is ever sent."""
    return {
        "receiver": route.receiver,
        "continue": route.goes_on,
        "group_by": list(route.group_by),
        "group_wait": "1h",
        **({"matchers": [str(each) for each in route.matchers]} if route.matchers else {}),
        "routes": [as_yaml(child) for child in route.routes],
    }


def identity(labels: Labels) -> tuple[tuple[str, str], ...]:
    """Return labels as a key."""
    return tuple(sorted(labels.items()))


def without_continue(route: Route) -> Route:
    """Return a tree with a fault: none of its routes goes on."""
    return replace(route, goes_on=False, routes=tuple(map(without_continue, route.routes)))


@pytest.mark.requires_service("alertmanager")
def test_routing_equals_alertmanagers():
    """No difference in 100 random trees with 40 random alerts each; a planted fault is seen."""
    random = Random(20260329)
    root, alerts = forest(random), random_alerts(random)
    expected = theirs(root, alerts)

    assert TREES * ALERTS == len(expected)
    differ = [key for key, found in ours(root, alerts).items() if expected[key] != found]
    assert [] == differ
    faulty = ours(without_continue(root), alerts)
    assert [key for key, found in faulty.items() if expected[key] != found]
