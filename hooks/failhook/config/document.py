"""A TOML file that can say where each of its keys stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from failhook.errors import ConfigError
from failhook.settings_table import Keys, dotted, in_words, refuse_unknown

_POSITION: Final = re.compile(r" \(at line (\d+), column (\d+)\)$")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file.

    Attributes:
        path: the file; an empty path where there is none.
        text: what it holds.
        root: the same, parsed, with what variables of the environment put over it.
        variables: which variable set a value, by the way to it.
    """

    path: Path
    text: str
    root: Mapping[str, Any]
    variables: Mapping[Keys, str] = field(default_factory=dict[Keys, str])

    def error(self, keys: Keys, problem: str) -> ConfigError:
        """Return the error that names file, line and key; `problem` goes on after the key."""
        value = self._at(keys)
        if problem.startswith(f"is {value!r};"):
            problem = f"is {in_words(value)}{problem.removeprefix(f'is {value!r}')}"
        return self.located(ConfigError(f"{dotted(keys)} {problem}", keys=keys))

    def _at(self, keys: Keys) -> object:
        value: Any = self.root
        for number, key in enumerate(keys, 1):
            if not _has(self.root, keys[:number]):
                return None
            value = value[key]
        return value

    def table(self, keys: Keys, value: object) -> Mapping[str, Any]:
        """Return the value, which must be a table.

        Raises:
            ConfigError: it is something else.
        """
        if not isinstance(value, Mapping):
            raise self.error(keys, f"is {value!r}; it must be a table: [{dotted(keys)}]")
        return cast("Mapping[str, Any]", value)

    def tables(self, keys: Keys, value: object) -> Sequence[Mapping[str, Any]]:
        """Return the value, which must be a list of tables.

        Raises:
            ConfigError: it is something else.
        """
        if not isinstance(value, list):
            raise self.error(keys, f"is {value!r}; write [[{dotted(keys)}]] above each entry")
        entries = cast("list[object]", value)
        return [self.table((*keys, number), entry) for number, entry in enumerate(entries)]

    def text_at(self, keys: Keys, value: object) -> str:
        """Return the value, which must be a string that is not empty.

        Raises:
            ConfigError: it is something else.
        """
        if not isinstance(value, str) or not value.strip():
            raise self.error(keys, f"is {value!r}; it must be a string that is not empty")
        return value

    def texts(self, keys: Keys, value: object) -> tuple[str, ...]:
        """Return the value, which must be a list of strings that are not empty.

        Raises:
            ConfigError: it is something else.
        """
        if not isinstance(value, list):
            raise self.error(keys, f'is {value!r}; it must be a list of strings: ["...", ...]')
        entries = cast("list[object]", value)
        return tuple(self.text_at((*keys, number), entry) for number, entry in enumerate(entries))

    def only(self, keys: Keys, table: Mapping[str, Any], allowed: Collection[str]) -> None:
        """Refuse a table with any other key.

        Raises:
            ConfigError: it has one; the message says which are allowed.
        """
        for name in table:
            try:
                refuse_unknown(name, allowed, keys)
            except ConfigError as error:
                raise self.located(error) from None

    @property
    def file(self) -> Mapping[str, Any]:
        """What the file alone says."""
        return tomllib.loads(self.text)

    def located(self, error: ConfigError) -> ConfigError:
        """Return an error with file and line before it, or with the variable that is wrong."""
        more = tuple(map(self.located, error.more))
        for keys, variable in self.variables.items():
            unknown = keys[: len(error.keys)] == error.keys and not _has(self.file, error.keys)
            if error.keys[: len(keys)] == keys or unknown:
                return ConfigError(f"{variable}: {error}", keys=error.keys, more=more)
        if self.path == Path():
            return error
        where = f"{self.path}:{line_of(self.text, error.keys)}" if error.keys else str(self.path)
        return ConfigError(f"{where}: {error}", keys=error.keys, more=more)


def read_document(path: Path) -> Document:
    """Read and parse a file.

    Raises:
        ConfigError: it cannot be read, or it is not TOML in UTF-8; the message has the line.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file to read settings from") from None
    except OSError as error:
        raise ConfigError(f"{path}: settings cannot be read: {error.strerror}") from None
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: settings must be text in UTF-8") from None
    try:
        return Document(path, text, tomllib.loads(text))
    except ValueError as error:  # among others tomllib.TOMLDecodeError
        found = _POSITION.search(str(error))
        where = f"{path}:{found[1]}:{found[2]}" if found else str(path)
        problem = _POSITION.sub("", str(error))
        raise ConfigError(f"{where}: not valid TOML: {problem}") from None
    except RecursionError:
        raise ConfigError(f"{path}: not valid TOML: nested too deeply") from None


def line_of(text: str, keys: Keys) -> int:
    """Return the line, from 1, where a key stands in TOML; for a missing one, that of its table.

    The parser itself is asked: the line is the one after the longest beginning of the text that
    is complete and does not have the key yet.
    """
    lines = text.split("\n")
    whole = tomllib.loads(text)
    while keys and not _has(whole, keys):
        keys = keys[:-1]
    if not keys:
        return 1
    before, after = 0, len(lines)  # complete beginnings: without the key, with it
    while after - before > 1:
        middle = (before + after) // 2
        candidates = (*range(middle, before, -1), *range(middle + 1, after))
        for end in candidates:
            beginning = _parsed("\n".join(lines[:end]))
            if beginning is not None:
                break
        else:
            break  # one statement over several lines
        if _has(beginning, keys):
            after = end
        else:
            before = end
    return before + 1


def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _has(value: object, keys: Keys) -> bool:
    for key in keys:
        if isinstance(key, int):
            if not isinstance(value, list) or len(cast("list[object]", value)) <= key:
                return False
            value = cast("list[object]", value)[key]
        else:
            if not isinstance(value, Mapping) or key not in value:
                return False
            value = cast("Mapping[str, object]", value)[key]
    return True
