"""The routes of an Alertmanager's own file are read as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from failhook.plugin import ConfigError
from failhook_sinks.alerts.settings import read_settings
from failhook_sinks.alerts.tree import every_route

RECEIVERS = {
    name: {"type": "webhook", "url": f"https://example.org/{name}"} for name in ("team", "pager")
}
FILE = """
global:
  resolve_timeout: 5m
templates: ['*.tmpl']
x-times: &times
  group_wait: 10s
  repeat_interval: 1d2h
route:
  receiver: team
  group_by: ['...']
  routes:
    - matchers: [ severity =~ "critical|page", '{team="a,b", env != dev}' ]
      receiver: pager
      continue: yes
      <<: *times
    - match: { team: web, tier: 1 }
      match_re: { service: ^(foo1|foo2)$ }
      repeat_interval: 1y
receivers:
  - name: team
    slack_configs: [{channel: '#team'}]
inhibit_rules: []
"""


def read(folder, text, **more):
    """Return the settings with this file as their routes."""
    (folder / "alertmanager.yml").write_text(text)
    return read_settings({"route_file": "alertmanager.yml", "receivers": RECEIVERS, **more}, folder)


def problems(folder, text) -> list[str]:
    """Return everything that is told of a file."""
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    for each in (caught.value, *caught.value.more):
        assert ("plugins", "alerts", "route_file") == each.keys
    return [str(each).removeprefix(f"{folder}/") for each in (caught.value, *caught.value.more)]


def test_the_file_is_read_as_it_is(tmp_path):
    """Old and new matchers, anchors, units, and Alertmanager's own defaults."""
    top, first, second = every_route(read(tmp_path, FILE).route)

    assert (("...",), 30.0, 300.0, 14_400.0) == (
        top.group_by,
        top.group_wait,
        top.group_interval,
        top.repeat_interval,
    )
    assert ['severity=~"critical|page"', 'team="a,b"', 'env!="dev"'] == [
        str(each) for each in first.matchers
    ]
    assert (True, "pager", 10.0, 93_600.0) == (
        first.goes_on,
        first.receiver,
        first.group_wait,
        first.repeat_interval,
    )
    assert ['team="web"', 'tier="1"', 'service=~"^(foo1|foo2)$"'] == [
        str(each) for each in second.matchers
    ]
    assert (365 * 86_400.0, "team") == (second.repeat_interval, second.receiver)


def test_without_group_by_everything_is_one_group(tmp_path):
    """As in Alertmanager, and unlike routes in TOML."""
    assert () == read(tmp_path, "route: {receiver: team}").route.group_by


def test_what_the_file_cannot_say_stands_in_the_settings(tmp_path):
    """Which attempts are told is failhook's own, and holds for all routes of the file."""
    read_ = read(tmp_path, FILE, route={"notify_on": "every", "notify_manual": True})

    assert {("every", True)} == {(each.notify_on, each.manual) for each in every_route(read_.route)}
    with pytest.raises(ConfigError, match=r"route.receiver is not a setting"):
        read(tmp_path, FILE, route={"receiver": "team"})


BOMB = "b0: &b0 {}\n" + "".join(
    f"b{level}: &b{level} {{<<: [{', '.join([f'*b{level - 1}'] * 12)}]}}\n" for level in range(1, 9)
)
"""Mappings that merge themselves twelve times over, eight times: in 600 bytes."""

WRONG = {
    "route:\n  receiver: team\n  routes:\n  - receiver: tema\n": (
        "alertmanager.yml:4: route.routes[0].receiver is 'tema'; did you mean team?"
    ),
    "route:\n  receiver: team\n  grup_by: [a]\n": (
        "alertmanager.yml:3: route.grup_by is not a key of a route; allowed: receiver"
    ),
    "route:\n  receiver: team\n  routes:\n  - matchers:\n    - a = b\n    - nonsense\n": (
        "alertmanager.yml:6: route.routes[0].matchers is wrong: 'nonsense' is not a matcher"
    ),
    "route:\n  receiver: team\n  routes:\n  - mute_time_intervals: [night]\n": (
        "alertmanager.yml:4: route.routes[0].mute_time_intervals is Alertmanager's to do"
    ),
    "route: {receiver: team}\ninhibit_rules:\n- equal: [a]\n": (
        "alertmanager.yml:2: inhibit_rules is Alertmanager's to do: send to it"
    ),
    "route: {receiver: team}\nroute: {}\n": "alertmanager.yml:2: route is there twice",
    "route: [\n": "alertmanager.yml:2: not valid YAML",
    "receivers: []\n": "alertmanager.yml:1: route is missing",
    "a: &a [*a]\nroute: *a\n": "nested too deeply",
    BOMB: "it has more than 50,000 values",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_told_with_the_line_of_the_file(text, tmp_path):
    """What failhook does not do is refused by name, and nothing is passed over."""
    (problem,) = problems(tmp_path, text)

    assert WRONG[text] in problem


LABEL = st.sampled_from(["team", "env", "x_1"])
VALUE = st.text(alphabet='ab"\\,={} ', max_size=4)
ROUTES = st.recursive(
    st.fixed_dictionaries({}),
    lambda below: st.fixed_dictionaries(
        {},
        optional={
            "receiver": st.sampled_from([*RECEIVERS]),
            "match": st.dictionaries(LABEL, VALUE, max_size=2),
            "continue": st.booleans(),
            "group_wait": st.sampled_from(["0s", "30s", "1h30m"]),
            "group_by": st.lists(LABEL, unique=True, min_size=1, max_size=2),
            "routes": st.lists(below, max_size=2),
        },
    ),
    max_leaves=5,
)


@given(ROUTES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_the_same_routes_are_the_same_tree_in_both_languages(tmp_path, route):
    """Whatever stands in quotes, lists and mappings: YAML and TOML mean the same."""
    yaml = pytest.importorskip("yaml")
    shape = {**route, "receiver": "team"}
    shape.pop("match", None)
    shape.pop("continue", None)
    as_toml = {"group_by": [], "group_wait": "30s", **_toml(shape)}

    def outcome(read_):
        try:
            return read_().route
        except ConfigError as error:
            return len(error.more)

    expected = outcome(lambda: read_settings({"route": as_toml, "receivers": RECEIVERS}))
    assert expected == outcome(
        lambda: read(tmp_path, yaml.safe_dump({"route": shape}, sort_keys=False))
    )


def _toml(route):
    matchers = [
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"'))
        for name, value in route.get("match", {}).items()
    ]
    below = [_toml(each) for each in route.get("routes", ())]
    rest = {name: each for name, each in route.items() if name not in ("match", "routes")}
    return {**rest, "match": matchers, "routes": below} if matchers else {**rest, "routes": below}


def test_the_defaults_differ_where_alertmanagers_do(tmp_path):
    """A file that says nothing of times gets Alertmanager's, TOML gets ours."""
    ours = read_settings({"route": {"receiver": "team"}, "receivers": RECEIVERS}).route
    theirs = read(tmp_path, "route: {receiver: team}").route

    assert theirs == replace(ours, group_by=(), group_wait=30.0)
