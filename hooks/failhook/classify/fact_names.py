"""Names of facts that users' rules can ask for, as far as they can be listed."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Final

from failhook.classify.engine import TASK_FIELDS
from failhook.classify.sources import SOURCES

_CLOSED: Final = ("exception", "task")
"""Families of which every member is known; others hold what a document brings along."""
_READ: Final = (
    *("exception.type", "exception.is", "exception.message", "exception.text"),
    *("exception.status", "system", "exit_code", "signal", "traceback"),
)


def problem_with(name: str) -> str:
    """Say why no failure ever has a fact of this name; "" where one may."""
    known, roots = _known()
    root = name.partition(".")[0]
    if name in known or root == "label" or (root in roots and root not in _CLOSED):
        return ""
    alike = get_close_matches(name, known, n=1) or [
        each for each in sorted(known) if each.partition(".")[2] == name
    ]
    return f"did you mean {alike[0]}?" if alike else "failhook explain lists those of a failure"


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that rules ask for, and the families that there are."""
    asked = {path for source in SOURCES for rule in source.rules for path in rule.when}
    derived = {path for source in SOURCES for path in source.derived}
    names = asked | derived | {*_READ, *(f"task.{field}" for field in TASK_FIELDS)}
    return frozenset(names), frozenset(name.partition(".")[0] for name in names)
