"""The routes of an Alertmanager's own configuration file, as they are (extra ``yaml``).

Source: https://prometheus.io/docs/alerting/latest/configuration/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final, cast

from failhook.plugin import ConfigError, SettingsTable
from failhook_sinks.alerts.yaml_text import Keys, Lines, read_yaml

_SETTING: Final[Keys] = ("plugins", "alerts", "route_file")
_ROUTE: Final = (
    *("receiver", "match", "match_re", "matchers", "continue", "group_by"),
    *("group_wait", "group_interval", "repeat_interval", "routes"),
)
_MATCHERS: Final = {"match": "=", "match_re": "=~", "matchers": ""}
_TIMES: Final = ("group_wait", "group_interval", "repeat_interval")
_HANDED_OVER: Final = (
    *("inhibit_rules", "mute_time_intervals", "active_time_intervals", "time_intervals"),
)
_HAND_OVER: Final = (
    "is Alertmanager's to do: send to it and let it group, mute and inhibit; see "
    "docs/alertmanager.md"
)
_INHERITED: Final[tuple[str, object]] = ("group_by", [])
"""What says as much as nothing: the parent's."""
_BOOLEANS: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
}
_YEARS: Final = re.compile(r"(\d{1,4})y")
_PART: Final = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"|[^",])+?)\s*(?:,|$)')


@dataclass(frozen=True, slots=True)
class RouteFile:
    """What such a file says of routes.

    Attributes:
        path: the file.
        table: the topmost route, in the words of ``[plugins.alerts.route]``.
        lines: where each of its keys stands.
    """

    path: Path
    table: SettingsTable
    lines: Lines = field(repr=False)

    def located(self, error: ConfigError) -> ConfigError:
        """Return an error on one of its keys as one on the setting that names the file."""
        return _located(self.path, self.lines, error)


def read_route_file(path: Path) -> RouteFile:
    """Read ``route`` of the file; what else stands there but what mutes and inhibits is left alone.

    Raises:
        ConfigError: it cannot be read, or has what failhook leaves to Alertmanager; ``more`` has
            what else is wrong.
    """
    if find_spec("yaml") is None:
        raise _wrong("needs PyYAML to be read; pip install 'failhook[yaml]'")
    try:
        root, lines = read_yaml(path)
    except ConfigError as error:
        raise _wrong(f"cannot be read: {error}") from None
    shaper = _Shaper(lines)
    whole = _mapping(root) or {}
    for name in _HANDED_OVER:
        if whole.get(name):
            shaper.wrong((name,), _HAND_OVER)
    route = _mapping(whole.get("route"))
    if route is None:
        shaper.wrong(("route",), "is missing; it must be a mapping")
    shaped = shaper.route(route or {}, ("route",))
    if shaper.problems:
        first, *more = [_located(path, lines, error) for error in shaper.problems]
        raise ConfigError(str(first), keys=first.keys, more=tuple(more))
    return RouteFile(path, SettingsTable(shaped, "route"), lines)


class _Shaper:
    """Puts routes into the words of TOML: one list of matchers, true and false, times."""

    def __init__(self, lines: Lines) -> None:
        self.problems: list[ConfigError] = []
        self._lines = lines

    def wrong(self, keys: Keys, problem: str) -> None:
        self.problems.append(SettingsTable({}, *keys).error(None, problem))

    def route(self, route: Mapping[str, object], keys: Keys) -> dict[str, object]:
        """Return one route and those below it."""
        shaped: dict[str, object] = {}
        for name, value in route.items():
            if name not in _ROUTE:
                allowed = f"is not a key of a route; allowed: {', '.join(_ROUTE)}"
                handed_over = name in _HANDED_OVER
                self.wrong((*keys, name), _HAND_OVER if handed_over else allowed)
            elif value is not None and name not in _MATCHERS and (name, value) != _INHERITED:
                shaped[name] = self._value(name, value, (*keys, name))
        matchers = [each for name in _MATCHERS for each in self._matchers(route, name, keys)]
        if matchers:
            shaped["match"] = [text for text, _ in matchers]
        for number, (_, line) in enumerate(matchers):
            self._lines[*keys, "match", number] = line
        return shaped

    def _value(self, name: str, value: object, keys: Keys) -> object:
        if name == "routes" and isinstance(value, list):
            below = enumerate(map(_mapping, cast("list[object]", value)))
            return [
                None if each is None else self.route(each, (*keys, number))
                for number, each in below
            ]
        if name == "continue":
            return _BOOLEANS.get(str(value).lower(), value)
        if name in _TIMES and isinstance(value, str):
            return 0 if value == "0" else _YEARS.sub(_as_days, value)
        return value

    def _matchers(
        self, route: Mapping[str, object], name: str, keys: Keys
    ) -> Iterator[tuple[str, int]]:
        """Yield the matchers under one key, each with its line."""
        place = (*keys, name)
        value = route.get(name)
        if value is None:
            return
        if name != "matchers":
            labels = _mapping(value)
            if labels is None:
                self.wrong(place, "must be a mapping of labels to values")
            for label, text in (labels or {}).items():
                word = "" if text is None else str(text)
                quoted = word.replace("\\", "\\\\").replace('"', '\\"')
                matcher = f'{label}{_MATCHERS[name]}"{quoted}"'
                yield matcher, self._lines.get((*place, label), 1)
            return
        if not isinstance(value, list):
            self.wrong(place, "must be a list of matchers")
            return
        for number, each in enumerate(cast("list[object]", value)):
            for text in _parted(str(each)):
                yield text, self._lines.get((*place, number), 1)


def _parted(text: str) -> Iterator[str]:
    """Yield the matchers of an entry, which may be several: ``{a="b", c=~"d"}``."""
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip().removesuffix(",")
    return (part[1] for part in _PART.finditer(text))


def _mapping(value: object) -> Mapping[str, object] | None:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def _as_days(years: re.Match[str]) -> str:
    return f"{int(years[1]) * 365}d"


def _wrong(problem: str) -> ConfigError:
    return ConfigError(f"plugins.alerts.route_file {problem}", keys=_SETTING)


def _located(path: Path, lines: Lines, error: ConfigError) -> ConfigError:
    keys = error.keys
    while keys and keys not in lines:
        keys = keys[:-1]
    where = f"{path}:{lines.get(keys, 1)}"
    text = re.sub(r"\.match\[\d+\]", ".matchers", str(error), count=1)
    return ConfigError(f"{where}: {text}", keys=_SETTING)
