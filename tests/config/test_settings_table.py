"""A plugin's settings are read key by key, and whatever is wrong is named with what is allowed."""

from __future__ import annotations

import pytest

from failhook.plugin import ConfigError, SettingsTable

GIVEN = {
    "name": "ops",
    "limit": 3,
    "on": True,
    "wait": "1h30m",
    "mode": "all",
    "match": ["kind = infra", 'team =~ "a|b"'],
    "inner": {"depth": 1},
    "many": [{"n": 1}, {"n": 2}],
    "by": {"one": {"n": 1}, "two": {"n": 2}},
}


def table(**more: object) -> SettingsTable:
    """Return the settings of a plugin."""
    return SettingsTable({**GIVEN, **more}, "plugins", "pager")


def test_every_kind_of_value_is_read():
    """And a default stands in for what is missing."""
    read = table()

    assert ("ops", "x") == (read.text("name"), read.text("none", "x"))
    assert (3, 7) == (read.integer("limit"), read.integer("none", 7))
    assert (True, False) == (read.flag("on", default=False), read.flag("none", default=False))
    assert (5400.0, 2.5) == (read.seconds("wait"), read.seconds("none", 2.5))
    assert ("all", "some") == (
        read.choice("mode", ("all", "some")),
        read.choice("none", ("all", "some"), "some"),
    )
    assert (("x",), tuple(GIVEN["match"])) == (read.texts("none", ["x"]), read.texts("match"))
    assert ['kind="infra"', 'team=~"a|b"'] == [str(each) for each in read.matchers("match")]
    inner = read.table("inner")
    assert inner is not None
    assert ("plugins.pager.inner", 1) == (inner.place, inner.integer("depth"))
    assert [1, 2] == [each.integer("n") for each in read.tables("many")]
    assert {"one": 1, "two": 2} == {
        name: each.integer("n") for name, each in read.named("by").items()
    }
    assert (None, (), {}) == (read.table("none"), read.tables("none"), read.named("none"))
    assert "name" in read
    read.done()


WRONG = {
    "missing": (lambda read: read.text("gone"), "gone is missing; it must be a string that is"),
    "text": (lambda read: read.text("limit"), "limit is 3; it must be a string that is not empty"),
    "integer": (lambda read: read.integer("on"), "on is true; it must be a whole number, 0 or m"),
    "least": (lambda read: read.integer("limit", least=4), "limit is 3; it must be a whole numbe"),
    "flag": (lambda read: read.flag("name", default=True), "name is 'ops'; it must be true or"),
    "seconds": (lambda read: read.seconds("name"), "name is 'ops'; it must be a time: seconds,"),
    "negative": (lambda read: read.seconds("minus"), "minus is -1; it must be a time: seconds, "),
    "endless": (lambda read: read.seconds("long"), "long is 1000000000000.0; it must be a time:"),
    "above": (lambda read: read.seconds("nil", above=0), "nil is 0; it must be a time above 0:"),
    "choice": (
        lambda read: read.choice("mode", ("tall", "short")),
        "mode is 'all'; did you mean tall? allowed: tall, short",
    ),
    "texts": (lambda read: read.texts("name"), "name is 'ops'; it must be a list of strings:"),
    "entries": (lambda read: read.texts("many"), "many is a list; it must be a list of strings"),
    "matcher": (lambda read: read.matchers("bad"), "bad[1] is wrong: 'b ~ c' is not a matcher;"),
    "table": (lambda read: read.table("on"), "on is true; it must be a table: [plugins.pager.on]"),
    "tables": (lambda read: read.tables("inner"), "inner is a table; write [[plugins.pager.inner"),
    "entry": (lambda read: read.tables("match"), "match[0] is 'kind = infra'; it must be a table"),
    "named": (lambda read: read.named("inner"), "inner.depth is 1; it must be a table: [plugins."),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_named_with_what_is_allowed(case):
    """The error carries the way to it, by which failhook finds the line."""
    read, message = WRONG[case]

    with pytest.raises(ConfigError) as caught:
        read(table(minus=-1, nil=0, long=1e12, bad=["a = b", "b ~ c"]))

    assert str(caught.value).startswith(f"plugins.pager.{message}")
    assert ("plugins", "pager") == caught.value.keys[:2]


def test_a_key_that_nobody_asked_for_is_refused_with_a_guess():
    """A misspelt setting changes nothing silently."""
    read = SettingsTable({"chanel": "#ops"}, "plugins", "pager")
    read.text("channel", "#all")

    with pytest.raises(ConfigError) as caught:
        read.done()

    said = "plugins.pager.chanel is not a setting; did you mean plugins.pager.channel? allowed: "
    assert f"{said}channel" == str(caught.value)
