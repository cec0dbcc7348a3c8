"""Reads a dialect's statements and migrations from the SQL files of its package."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+).*$", re.MULTILINE)


def queries(package: str) -> dict[str, str]:
    """Return the statements of a package's ``queries.sql`` by name.

    Each begins with a line ``-- name: NAME``; what else is on that line is for people.
    """
    _, *parts = _NAME.split(files(package).joinpath("queries.sql").read_text("utf-8"))
    return {
        name: text.strip().removesuffix(";")
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def migrations(package: str) -> dict[int, str]:
    """Return a package's ``migrations/NNNN.sql``, by the version of the schema each leads to."""
    scripts = {
        int(script.name.removesuffix(".sql")): script.read_text("utf-8")
        for script in files(package).joinpath("migrations").iterdir()
        if script.name.endswith(".sql")
    }
    return dict(sorted(scripts.items()))


def left_alone(where: str, found: int, newest: int) -> str:
    """Say why a schema that would have to be made or brought up to date is left as it is."""
    if not found:
        return f"store {where}: nothing has been written there yet"
    return (
        f"store {where}: an older failhook wrote it (schema {found}, this version needs {newest}); "
        "any process of this version that reports or delivers brings it up to date, such as "
        "failhook deliver --once; older versions cannot use it then"
    )
