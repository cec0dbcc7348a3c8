"""The statements of SQLite's dialect, each with one plain placeholder for each of its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from failhook.stores.sql.queries import queries

_NUMBERED: Final = re.compile(r"\?([1-9])")


def statements(package: str) -> Mapping[str, str]:
    """Return the statements of a package by name.

    One that needs a value twice says ``?1``, ``?2``. Python 3.12.0 to 3.12.3 takes these for names
    and warns of a sequence of values, so the values are put into a table of one row first.
    """
    return {name: _plain(text) for name, text in queries(package).items()}


def _plain(text: str) -> str:
    numbers = [int(number) for number in _NUMBERED.findall(text)]
    if not numbers:
        return text
    most = max(numbers)
    columns = ", ".join(f"v{number}" for number in range(1, most + 1))
    places = ", ".join("?" * most)
    body = _NUMBERED.sub(r"(SELECT v\1 FROM given)", text)
    return f"WITH given ({columns}) AS (VALUES ({places}))\n{body}"
