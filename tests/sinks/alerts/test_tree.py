"""The routing tree decides as Alertmanager's does."""

from __future__ import annotations

from failhook.plugin import parse_matcher
from failhook_sinks.alerts.tree import Route, every_route, routes_of


def route(receiver: str, *texts: str, **more) -> Route:
    """A route with these matchers."""
    return Route(
        place=receiver, receiver=receiver, matchers=tuple(map(parse_matcher, texts)), **more
    )


TREE = route(
    "everybody",
    routes=(
        route("platform", "kind = infra"),
        route("audit", "env = prod", goes_on=True),
        route("data", 'team =~ "data|etl"', routes=(route("pager", "final = true"),)),
        route("nameless", "team ="),
    ),
)


def receivers(**labels: str) -> list[str]:
    """Return who gets an alert."""
    return [each.receiver for each in routes_of(TREE, labels)]


def test_the_first_child_that_matches_ends_the_search():
    """Infra goes to the platform, and to nobody after it."""
    assert ["platform"] == receivers(kind="infra", team="data", final="true")


def test_continue_tries_the_next_sibling_too():
    """A route that goes on takes the alert beside the next one that matches."""
    assert ["audit", "pager"] == receivers(env="prod", team="etl", final="true")


def test_a_route_none_of_whose_children_match_takes_the_alert_itself():
    """What is not final stays with the team's channel; what nobody matches, with the root."""
    assert ["data"] == receivers(team="data", final="false")
    assert ["everybody"] == receivers(team="web")


def test_a_missing_label_counts_as_empty():
    """A matcher for the empty value takes an alert that has no such label."""
    assert ["nameless"] == receivers(kind="application")


def test_a_route_that_does_not_match_hides_its_children():
    """Nothing below a root that does not match is looked at."""
    assert [] == list(routes_of(route("data", "team = data", routes=(TREE,)), {"team": "web"}))


def test_every_route_is_listed_parents_first():
    """A check of the configuration sees each route once."""
    assert ["everybody", "platform", "audit", "data", "pager", "nameless"] == [
        each.receiver for each in every_route(TREE)
    ]


def test_groups_are_parted_by_the_labels_that_the_route_names():
    """Only these decide, empty ones do not, and ``...`` means all."""
    labels = {"cause": "NodeLost/node-7", "task": "load"}

    assert {"cause": "NodeLost/node-7"} == route("all", group_by=("cause", "team")).group_labels(
        labels
    )
    assert labels == route("all", group_by=("...",)).group_labels(labels)
    assert {} == route("all", group_by=()).group_labels(labels)
