"""Settings from variables: ``FAILHOOK__DELIVERY__TIME_LIMIT=5`` sets ``delivery.time_limit``.

Two underscores stand between the parts of the way to a setting, as Airflow has it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Final, cast

from failhook.errors import ConfigError
from failhook.settings_table import Keys, dotted

PREFIX: Final = "FAILHOOK__"


def with_variables(
    root: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[Mapping[str, Any], Mapping[Keys, str]]:
    """Return settings with those of the environment put over them, and which variable set what.

    A name matches a key of the file whatever its case and with ``_`` for ``-``; a number is that
    of an entry of a list; a name without such a key is a new one, in lower case. A value is read as
    TOML where it is some, and else is a string. An empty variable counts as not set.

    Args:
        root: the settings of the file; they stay as they are.
        environ: all variables.

    Raises:
        ConfigError: the way leads through a value that is no table.
    """
    named = sorted(name for name, value in environ.items() if name.startswith(PREFIX) and value)
    whole = cast("dict[str, Any]", copied(root))
    origins: dict[Keys, str] = {}
    for name in named:
        origins[_put(whole, name, environ[name])] = name
    return whole, origins


def copied(value: object) -> object:
    """Return settings whose tables and lists are nobody else's."""
    if isinstance(value, Mapping):
        return {key: copied(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list):
        return [copied(each) for each in cast("list[object]", value)]
    return value


def _put(whole: dict[str, Any], name: str, value: str) -> Keys:
    at: object = whole
    keys: Keys = ()
    *way, last = name.removeprefix(PREFIX).split("__")
    for part in way:
        key = _key(at, part, name, keys)
        keys = (*keys, key)
        at = _inner(at, key)
    key = _key(at, last, name, keys)
    cast("dict[str | int, object]", at)[key] = _parsed(value)
    return (*keys, key)


def _inner(at: object, key: str | int) -> object:
    if isinstance(key, int):
        return cast("list[object]", at)[key]
    return cast("dict[str, object]", at).setdefault(key, {})


def _key(at: object, part: str, name: str, keys: Keys) -> str | int:
    if isinstance(at, dict):
        for key in cast("dict[str, object]", at):
            if key.replace("-", "_").lower() == part.replace("-", "_").lower():
                return key
        if part:
            return part.lower()
        raise ConfigError(f"{name}: a part of the name between two underscores is empty")
    if isinstance(at, list) and part.isdigit() and int(part) < len(cast("list[object]", at)):
        return int(part)
    what = "a list without such an entry" if isinstance(at, list) else "no table"
    raise ConfigError(f"{name}: {dotted(keys)} is {what}, so {part} of it cannot be set")


def _parsed(text: str) -> object:
    try:
        read = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return read["value"] if len(read) == 1 else text
