"""What the settings of alerts may say, and that all that is wrong with them is told at once."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from failhook.plugin import ConfigError
from failhook_sinks.alerts.owners import owner_of
from failhook_sinks.alerts.settings import read_settings
from failhook_sinks.alerts.tree import Threshold, every_route

RECEIVERS = """
[receivers.chat]
type = "webhook"
url = "https://example.org/hook"
[receivers.pager]
type = "pagerduty"
routing_key = "0123456789abcdef0123456789abcdef"
"""
ROUTE = RECEIVERS + '\n[route]\nreceiver = "chat"\n'


def read(text, folder=Path()):
    """Return the settings that a table says."""
    return read_settings(tomllib.loads(text), folder)


def problems(text, folder=Path()) -> list[str]:
    """Return everything that is told of a table."""
    with pytest.raises(ConfigError) as caught:
        read(text, folder)
    return [str(each) for each in (caught.value, *caught.value.more)]


def test_one_receiver_needs_no_route():
    """The shortest settings page on what is final, one cause one incident."""
    (route,) = every_route(read(RECEIVERS.partition("[receivers.pager]")[0]).route)

    assert ("chat", "final", ("cause",), 3.0, 300.0, 14_400.0) == (
        route.receiver,
        route.notify_on,
        route.group_by,
        route.group_wait,
        route.group_interval,
        route.repeat_interval,
    )


def test_what_a_route_does_not_say_it_has_from_its_parent():
    """Receiver, times, grouping and what it wants to hear of are inherited; matchers are not."""
    settings = read(
        ROUTE
        + """
group_by = ["team"]
repeat_interval = "1d2h"
notify_on = "nth=3"
[[route.routes]]
match = ["kind = infra", 'node =~ "a|b"']
continue = true
group_wait = 0
threshold = { count = 5, within = "10m", for_each = ["node"] }
[[route.routes.routes]]
receiver = "pager"
match = ["final = true"]
send_resolved = false
[[route.routes]]
match = ["kind = manual"]
"""
    )
    top, infra, final, manual = every_route(settings.route)

    assert ["route", "route.routes[0]", "route.routes[0].routes[0]", "route.routes[1]"] == [
        each.place for each in (top, infra, final, manual)
    ]
    assert ["chat", "chat", "pager", "chat"] == [
        each.receiver for each in (top, infra, final, manual)
    ]
    assert (93_600.0, ("team",), "nth", 3) == (
        final.repeat_interval,
        final.group_by,
        final.notify_on,
        final.nth,
    )
    assert (True, False, False) == (infra.goes_on, final.goes_on, final.send_resolved)
    assert (0.0, Threshold(count=5, within=600.0, for_each=("node",))) == (
        final.group_wait,
        final.threshold,
    )
    assert [False, False, False, True] == [each.manual for each in (top, infra, final, manual)], (
        "a matcher on kind = manual asks for them"
    )


WRONG = {
    "recievers = 1\n" + ROUTE: "recievers is not a setting; did you mean",
    "": "receivers is missing",
    RECEIVERS: "route is missing: which of chat, pager gets what?",
    RECEIVERS + '[route]\ngroup_wait = "3s"': "route.receiver is missing",
    ROUTE + 'match = ["a = b"]': "route.match cannot be set: the topmost route takes everything",
    ROUTE + '[[route.routes]]\nreceiver = "pgaer"': "did you mean pager? allowed: chat, pager",
    ROUTE + 'group_interval = "0s"': "must be a time above 0",
    ROUTE + 'group_by = ["...", "a"]': 'has "...", which is by every label, and more',
    ROUTE + 'group_by = ["a", "a"]': "has 'a' twice",
    ROUTE + 'notify_on = "last"': 'must be one of "final", "every", "first", "nth=3"',
    ROUTE + 'notify_on = "nth=0"': "route.notify_on is 'nth=0'",
    ROUTE + "to_owner = true": "no [plugins.alerts.owners.NAME] has a receiver",
    ROUTE + "threshold = { count = 0, within = 1 }": "threshold.count is 0; it must be",
    ROUTE + "threshold = { count = 2 }": "threshold.within is None; it must be a time",
    ROUTE + '[[route.routes]]\nmatch = ["a"]': "route.routes[0].match[0] is wrong: 'a' is not",
    ROUTE + '[[route.routes]]\nmatch = ["a =~ (?!x)"]': "match[0] is wrong: look-around",
    ROUTE + '[owners.data]\nreceiver = "dta"': "owners.data.receiver is 'dta'; allowed",
    ROUTE + '[owners.data]\nmatches = ["a = b"]': "did you mean plugins.alerts.owners.data.match?",
    ROUTE.replace('type = "web', 'fallback = "chat"\ntype = "web'): "chat.fallback is 'chat'",
    ROUTE.replace('type = "webhook"', 'type = "web"'): "chat.type is 'web'; did you mean webhook?",
    ROUTE.replace("url =", "uri ="): "receivers.chat.url is missing",
    'docs_url = "https://example.org/{why}"\n' + ROUTE: "docs_url has {why}; allowed: {reason}",
    'docs_url = "x"\n' + ROUTE: "docs_url is not such a URL",
    'run_url = "\\u0000"\n' + ROUTE: "run_url is not such a URL",
    'run_url = "https://example.org/a\\u0000"\n' + ROUTE: "run_url has characters that no URL has",
    'run_url = "javascript://x/{run_id}"\n' + ROUTE: "run_url is not such a URL",
    'route_file = "nowhere.yml"\n' + RECEIVERS: "nowhere.yml: No such file or directory",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_setting_is_named_with_what_is_allowed(text):
    """Each error names the setting by its way from the top, and says what it must be."""
    (problem,) = problems(text)

    assert WRONG[text] in problem
    assert problem.startswith("plugins.alerts.")


def test_everything_that_is_wrong_is_told_at_once():
    """One mistake hides no other, and none is told that only follows from another."""
    told = problems(
        ROUTE.replace("url =", "uri =").replace("pagerduty", "pager")
        + """
to_owner = true
[[route.routes]]
receiver = "nobody"
group_wiat = 3
[owners.data]
receiver = "chatt"
"""
    )

    assert [
        "receivers.chat.url",
        "receivers.pager.type",
        "owners.data.receiver",
        "route.routes[0].receiver",
        "route.routes[0].group_wiat",
    ] == [each.removeprefix("plugins.alerts.").partition(" ")[0] for each in told]


def test_fallbacks_lead_in_no_circle():
    """Two receivers that pass to each other would never give up."""
    circle = ROUTE.replace("[receivers.pager]", 'fallback = "pager"\n[receivers.pager]').replace(
        "routing_key", 'fallback = "chat"\nrouting_key'
    )

    assert ["plugins.alerts.receivers.chat.fallback leads in a circle: chat -> pager -> chat"] == (
        problems(circle)
    )


@pytest.mark.parametrize("number", range(2))
def test_the_settings_that_the_docs_show_are_good(number):
    """What a reader copies from the page on alerts can be read."""
    page = (Path(__file__).parents[4] / "docs" / "alerts.md").read_text("utf-8")
    shown = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[number]

    assert "team" == read_settings(tomllib.loads(shown)["plugins"]["alerts"]).route.receiver


def test_the_first_owner_that_matches_owns_it():
    """By matchers, and by the task's own owner where the map gives none."""
    owners = read(
        ROUTE + '[owners.web]\nmatch = ["workflow =~ shop-.*"]\nmention = "@web"\n[owners.data]\n'
    ).owners

    def name(**labels: str) -> str | None:
        found = owner_of(labels, owners)
        return None if found is None else found.name

    assert ("web", "data", None) == (
        name(workflow="shop-eu", owner="data"),
        name(workflow="nightly", owner="data"),
        name(workflow="nightly", owner="ml"),
    )
