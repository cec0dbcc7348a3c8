"""YAML whose every scalar is a string, and that knows where its keys stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from failhook.plugin import ConfigError

Keys = tuple[str | int, ...]
Lines = dict[Keys, int]

_MOST: Final = 50_000
"""Values of a file, so that aliases of aliases do not fill the memory."""
_NOTHING: Final = ("", "~", "null", "Null", "NULL")


def read_yaml(path: Path) -> tuple[object, Lines]:
    """Return what a file holds, and the line of each key from 1.

    Raises:
        ConfigError: it cannot be read, or is no YAML; the message has file and line.
    """
    import yaml

    try:
        if path.exists() and not path.is_file():
            raise ConfigError(f"{path}: it is no regular file")
        text = path.read_text(encoding="utf-8-sig")
        node = cast("Any", yaml.compose(text, Loader=yaml.BaseLoader))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: it is not text in UTF-8") from None
    except yaml.YAMLError as error:
        mark = cast("Any", getattr(error, "problem_mark", None))
        where = path if mark is None else f"{path}:{mark.line + 1}"
        problem = getattr(error, "problem", None) or "it is damaged"
        raise ConfigError(f"{where}: not valid YAML: {problem}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    reader = _Reader(path)
    try:
        return (None if node is None else reader.value(node, ())), reader.lines
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None


class _Reader:
    """Turns nodes into values."""

    def __init__(self, path: Path) -> None:
        self.lines: Lines = {}
        self._path = path
        self._count = 0

    def value(self, node: Any, keys: Keys) -> object:
        self._counted(node)
        self.lines.setdefault(keys, node.start_mark.line + 1)
        if node.id == "mapping":
            return self._mapping(node, keys)
        if node.id == "sequence":
            return [self.value(each, (*keys, at)) for at, each in enumerate(node.value)]
        return None if node.style is None and node.value in _NOTHING else node.value

    def _mapping(self, node: Any, keys: Keys) -> Mapping[str, object]:
        own: dict[str, object] = {}
        merged: dict[str, object] = {}
        for name, value in node.value:
            if name.id != "scalar":
                raise self._wrong(name, "a key must be a word")
            if name.value == "<<":
                for each in value.value if value.id == "sequence" else (value,):
                    if each.id != "mapping":
                        raise self._wrong(value, "<< must name mappings")
                    self._counted(each)
                    merged = {**self._mapping(each, keys), **merged}
                continue
            if name.value in own:
                raise self._wrong(name, f"{name.value} is there twice")
            self.lines[*keys, name.value] = name.start_mark.line + 1
            own[name.value] = self.value(value, (*keys, name.value))
        return {**merged, **own}

    def _counted(self, node: Any) -> None:
        self._count += 1
        if self._count > _MOST:
            raise self._wrong(node, f"it has more than {_MOST:,} values")

    def _wrong(self, node: Any, problem: str) -> ConfigError:
        return ConfigError(f"{self._path}:{node.start_mark.line + 1}: {problem}")
