"""Secrets of plugins, which settings only name: ``env:NAME`` and ``file:PATH``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from failhook.errors import ConfigError
from failhook.settings_table import Keys, dotted

_NAMED: Final = re.compile(r"env:|file:(?!//)")  # a file: URL is no secret
HIDDEN: Final = "[REDACTED:setting]"
_MOST: Final = 1024 * 1024
_LEAST: Final = 6
"""Characters of a secret that is looked for in other texts: a shorter one is in every other."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Looks secrets up, and keeps what was found out of other texts.

    Attributes:
        environ: the variables.
        folder: what the paths of files are relative to.
    """

    environ: Mapping[str, str]
    folder: Path
    _found: set[str] = field(default_factory=set[str], repr=False)

    def filled(
        self,
        table: Mapping[str, Any],
        *keys: str,
        missing: list[ConfigError] | None = None,
    ) -> Mapping[str, Any]:
        """Return a table with every ``env:NAME`` and ``file:PATH`` in it replaced by what is there.

        A last line break of a file does not count.

        Args:
            table: settings.
            keys: the way to them.
            missing: takes the errors instead of raising them; what is not there stays as it is.

        Raises:
            ConfigError: there is no such variable or file; ``more`` has the others.
        """
        found: list[ConfigError] = []
        filled = cast("dict[str, Any]", self._value(dict(table), keys, found))
        if missing is not None:
            missing += found
        elif found:
            first, *more = found
            raise ConfigError(str(first), keys=first.keys, more=tuple(more))
        return MappingProxyType(filled)

    def hiding(self, redact: Callable[[str], str]) -> Callable[[str], str]:
        """Return a function that takes the secrets which were found out of a text, then redacts."""

        def hide(text: str) -> str:
            for secret in self._found:
                text = text.replace(secret, HIDDEN)
            return redact(text)

        return hide

    def _value(self, value: object, keys: Keys, missing: list[ConfigError]) -> object:
        if isinstance(value, Mapping):
            table = cast("Mapping[str, object]", value)
            return {name: self._value(each, (*keys, name), missing) for name, each in table.items()}
        if isinstance(value, list):
            entries = cast("list[object]", value)
            return [
                self._value(each, (*keys, number), missing) for number, each in enumerate(entries)
            ]
        if isinstance(value, str) and _NAMED.match(value):
            kind, _, name = value.partition(":")
            try:
                secret = self._variable(name, keys) if kind == "env" else self._file(name, keys)
            except ConfigError as error:
                missing.append(error)
                return value
            if len(secret) >= _LEAST:
                self._found.add(secret)
            return secret
        return value

    def _variable(self, name: str, keys: Keys) -> str:
        secret = self.environ.get(name)
        if not secret:
            why = "is empty" if name in self.environ else "is not set"
            raise _missing(keys, f"env:{name}", f"the variable {name} {why}")
        return secret

    def _file(self, name: str, keys: Keys) -> str:
        path = self.folder / Path(name).expanduser()
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise _missing(keys, f"file:{name}", f"{path} is no regular file")
        try:
            with path.open(encoding="utf-8") as file:
                secret = file.read(_MOST + 1)
        except OSError as error:
            raise _missing(keys, f"file:{name}", f"{path}: {error.strerror}") from None
        except ValueError:
            raise _missing(keys, f"file:{name}", f"{path} is not text in UTF-8") from None
        if len(secret) > _MOST:
            raise _missing(keys, f"file:{name}", f"{path} has more than {_MOST:,} characters")
        secret = secret.removesuffix("\n").removesuffix("\r")
        if not secret:
            raise _missing(keys, f"file:{name}", f"{path} is empty")
        return secret


def _missing(keys: Keys, value: str, why: str) -> ConfigError:
    return ConfigError(f"{dotted(keys)} is {value!r}; {why}", keys=keys)
