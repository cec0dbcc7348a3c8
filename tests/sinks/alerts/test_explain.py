"""Why somebody gets an alert, and why somebody does not."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from failhook.plugin import Task, parse_matcher
from failhook.policy import Policy
from failhook_sinks.alerts.explain import explain
from failhook_sinks.alerts.owners import Owner
from failhook_sinks.alerts.router import Router
from failhook_sinks.alerts.tree import Route, Threshold, routes_of
from tests.sinks.alerts.test_routing import forest, random_alerts
from tests.sinks.log.events import BROKEN, LOST, event

NOW = event().observed_at


def under(place: str, *texts: str, **more) -> Route:
    """Return a route with these matchers."""
    return Route(place=place, receiver=place, matchers=tuple(map(parse_matcher, texts)), **more)


ROOT = under(
    "route",
    routes=(
        under("platform", "kind = infra", routes=(under("gpu", "node =~ gpu.*"),)),
        under("audit", "env = prod", goes_on=True, notify_on="every"),
        under("data", "workflow = nightly", threshold=Threshold(count=3, within=600)),
        under("rest", "task =~ .*"),
    ),
)


def reasons(happened, **more) -> dict[str, str]:
    """Return what each route says; "takes it" stands before what it says where it takes it."""
    said = explain(happened, Router(ROOT, **more), now=NOW, max_age=3_600).answers
    return {
        each.route.place: f"takes it; {each.because}".rstrip("; ") if each.taken else each.because
        for each in said
    }


def test_each_route_says_why():
    """No match, a sibling before it, a route above it, or one below it: each in its words."""
    task = Task("nightly", "load", labels={"env": "prod"})

    assert {
        "route": "audit, data took it",
        "platform": 'no match: kind="infra"',
        "gpu": "platform above it was not taken",
        "audit": "takes it",
        "data": "takes it; sent when 3 have failed within 10m",
        "rest": "data took it, and does not continue",
    } == reasons(event(task=task, details=BROKEN))


def test_a_route_that_does_not_want_to_hear_yet_says_so():
    """It matches, and waits for the end of retries."""
    waits = event(details=LOST, policy=Policy(max_infra_refunds=3))

    said = reasons(waits)
    assert "attempt 1 is not the end of it: notify_on is final" == said["platform"]
    assert 'no match: node=~"gpu.*"' == said["gpu"]


def test_what_is_old_is_part_of_a_summary():
    """It says so, and names another group."""
    router = Router(under("route"))
    fresh, old = (
        explain(event(details=BROKEN), router, now=NOW + age, max_age=3_600).answers[0]
        for age in (timedelta(), timedelta(hours=2))
    )

    assert ("", "older than 1h: part of one summary") == (fresh.because, old.because)
    assert fresh.group_key != old.group_key
    assert ({}, 3.0) == (dict(old.group_labels), old.wait)


def test_owner_and_receiver_are_named():
    """Whom the owner map names gets it where a route says to_owner."""
    owner = Owner(name="etl", matchers=(parse_matcher("task = load"),), receiver="x", mention="@e")
    router = Router(under("route", to_owner=True), [owner])

    said = explain(event(details=BROKEN), router, now=NOW, max_age=3_600)
    assert ("etl", "etl") == (said.owner, said.labels["owner"])
    assert ("x", "@e") == (said.answers[0].receiver, said.answers[0].mention)


@pytest.mark.parametrize("seed", range(3))
def test_the_explanation_agrees_with_the_tree(seed):
    """Whatever the tree: a route is taken where the tree takes it, and says why it is not else."""
    random = Random(seed)
    root, alerts = forest(random, trees=8), random_alerts(random, trees=8)
    router = Router(root)
    for labels in alerts[::4]:
        happened = event(task=Task("nightly", "load", labels=labels), details=BROKEN)
        said = explain(happened, router, now=NOW, max_age=3_600)

        taken = [each.route.receiver for each in said.answers if each.taken]
        wanted = {route.receiver for route in routes_of(root, said.labels)}
        assert wanted == set(taken)
        assert all(each.because for each in said.answers if not each.taken)


def test_a_group_keeps_its_key_while_its_route_means_the_same():
    """Where it stands in the file does not matter; what it matches and who gets it does."""
    labels = {"cause": "KeyError/1"}

    def key(route: Route) -> str:
        return Router(under("route", routes=(route,))).place(route, labels, None).key

    one = under("a", "task = x")
    moved = Route(place="b", receiver="a", matchers=one.matchers, group_wait=60)
    other = Route(place="a", receiver="a", matchers=(parse_matcher("task = y"),))
    assert key(one) == key(moved)
    assert key(one) != key(other)
