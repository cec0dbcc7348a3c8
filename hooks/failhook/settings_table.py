"""A table of settings read key by key: each value is checked, and what is left over is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeVar, cast

from failhook.errors import ConfigError
from failhook.matchers import Matcher, parse_matcher

Keys = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and numbers of entries in a list."""

_Value = TypeVar("_Value")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
LONGEST: Final = 10 * 365 * 86_400.0
"""Seconds, ten years: moments that far away can still be reckoned with."""
_DURATION: Final = re.compile(r"(?:\d{1,9}(?:ms|[smhdw]))+")
_PART: Final = re.compile(r"(\d+)(ms|[smhdw])")


class SettingsTable:
    """A plugin's settings, or a table within them, that know where they stand.

    A reader takes key after key and calls `done` at the end::

        table = SettingsTable(settings, "plugins", "pager")
        url, limit = table.text("url"), table.seconds("limit", 10)
        table.done()

    Every error is a `ConfigError` that names the setting and what is allowed; where the settings
    come from a file, failhook adds the file and the line.

    Args:
        table: the settings.
        keys: the way to them from the top of the configuration.
    """

    __slots__ = ("_asked", "_table", "keys")

    def __init__(self, table: Mapping[str, Any], *keys: str | int) -> None:
        self.keys: Keys = keys
        self._table = table
        self._asked: dict[str, None] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._table

    @property
    def place(self) -> str:
        """Where it stands: ``plugins.alerts.route.routes[2]``."""
        return dotted(self.keys)

    def error(self, name: str | int | None, problem: str) -> ConfigError:
        """Return the error on one setting, or on the table for None; `problem` goes on after it."""
        keys = self.keys if name is None else (*self.keys, name)
        return ConfigError(f"{dotted(keys)} {problem}", keys=keys)

    def wrong(self, name: str, must: str) -> ConfigError:
        """Return the error on a value that must be something else."""
        return self.error(name, f"is {in_words(self._table.get(name))}; it must be {must}")

    def value(self, name: str) -> object:
        """Return the value as it is; None where the key is missing."""
        self._asked[name] = None
        return self._table.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string that is not empty; a key without a default must be there.

        Raises:
            ConfigError: it is missing or something else.
        """
        return self._read(name, default, _is_text, "a string that is not empty")

    def flag(self, name: str, default: bool) -> bool:  # noqa: FBT001 - the value of a setting
        """Return true or false.

        Raises:
            ConfigError: it is something else.
        """
        return self._read(name, default, lambda value: type(value) is bool, "true or false")

    def integer(self, name: str, default: int | None = None, *, least: int = 0) -> int:
        """Return a whole number.

        Raises:
            ConfigError: it is missing, less, or something else.
        """

        def fits(value: object) -> bool:
            return type(value) is int and value >= least

        return self._read(name, default, fits, f"a whole number, {least} or more")

    def seconds(self, name: str, default: float | None = None, *, above: float = -1) -> float:
        """Return a time in seconds: a number, or Prometheus's ``"30s"``, ``"5m"``, ``"1h30m"``.

        Raises:
            ConfigError: it is missing, not a time, or not above `above`.
        """
        value = self.value(name)
        if value is None and default is not None:
            return default
        seconds = duration(value)
        if seconds is None or seconds <= above:
            least = f" above {above:g}" if above >= 0 else ""
            raise self.wrong(name, f'a time{least}: seconds, or "30s", "5m", "1h30m", "7d"')
        return seconds

    def choice(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return one of several words.

        Raises:
            ConfigError: it is missing or another.
        """
        value = self.value(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or value not in allowed:
            alike = get_close_matches(str(value), allowed, n=1)
            guess = f"did you mean {alike[0]}? " if alike else ""
            raise self.error(name, f"is {in_words(value)}; {guess}allowed: {', '.join(allowed)}")
        return value

    def texts(self, name: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """Return a list of strings that are not empty.

        Raises:
            ConfigError: it is something else.
        """

        def fits(value: object) -> bool:
            return isinstance(value, list) and all(map(_is_text, cast("list[object]", value)))

        must = 'a list of strings: ["...", ...]'
        return tuple(self._read(name, cast("Sequence[str] | None", default), fits, must))

    def matchers(self, name: str) -> tuple[Matcher, ...]:
        """Return a list of Alertmanager's matchers: ``["kind = infra", "team =~ a|b"]``.

        Raises:
            ConfigError: it is not a list, or one of them is no matcher.
        """
        found: list[Matcher] = []
        for number, text in enumerate(self.texts(name)):
            try:
                found.append(parse_matcher(text))
            except ConfigError as error:
                where = (*self.keys, name, number)
                raise ConfigError(f"{dotted(where)} is wrong: {error}", keys=where) from None
        return tuple(found)

    def table(self, name: str) -> SettingsTable | None:
        """Return a table within; None where the key is missing.

        Raises:
            ConfigError: it is something else.
        """
        value = self.value(name)
        return None if value is None else self._inner(value, name)

    def tables(self, name: str) -> Sequence[SettingsTable]:
        """Return a list of tables; an empty one where the key is missing.

        Raises:
            ConfigError: it is something else.
        """
        value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            place = dotted((*self.keys, name))
            raise self.error(name, f"is {in_words(value)}; write [[{place}]] above each entry")
        entries = cast("list[object]", value)
        return [self._inner(entry, name, number) for number, entry in enumerate(entries)]

    def named(self, name: str) -> Mapping[str, SettingsTable]:
        """Return the tables of a table: ``[receivers.oncall]``, by name; none where it is missing.

        Raises:
            ConfigError: it is something else, or one of them is.
        """
        outer = self.table(name)
        if outer is None:
            return {}
        return {
            each: outer._inner(outer.value(each), each)  # noqa: SLF001 - of the same class
            for each in outer._table  # noqa: SLF001 - as above
        }

    def done(self) -> None:
        """Refuse what was not asked for: a misspelt key changes nothing silently.

        Raises:
            ConfigError: there is such a key; the message says which are allowed.
        """
        for name in self._table:
            refuse_unknown(name, self._asked, self.keys)

    def _read(
        self, name: str, default: _Value | None, fits: Callable[[object], bool], must: str
    ) -> _Value:
        value = self.value(name)
        if value is None:
            if default is None:
                raise self.error(name, f"is missing; it must be {must}")
            return default
        if not fits(value):
            raise self.wrong(name, must)
        return cast("_Value", value)

    def _inner(self, value: object, *keys: str | int) -> SettingsTable:
        whole = (*self.keys, *keys)
        if not isinstance(value, Mapping):
            must = f"it must be a table: [{dotted(whole)}]"
            raise ConfigError(f"{dotted(whole)} is {in_words(value)}; {must}", keys=whole)
        return SettingsTable(cast("Mapping[str, Any]", value), *whole)


def refuse_unknown(name: str, allowed: Collection[str], keys: Keys) -> None:
    """Refuse a key of the table at `keys` that is not allowed there, with a guess at what is meant.

    Raises:
        ConfigError: it is not allowed.
    """
    if name in allowed:
        return
    alike = get_close_matches(name, allowed, n=1)
    guess = f"did you mean {dotted((*keys, alike[0]))}? " if alike else ""
    place = (*keys, name)
    listed = ", ".join(allowed)
    raise ConfigError(f"{dotted(place)} is not a setting; {guess}allowed: {listed}", keys=place)


def duration(value: object) -> float | None:
    """Return seconds: of a number from 0 on, or of ``"1h30m"``; None for all else.

    What is longer than `LONGEST` is no time that anybody waits, and None too.
    """
    if type(value) in (int, float):
        seconds = cast("float", value)
    elif isinstance(value, str) and _DURATION.fullmatch(value):
        seconds = sum(int(amount) * _UNITS[unit] for amount, unit in _PART.findall(value))
    else:
        return None
    return float(seconds) if 0 <= seconds <= LONGEST else None


def dotted(keys: Keys) -> str:
    """Write a way to a value as people do: ``policy.overrides[0].retries``."""
    return "".join(
        f"[{key}]" if isinstance(key, int) else f".{key}" if number else key
        for number, key in enumerate(keys)
    )


def in_words(value: object) -> str:
    """Write a value as TOML and its users do, and not as Python does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return repr(value) if isinstance(value, str | int | float) else str(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
