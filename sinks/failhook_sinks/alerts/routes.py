"""The routing tree as it is written down, with what each route does not say from its parent."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from failhook.plugin import ConfigError, Matcher, SettingsTable
from failhook_sinks.alerts.never import never_reached
from failhook_sinks.alerts.problems import Problems
from failhook_sinks.alerts.tree import BY_ALL, NotifyOn, Route, Threshold

_NOTIFY_ON: Final = re.compile(r"(final|every|first)|nth=([1-9][0-9]{0,5})")
_CLASS: Final = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_NOT_RE2: Final = re.compile(r"\(\?(?:=|!|<=|<!|P=|>|\()|[*+?}]\+|\{,\d+\}")
_BACK: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]")
"""What Python's regular expressions have, and Alertmanager's have not or read otherwise."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What routes are read with.

    Attributes:
        receivers: their names.
        owned: whether any owner has a receiver.
        problems: takes what is wrong.
    """

    receivers: Collection[str]
    owned: bool
    problems: Problems


def read_tree(table: SettingsTable, above: Route, reading: Reading) -> Route:
    """Read a route that takes everything, and all below it.

    Args:
        table: the topmost route.
        above: the defaults.
        reading: what to read with; wrong settings are noted there, and the rest is read.
    """
    for name in ("match", "continue"):
        if name in table:
            table.value(name)
            problem = "cannot be set: the topmost route takes everything; write it in one below"
            reading.problems.found.append(table.error(name, problem))
    if "receiver" not in table:
        listed = ", ".join(reading.receivers) or "none, see [plugins.alerts.receivers.NAME]"
        problem = f"is missing: who gets what no route below takes? There are {listed}"
        reading.problems.found.append(table.error("receiver", problem))
    return _read(table, above, (), reading)


def read_ours(table: SettingsTable, above: Route, reading: Reading) -> Route:
    """Read what Alertmanager's routes do not have: whom and what a route wants to hear of."""
    take = reading.problems.take
    notify_on, nth = take(lambda: _notify_on(table, above), (above.notify_on, above.nth))
    to_owner = take(lambda: table.flag("to_owner", above.to_owner), above.to_owner)
    if to_owner and "to_owner" in table and not reading.owned:
        problem = "is true, but no [plugins.alerts.owners.NAME] has a receiver"
        reading.problems.found.append(table.error("to_owner", problem))
    return replace(
        above,
        notify_on=notify_on,
        nth=nth,
        to_owner=to_owner,
        manual=take(lambda: table.flag("notify_manual", above.manual), above.manual),
        send_resolved=take(
            lambda: table.flag("send_resolved", above.send_resolved), above.send_resolved
        ),
        threshold=take(lambda: _threshold(table, above), above.threshold),
    )


def _read(
    table: SettingsTable, above: Route, matched: tuple[Matcher, ...], reading: Reading
) -> Route:
    """Read a route below another.

    Args:
        table: the route.
        above: its parent.
        matched: the matchers of all its parents.
        reading: what to read with.
    """
    take = reading.problems.take
    matchers: tuple[Matcher, ...] = take(lambda: _matchers(table), ())
    route = read_ours(table, above, reading)
    route = replace(
        route,
        place=table.place.removeprefix("plugins.alerts."),
        receiver=take(lambda: _receiver(table, above, reading), above.receiver),
        matchers=matchers,
        goes_on=take(lambda: table.flag("continue", False), False),  # noqa: FBT003 - its default
        group_by=take(lambda: _group_by(table, above), above.group_by),
        group_wait=take(lambda: table.seconds("group_wait", above.group_wait), above.group_wait),
        group_interval=take(
            lambda: table.seconds("group_interval", above.group_interval, above=0),
            above.group_interval,
        ),
        repeat_interval=take(
            lambda: table.seconds("repeat_interval", above.repeat_interval, above=0),
            above.repeat_interval,
        ),
        manual=route.manual or any(map(_asks_for_manual, matchers)),
        routes=(),
    )
    below: Sequence[SettingsTable] = take(lambda: table.tables("routes"), ())
    with reading.problems.noted():
        table.done()
    matched = (*matched, *matchers)
    children: list[Route] = []
    known: list[Route] = []
    for inner in below:
        child = _read(inner, route, matched, reading)
        why = never_reached(child, matched, known)
        if why:
            reading.problems.found.append(inner.error(None, f"is never reached: {why}"))
        children.append(child)
        if _is_sound(inner):
            known.append(child)
    return replace(route, routes=tuple(children))


def _matchers(table: SettingsTable) -> tuple[Matcher, ...]:
    matchers = table.matchers("match")
    for number, matcher in enumerate(matchers):
        if matcher.operator in ("=~", "!~") and _beyond_re2(matcher.value):
            where = SettingsTable({}, *table.keys, "match")
            what = "look-around, references back, possessive and atomic parts and {,n}"
            raise where.error(number, f"is wrong: {what} are not in RE2")
    return matchers


def _beyond_re2(expression: str) -> bool:
    outside = _CLASS.sub("x", expression)
    return bool(_NOT_RE2.search(outside) or _BACK.search(expression))


def _is_sound(table: SettingsTable) -> bool:
    """Return whether the matchers of a route could be read; what it takes is not known else."""
    try:
        _matchers(table)
    except ConfigError:
        return False
    return True


def _receiver(table: SettingsTable, above: Route, reading: Reading) -> str:
    if table.value("receiver") is None:
        return above.receiver
    return table.choice("receiver", tuple(reading.receivers))


def _notify_on(table: SettingsTable, above: Route) -> tuple[NotifyOn, int]:
    text = table.value("notify_on")
    if text is None:
        return above.notify_on, above.nth
    found = _NOTIFY_ON.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise table.wrong("notify_on", 'one of "final", "every", "first", "nth=3"')
    return cast("NotifyOn", found[1] or "nth"), int(found[2] or 1)


def _group_by(table: SettingsTable, above: Route) -> tuple[str, ...]:
    names = table.texts("group_by", above.group_by)
    if BY_ALL in names and len(names) > 1 and "group_by" in table:
        raise table.error("group_by", f'has "{BY_ALL}", which is by every label, and more')
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise table.error("group_by", f"has {twice!r} twice")
    return names


def _threshold(table: SettingsTable, above: Route) -> Threshold | None:
    inner = table.table("threshold")
    if inner is None:
        return above.threshold
    threshold = Threshold(
        count=inner.integer("count", least=1),
        within=inner.seconds("within", above=0),
        for_each=inner.texts("for_each"),
    )
    inner.done()
    return threshold


def _asks_for_manual(matcher: Matcher) -> bool:
    """Return whether a matcher names what people ended themselves."""
    return (
        matcher.name == "kind"
        and matcher.operator in ("=", "=~")
        and matcher.matches({"kind": "manual"})
    )
