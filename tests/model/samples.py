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


def sample(tree: Any, dice: random.Random) -> str:
    """Return a text that the expression matches, but for its assertions."""
    return "".join(_node(str(op), value, dice) for op, value in tree)


def _node(op: str, value: Any, dice: random.Random) -> str:
    match op:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return dice.choice([c for c in string.ascii_letters if ord(c) != value])
        case "ANY":
            return "."
        case "IN":
            return dice.choice(_letters(value))
        case "BRANCH":
            return sample(dice.choice(value[1]), dice)
        case "SUBPATTERN":
            return sample(value[3], dice)
        case "ATOMIC_GROUP":
            return sample(value, dice)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = value
            times = dice.randint(least, min(int(most), least + 12))
            return "".join(sample(body, dice) for _ in range(times))
        case _:  # assertions
            return ""


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
