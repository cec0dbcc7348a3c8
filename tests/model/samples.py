"""Texts that a regular expression matches, made from its parse tree."""

from __future__ import annotations

import random
import re
import string
from importlib import import_module
from typing import Any

_parser: Any = import_module("re._parser")
_RUST = (
    ("[[:alnum:]]", "[A-Za-z0-9]"),
    (r"\z", r"\Z"),
    ("(?s:.)", "[a-z]"),
    ("(?s)", ""),
    ("(?x)", ""),
    ("(?i:", "(?:"),
    ("(?-i:", "(?:"),
    ("(?i)", ""),
    (r"[\s\S]", "[a-z]"),
    ("(?:.|[\\n\\r])", "[a-z]"),
)
"""How to say in Python what Rust says otherwise; that case is ignored is left out."""


def parsed(regex: str) -> Any:
    """Return the tree of an expression in Rust's or Python's spelling."""
    for rust, python in _RUST:
        regex = regex.replace(rust, python)
    return _parser.parse(regex)


class Samples:
    """Makes texts that expressions match, but for their assertions."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._sets: dict[str, str] = {}

    def of(self, tree: Any) -> str:
        """Return a text that the expression matches."""
        return "".join(self._node(str(op), value) for op, value in tree)

    def _node(self, op: str, value: Any) -> str:
        match op:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL":
                return "b" if value == ord("a") else "a"
            case "ANY":
                return "."
            case "IN":
                return self._dice.choice(self._set(value))
            case "BRANCH":
                return self.of(self._dice.choice(value[1]))
            case "SUBPATTERN":
                return self.of(value[3])
            case "ATOMIC_GROUP":
                return self.of(value)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeated(*value)
            case _:  # assertions
                return ""

    def _repeated(self, least: int, most: int, body: Any) -> str:
        times = self._dice.randint(least, min(int(most), least + 12))
        if len(body) == 1 and str(body[0][0]) == "IN":
            return "".join(self._dice.choices(self._set(body[0][1]), k=times))
        return "".join(self.of(body) for _ in range(times))

    def _set(self, items: Any) -> str:
        name = str(items)
        if name not in self._sets:
            self._sets[name] = _letters(items)
        return self._sets[name]


def _letters(items: Any) -> str:
    negated = str(items[0][0]) == "NEGATE"
    found = [c for c in string.printable[:95] if any(_holds(item, c) for item in items) != negated]
    plain = [c for c in found if c in string.ascii_letters + string.digits]
    return "".join(plain or found) or " "


def _holds(item: Any, letter: str) -> bool:
    op, value = str(item[0]), item[1]
    if op == "LITERAL":
        return ord(letter) == value
    if op == "RANGE":
        return bool(value[0] <= ord(letter) <= value[1])
    if op == "CATEGORY":
        name = str(value).removeprefix("CATEGORY_")
        escapes = {"DIGIT": r"\d", "WORD": r"\w", "SPACE": r"\s"}
        holds = re.match(escapes[name.removeprefix("NOT_")], letter) is not None
        return holds != name.startswith("NOT_")
    return False
