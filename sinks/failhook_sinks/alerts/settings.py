"""What ``[plugins.alerts]`` says: receivers, routes, owners."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from failhook.plugin import ConfigError, Settings, SettingsTable, SystemClock
from failhook_sinks.alerts.alertmanager_yaml import read_route_file
from failhook_sinks.alerts.owners import Owner, read_owner
from failhook_sinks.alerts.problems import Problems
from failhook_sinks.alerts.receivers import open_receivers
from failhook_sinks.alerts.receivers.http import split_url
from failhook_sinks.alerts.routes import Reading, read_ours, read_tree
from failhook_sinks.alerts.tree import Route

_KEYS: Final = ("plugins", "alerts")
_TO_FILL: Final = re.compile(r"\{[^{}]*\}")
_OF_A_RUN: Final = (
    *("{namespace}", "{workflow}", "{task}", "{run_id}", "{map_index}", "{attempt}"),
)
_HERE: Final = Path()
_HOUR: Final = 3_600.0
_OURS: Final = Route(place="route", receiver="")
_THEIRS: Final = replace(_OURS, group_by=(), group_wait=30.0)
"""Alertmanager's own defaults, where its own file has the routes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """The settings of the sink.

    Attributes:
        route: the topmost route.
        receivers: the settings of each receiver by name, not read yet.
        owners: the owner map; the first that matches.
        max_age: seconds; failures that are older when they are handed over make one summary.
        docs_url: where the pages on reasons are, see `Notification.docs_url`; "" for no link.
        run_url: where a run can be seen, see `Notification.run_url`; "" for no link.
    """

    route: Route
    receivers: Mapping[str, SettingsTable]
    owners: Sequence[Owner] = ()
    max_age: float = _HOUR
    docs_url: str = ""
    run_url: str = ""


def read_routing(settings: Settings, folder: Path) -> AlertSettings:
    """Do as `read_settings`, but leave the receivers' own settings, and so their secrets, alone."""
    return read_settings(settings, folder, open_all=False)


def read_settings(
    settings: Settings, folder: Path = _HERE, *, open_all: bool = True
) -> AlertSettings:
    """Check the settings, and say all that is wrong with them.

    Args:
        settings: ``[plugins.alerts]``.
        folder: what the path of a `route_file` is relative to.
        open_all: check the receivers' own settings, too, by opening each.

    Raises:
        ConfigError: some are wrong: each says what is allowed, ``more`` has all but the first.
    """
    table = SettingsTable(settings, *_KEYS)
    problems = Problems()
    receivers: Mapping[str, SettingsTable] = problems.take(lambda: table.named("receivers"), {})
    if not receivers:
        with problems.noted():
            raise table.error("receivers", "is missing: write a [plugins.alerts.receivers.NAME]")
    _check_fallbacks(receivers, problems)
    if open_all:
        _check_receivers(receivers, problems)
    owners: list[Owner] = []
    named: Mapping[str, SettingsTable] = problems.take(lambda: table.named("owners"), {})
    for name, each in named.items():
        with problems.noted():
            owners.append(read_owner(name, each, tuple(receivers)))
    owned = any("receiver" in each for each in named.values())
    reading = Reading(tuple(receivers), owned=owned, problems=problems)
    found = AlertSettings(
        route=_route(table, folder, reading),
        receivers=receivers,
        owners=tuple(owners),
        max_age=problems.take(lambda: table.seconds("max_age", _HOUR, above=0), _HOUR),
        docs_url=problems.take(lambda: _url(table, "docs_url", ("{reason}",)), ""),
        run_url=problems.take(lambda: _url(table, "run_url", _OF_A_RUN), ""),
    )
    with problems.noted():
        table.done()
    problems.tell()
    return found


def _route(table: SettingsTable, folder: Path, reading: Reading) -> Route:
    """Return the topmost route: of the table, of the file, or to the only receiver."""
    problems = reading.problems
    file = problems.take(lambda: table.text("route_file", ""), "")
    given = problems.take(lambda: table.table("route"), None)
    if file:
        ours = SettingsTable({}, *_KEYS, "route") if given is None else given
        defaults = read_ours(ours, _THEIRS, reading)
        with problems.noted():
            ours.done()
        return _of_file(folder / Path(file).expanduser(), defaults, reading)
    if given is not None:
        return read_tree(given, _OURS, reading)
    if len(reading.receivers) == 1:
        return replace(_OURS, receiver=next(iter(reading.receivers)))
    if reading.receivers:
        listed = ", ".join(reading.receivers)
        with problems.noted():
            raise table.error("route", f"is missing: which of {listed} gets what?")
    return _OURS


def _of_file(path: Path, defaults: Route, reading: Reading) -> Route:
    file = reading.problems.take(lambda: read_route_file(path), None)
    if file is None:
        return defaults
    inner = replace(reading, problems=Problems())
    route = read_tree(file.table, defaults, inner)
    reading.problems.found += map(file.located, inner.problems.found)
    return route


def _url(table: SettingsTable, name: str, fills: Sequence[str]) -> str:
    """Return a URL in which nothing is to be filled in but `fills`."""
    url = table.text(name, "")
    unknown = [each for each in _TO_FILL.findall(url) if each not in fills]
    if unknown:
        raise table.error(name, f"has {unknown[0]}; allowed: {', '.join(fills)}")
    if url:
        split_url(url, lambda problem: table.error(name, problem))
    return url


def _check_receivers(receivers: Mapping[str, SettingsTable], problems: Problems) -> None:
    """Open each receiver, which sends nothing, and note what is wrong with its settings."""
    left = dict(receivers)
    while left:
        try:
            open_receivers(left, SystemClock())
        except ConfigError as error:
            problems.found.append(error)
            gone = {str(key) for key in error.keys[3:4]} & left.keys()
            while gone:  # and those that would miss it
                left = {name: table for name, table in left.items() if name not in gone}
                gone = {name for name, each in left.items() if each.value("fallback") not in left}
                gone = {name for name in gone if "fallback" in left[name]}
            if not error.keys[3:4] or len(left) == len(receivers):
                return
        else:
            return


def _check_fallbacks(receivers: Mapping[str, SettingsTable], problems: Problems) -> None:
    """Note each fallback that does not exist, and each that leads back to where it began."""
    for name, table in receivers.items():
        if "fallback" not in table:
            continue
        passed = [name]
        others = tuple(each for each in receivers if each != name)
        with problems.noted():
            after: object = table.choice("fallback", others)
            while isinstance(after, str) and after in receivers and after not in passed:
                passed.append(after)
                after = receivers[after].value("fallback")
            if after == name == next(each for each in receivers if each in passed):
                raise table.error("fallback", f"leads in a circle: {' -> '.join([*passed, name])}")
