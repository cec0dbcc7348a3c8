"""One thing that is wrong with the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failhook.errors import ConfigError
from failhook.settings_table import dotted


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where.

    Attributes:
        text: all of it, as people read it.
        key: the setting; "" where it is none.
        file: where it stands; None where it is in no file.
        line: from 1; None where that is not known.
        message: without file and line.
    """

    text: str
    key: str
    file: str | None
    line: int | None
    message: str

    def to_dict(self) -> Mapping[str, Any]:
        return {"file": self.file, "line": self.line, "key": self.key, "message": self.message}


def problem_of(error: ConfigError, path: Path | None) -> Problem:
    """Return what an error says, taken apart.

    Args:
        error: with file and line in front, as `Document.located` writes them.
        path: the file of the settings.
    """
    text = str(error)
    named = r"[^:\n]+\.toml" if path is None else re.escape(str(path))
    found = re.match(rf"({named})(?::(\d+))?(?::\d+)?: ", text)
    key = dotted(error.keys)
    if found is None:
        return Problem(text, key, None, None, text)
    line = int(found[2]) if found[2] else None
    return Problem(text, key, found[1], line, text[found.end() :])
