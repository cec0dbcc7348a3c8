"""Whether a regular expression can take exponential time on a short text, as Python matches it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

_parser: Any = import_module("re._parser")  # not in typeshed
_REPEATS: Final = ("MAX_REPEAT", "MIN_REPEAT")
_UNLIMITED: Final = 1_000
"""A repeat that may go on for so long counts as one without an end."""


def exponential(expression: str) -> str:
    """Return what makes an expression exponential, as the end of a sentence; "" where nothing does.

    A repeat without an end around another repeat, or around alternatives that can begin alike, can
    match the same text in a number of ways that doubles with each character; on a text that does
    not match, all of them are tried. It may refuse one that is harmless, but lets none pass.

    Raises:
        re.error: it is no regular expression.
    """
    for body in _repeated(_parser.parse(expression)):
        if any(True for _ in _variable(body)):
            return (
                "a repeat without an end is within another one; write it as one, "
                "such as [a-z-]+ for ([a-z]+-?)+"
            )
        if _ambiguous(body):
            return (
                "alternatives within a repeat without an end can begin alike; "
                "take out what they have in common"
            )
    return ""


def _repeated(tree: Any) -> Iterator[Any]:
    """Yield what stands in each repeat without an end."""
    for op, value in tree:
        if str(op) in _REPEATS and value[1] >= _UNLIMITED:
            yield value[2]
        for inner in _inner(op, value):
            yield from _repeated(inner)


def _variable(tree: Any) -> Iterator[Any]:
    """Yield each repeat that may be longer or shorter."""
    for op, value in tree:
        if str(op) in _REPEATS and value[0] != value[1]:
            yield value
        for inner in _inner(op, value):
            yield from _variable(inner)


def _ambiguous(tree: Any) -> bool:
    for op, value in tree:
        if str(op) == "BRANCH":
            first = [_first(branch) for branch in value[1]]
            if None in first or len(set(first)) < len(first):
                return True
        if any(_ambiguous(inner) for inner in _inner(op, value)):
            return True
    return False


def _first(tree: Any) -> int | None:
    """Return the character that a branch begins with; None where it may be several."""
    for op, value in tree:
        if str(op) == "LITERAL":
            return int(value)
        if str(op) == "SUBPATTERN":
            return _first(value[-1])
        return None
    return None


def _inner(op: Any, value: Any) -> Iterator[Any]:
    """Yield what is within one part of an expression."""
    if str(op) == "BRANCH":
        yield from value[1]
    elif str(op) == "SUBPATTERN":
        yield value[-1]
    elif str(op) in ("ASSERT", "ASSERT_NOT"):
        yield value[1]
    elif str(op) == "ATOMIC_GROUP":
        yield value
    elif str(op) == "GROUPREF_EXISTS":
        yield from (branch for branch in value[1:] if branch is not None)
    elif str(op) in (*_REPEATS, "POSSESSIVE_REPEAT"):
        yield value[2]
