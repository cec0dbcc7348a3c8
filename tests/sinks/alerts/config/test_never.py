"""A route that is said to be never reached is never reached."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.plugin import ConfigError, SettingsTable
from failhook_sinks.alerts.problems import Problems
from failhook_sinks.alerts.routes import Reading, read_tree
from failhook_sinks.alerts.tree import Route, routes_of

VALUES = {"a": ("", "1", "2"), "b": ("", "1"), "final": ("true", "false")}
MATCHERS = [
    f"{name} {operator} {value}"
    for name in VALUES
    for operator in ("=", "!=", "=~", "!~")
    for value in ("1", "2", "true", ".*", "1|true", '""')
]
TREES = st.recursive(
    st.fixed_dictionaries(
        {"match": st.lists(st.sampled_from(MATCHERS), max_size=2), "continue": st.booleans()}
    ),
    lambda below: st.fixed_dictionaries(
        {
            "match": st.lists(st.sampled_from(MATCHERS), max_size=2),
            "continue": st.booleans(),
            "routes": st.lists(below, max_size=3),
        }
    ),
    max_leaves=6,
)


def tree_of(routes) -> tuple[Route, list[ConfigError]]:
    """Return a tree, and what is wrong with it."""
    problems = Problems()
    table = SettingsTable({"receiver": "all", "routes": routes}, "route")
    defaults = Route(place="route", receiver="")
    return read_tree(table, defaults, Reading(("all",), owned=False, problems=problems)), (
        problems.found
    )


@given(st.lists(TREES, max_size=3))
def test_no_alert_takes_a_route_that_is_said_to_be_never_reached(routes):
    """Every combination of labels is tried: what `check` refuses is refused with reason."""
    tree, found = tree_of(routes)
    said = {str(each).partition(" ")[0] for each in found}
    reached: set[str] = set()
    for values in product(*VALUES.values()):
        labels = dict(zip(VALUES, values, strict=True))
        reached |= {each.place for each in routes_of(tree, labels)}

    assert not [place for place in reached if any(place.startswith(each) for each in said)]


@pytest.mark.parametrize(
    ("routes", "why"),
    [
        ([{}, {"match": ["a = 1"]}], "route.routes[0] takes all of it before"),
        ([{"match": ["a =~ 1|2"]}, {"match": ["a = 1", "b = 1"]}], "takes all of it before"),
        ([{"match": ["a = 1"], "routes": [{"match": ["a = 2"]}]}], 'a="1" and a="2" exclude'),
        ([{"match": ["kind = infrastructure"]}], "kind is one of infra, application"),
        ([{"match": ["final = yes"]}], "final is one of true, false"),
    ],
)
def test_what_people_get_wrong_is_found(routes, why):
    """A sibling that swallows everything, a contradiction, a word that no label has."""
    (error,) = tree_of(routes)[1]

    assert why in str(error)


def test_a_route_that_goes_on_hides_nothing():
    """With continue the next sibling is tried too."""
    assert [] == tree_of([{"continue": True}, {"match": ["a = 1"]}])[1]
