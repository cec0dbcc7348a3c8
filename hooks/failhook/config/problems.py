"""All that is wrong with the settings, and not only the first of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from failhook.config.document import Document
from failhook.config.load import find_document, read_config
from failhook.config.settings import Config
from failhook.config.variables import copied
from failhook.errors import ConfigError
from failhook.settings_table import Keys, dotted

_MOST: Final = 200


def find_problems(
    path: str | Path | None, environ: Mapping[str, str]
) -> tuple[Config | None, Sequence[ConfigError]]:
    """Return the settings without what is wrong in them, and every error on that.

    What is wrong is taken out, and the rest is read again. The settings are None where the file
    cannot be read at all. The settings of plugins are not looked at: these do so themselves.

    Args:
        path: the file, as `load_config` takes it.
        environ: the variables.
    """
    try:
        document = find_document(path, environ)
    except ConfigError as error:
        return None, (error,)
    problems: list[ConfigError] = []
    rest = _Rest(copied(document.root))
    for _ in range(_MOST):
        try:
            config = read_config(_Bare(document.path, document.text, rest.root), environ)
        except ConfigError as error:
            found = rest.without(error)
            if found is not None:
                problems.append(document.located(found))
        else:
            return replace(config, document=document), problems
    return None, problems


class _Rest:
    """Settings, and what was taken out of them."""

    def __init__(self, root: Any) -> None:
        self.root: Any = root
        self._gone: set[Keys] = set()
        self._entries: dict[Keys, list[int]] = {}

    def without(self, error: ConfigError) -> ConfigError | None:
        """Take out what an error is about, and return the error in the words of the whole file.

        None is an error that only follows from what was taken out before.
        """
        keys = self._original(error.keys)
        follows = any(gone[: len(keys)] == keys for gone in self._gone)
        target = error.keys
        while target and not self._has(target):
            target = target[:-1]
        self._take(target)
        if follows:
            return None
        before, after = dotted(error.keys), dotted(keys)
        message = str(error)
        if before != after and message.startswith(before):
            message = after + message.removeprefix(before)
        return ConfigError(message, keys=keys)

    def _original(self, keys: Keys) -> Keys:
        """Return where something stood before entries of lists were taken out."""
        whole: Keys = ()
        for key in keys:
            moved = key
            if isinstance(moved, int):
                for gone in sorted(self._entries.get(whole, ())):
                    moved += moved >= gone
            whole = (*whole, moved)
        return whole

    def _has(self, keys: Keys) -> bool:
        at: Any = self.root
        for key in keys:
            try:
                at = at[key]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def _take(self, keys: Keys) -> None:
        if not keys:
            self.root = dict[str, Any]()
            return
        whole = self._original(keys)
        *way, last = keys
        at: Any = self.root
        for key in way:
            at = at[key]
        del at[last]
        self._gone.add(whole)
        if isinstance(whole[-1], int):
            self._entries.setdefault(whole[:-1], []).append(whole[-1])


@dataclass(frozen=True, slots=True)
class _Bare(Document):
    """A document whose errors do not say where they are, yet."""

    def located(self, error: ConfigError) -> ConfigError:
        return error
