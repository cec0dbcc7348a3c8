"""How many ways a regular expression can try one text: a bound from its own structure.

A backtracking matcher is slow where a repeat can stop at several places and each of them looks
right to what follows. So the ways of a sequence multiply, but only for repeats whose characters
could also begin what comes next; those of alternatives add up where they can begin alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import _constants as op
from re import _parser as parser
from typing import Any

MANY = 1 << 60
ALPHABET = frozenset(range(128)) | {-1}  # -1 stands for every character beyond ASCII
ENDLESS = 1 << 14
"""An endless repeat tries as many ends as the longest text has characters that rules see."""


@dataclass
class Part:
    """What matters of what comes next: its first characters, whether it can be empty, its ways."""

    first: frozenset[int]
    empty: bool
    ways: int


END = Part(frozenset(), empty=True, ways=1)
"""The end of a search: nothing comes that could fail, so nothing is tried again."""


def ways(pattern: str, flags: int = 0) -> int:
    """Return an upper bound of the ways to match from one start; endless repeats count as many."""
    items = list(parser.parse(pattern, flags))
    return _sequence(items, bool(flags & re.IGNORECASE), END).ways


def _sequence(items: list[Any], fold: bool, rest: Part) -> Part:
    for code, argument in reversed(items):
        rest = _item(code, argument, fold, rest)
    return rest


def _item(code: Any, argument: Any, fold: bool, rest: Part) -> Part:
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _repeat(code, argument, fold, rest)
    if code is op.BRANCH:
        branches = [_sequence(list(branch), fold, rest) for branch in argument[1]]
        first = frozenset().union(*(branch.first for branch in branches))
        together = (
            sum(branch.ways for branch in branches if char in branch.first or branch.empty)
            for char in first | {None}
        )
        return Part(first, any(branch.empty for branch in branches), min(max(together), MANY))
    if code is op.SUBPATTERN:
        return _sequence(list(argument[3]), fold, rest)
    if code in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return Part(rest.first or ALPHABET, empty=rest.empty, ways=rest.ways)
    return Part(_characters(code, argument, fold), empty=False, ways=rest.ways)


def _repeat(code: Any, argument: Any, fold: bool, rest: Part) -> Part:
    least, most, body = argument
    alone = _sequence(list(body), fold, END)
    after = Part(alone.first | rest.first, empty=False, ways=1)
    once = _sequence(list(body), fold, after if most != 1 else Part(rest.first, rest.empty, 1))
    choices = 1
    if code is not op.POSSESSIVE_REPEAT and most != least and alone.first & rest.first:
        choices = ENDLESS if most == op.MAXREPEAT else most - least + 1
    if once.ways > 1 and most != 1:
        choices = max(choices, MANY if most == op.MAXREPEAT else once.ways ** min(most, 8))
    optional = least == 0 or alone.empty
    return Part(
        alone.first | (rest.first if optional else frozenset()),
        optional and rest.empty,
        min(choices * (once.ways if most == 1 else 1) * rest.ways, MANY),
    )


def _characters(code: Any, argument: Any, fold: bool) -> frozenset[int]:
    if code is op.LITERAL:
        return _folded({argument if argument < 128 else -1}, fold)
    if code is op.NOT_LITERAL:
        return ALPHABET - {argument}
    if code is op.ANY:
        return ALPHABET - {10}
    if code is op.IN:
        return _class(argument, fold)
    if code is op.CATEGORY:
        return _category(argument)
    return ALPHABET


def _class(members: list[Any], fold: bool) -> frozenset[int]:
    found: set[int] = set()
    negate = False
    for code, argument in members:
        if code is op.NEGATE:
            negate = True
        elif code is op.RANGE:
            low, high = argument
            found |= {char if char < 128 else -1 for char in range(low, min(high, 200) + 1)}
        else:
            found |= _characters(code, argument, fold)
    return ALPHABET - found if negate else _folded(found, fold)


def _category(name: Any) -> frozenset[int]:
    tests = {
        op.CATEGORY_DIGIT: str.isdigit,
        op.CATEGORY_SPACE: str.isspace,
        op.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    }
    for category, test in tests.items():
        if name is category:
            return frozenset(c for c in range(128) if test(chr(c))) | {-1}
        if str(name) == str(category).replace("CATEGORY_", "CATEGORY_NOT_"):
            return frozenset(c for c in range(128) if not test(chr(c))) | {-1}
    return ALPHABET


def _folded(characters: set[int], fold: bool) -> frozenset[int]:
    known = frozenset(char if char < 128 else -1 for char in characters)
    if not fold:
        return known
    return known | frozenset(ord(chr(char).swapcase()) for char in known if char >= 0)
