"""Which settings were read, and from where; no value is shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from failhook.cli.doctor.finding import Finding, ok
from failhook.config import Config
from failhook.config.document import read_document

_AREA: Final = "settings"
_VARIABLES: Final = ("FAILHOOK_CONFIG", "FAILHOOK_STORE", "FAILHOOK_NAMESPACE")


def settings_findings(config: Config) -> Iterator[Finding]:
    """Yield what was read."""
    if config.path is None:
        yield ok(_AREA, "no failhook.toml here, and none is named: everything has its default")
    else:
        keys = ", ".join(_keys(read_document(config.path).root)) or "nothing is set"
        yield ok(_AREA, f"{config.path}: {keys}")
    named = [name for name in _VARIABLES if os.environ.get(name)]
    if named:
        yield ok(_AREA, f"set in the environment: {', '.join(named)}")


def _keys(root: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys at the top, each table with its own."""
    for name, value in root.items():
        if isinstance(value, Mapping):
            yield f"{name} ({', '.join(cast('Mapping[str, Any]', value))})"
        elif isinstance(value, list):
            yield f"{name} ({len(cast('list[object]', value))})"
        else:
            yield name
