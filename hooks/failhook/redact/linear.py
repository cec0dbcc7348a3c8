r"""Tell whether a regular expression takes time linear in the text, from its parse tree.

Python's engine cannot be stopped while it matches, so an expression that tries the ways to split a
long line one after the other stops the executor. What is looked for:

- a repeat that may end where it may also go on, with something behind it that can fail: every
  length is tried. A few tries are borne; an unlimited number, or one within a repeat, is not;
- a long repeat with something behind it that can fail, in an expression that may begin anew at each
  character of the same run.

A repeat is safe where it is possessive (``\w++``), short (``\w{1,64}``) or ends where a character
stands that it cannot take. The judgement is by single characters, so it errs on the strict side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, NamedTuple, cast

_parser: Any = import_module("re._parser")

LONG: Final = 256
"""A repeat of up to this many is short."""

MOST_STEPS: Final = 1_500
"""Steps at one place that are borne: characters that are read, again for each way to match."""

_FIXED: Final = 0.25
"""A letter that is given is looked for faster than one of many."""

_SHARED: Final = (
    "two of its repeats can take the same text, and every way to share it would be tried on a long "
    "line; bound them, as in {1,64}, make the first possessive, as in \\w++, or put something "
    "between them that neither can take"
)
_ANEW: Final = (
    "it can begin at each character of a long run, and would read the rest of it each time; bound "
    "the repeat, as in {1,64}, or begin with what the run cannot hold, as in (?<!\\w)\\w++@"
)

_SAMPLES: Final = (
    "".join(map(chr, range(128))) + "\x85\xa0\xb2\xdf\xe9\u0130\u0663\u2028\u4e2d\U0001f600"
)
_CATEGORIES: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


def why_refused(expression: str) -> str:
    """Return what is wrong with an expression of the user's, as the end of a sentence, or ""."""
    try:
        re.compile(expression)
        slow = problem(expression)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    return f"may take very long: {slow}" if slow else ""


def problem(expression: str, most_steps: float = MOST_STEPS) -> str:
    """Return why the expression may take very long, and what to do; "" where it does not.

    Args:
        expression: any.
        most_steps: that it may take at one place.

    Raises:
        re.error: it is no regular expression.
    """
    tree = _parser.parse(expression)
    walk = _Walk(_letters(tree))
    steps = walk.sequence(tree, _Place(walk.of_flags(tree.state.flags), after=0, free=True))
    return walk.found or ("" if steps.all <= most_steps else _SHARED)


class _Steps(NamedTuple):
    """What a part of an expression takes at one place, at worst.

    Attributes:
        read: characters that it reads.
        ways: how often what stands behind it is tried.
    """

    read: float = 0.0
    ways: float = 1.0

    @property
    def all(self) -> float:
        """All steps, where nothing stands behind it."""
        return self.read + self.ways

    def then(self, behind: _Steps) -> _Steps:
        """Return the steps of this part and the next one."""
        return _Steps(self.read + self.ways * behind.read, self.ways * behind.ways)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the expression a part stands.

    Attributes:
        flags: that hold here.
        after: the letters that may come behind the part.
        free: whether nothing behind it can fail, so that nobody comes back for another length.
        looped: whether it is within a repeat.
        looking: whether it is within a look ahead, whose end is not where the match goes on.
        guards: the letters that must have come before it, one set for each.
    """

    flags: int
    after: int
    free: bool
    looped: bool = False
    looking: bool = False
    guards: tuple[int, ...] = ()


class _Walk:
    """One walk over a parse tree; sets of letters are bits, one for each sample."""

    def __init__(self, letters: str) -> None:
        self._letters = letters
        self._all = (1 << len(letters)) - 1
        self.found = ""

    @staticmethod
    def of_flags(flags: int) -> int:
        return flags & (re.IGNORECASE | re.DOTALL | re.MULTILINE)

    def sequence(self, tree: Any, place: _Place) -> _Steps:
        """Look at a sequence and all that is in it."""
        nodes = list(tree)
        steps = _Steps()
        guards = place.guards
        for number, (op, value) in enumerate(nodes):
            rest = nodes[number + 1 :]
            after, empty = self._first(rest, place.flags)
            ends = list(self._ends(rest, place.flags))
            after |= _any_of(ends)
            here = replace(
                place,
                after=after | (place.after if empty else 0),
                free=place.free and empty and not ends,
                guards=guards,
            )
            steps = steps.then(self._node(str(op), value, here))
            guards += tuple(self._musts(str(op), value, place.flags))
        return steps

    def _node(self, op: str, value: Any, place: _Place) -> _Steps:
        if op.endswith("_REPEAT"):
            return self._repeat(op, value, place)
        if op == "SUBPATTERN":
            flags = (place.flags | value[1]) & ~value[2]
            return self.sequence(value[3], replace(place, flags=self.of_flags(flags)))
        if op == "ATOMIC_GROUP":
            return self._once(value, replace(place, free=True))
        if op in ("ASSERT", "ASSERT_NOT"):
            return self._once(value[1], replace(place, after=0, free=True, looking=True))
        if op == "BRANCH":
            return self._branches(value[1], place)
        if op == "GROUPREF_EXISTS":
            return self._branches([branch or [] for branch in value[1:]], place)
        return _Steps(_FIXED if op == "LITERAL" else 1.0)

    def _once(self, tree: Any, place: _Place) -> _Steps:
        """Look at what nobody comes back into: its ways are not tried again with others."""
        return _Steps(self.sequence(tree, replace(place, looped=False)).all)

    def _branches(self, branches: Sequence[Any], place: _Place) -> _Steps:
        seen, alike = 0, 1
        every: list[_Steps] = []
        for branch in branches:
            first, _ = self._first(branch, place.flags)
            alike += bool(first & seen)
            seen |= first
            every.append(self.sequence(branch, place))
        if alike > 1 and place.looped and not place.free:
            self.found = self.found or _SHARED
        together = sum if alike > 1 else max
        return _Steps(together(each.read for each in every), together(each.ways for each in every))

    def _repeat(self, op: str, value: Any, place: _Place) -> _Steps:
        least, most, body = value
        first, _ = self._first(body, place.flags)
        lengths = most - least + 1 if most <= LONG else float("inf")
        possessive = op == "POSSESSIVE_REPEAT"
        if most > LONG and (place.looking or not place.free):
            self._guarded(self._takes(body, place.flags), place)
        ways = 1.0
        if lengths > 1 and not possessive and not place.free and first & place.after:
            ways = lengths
            if place.looped or lengths > LONG + 1:
                self.found = self.found or _SHARED
        again = most > 1
        inside = replace(
            place,
            after=place.after | (first if again else 0),
            free=place.free or possessive,
            looped=place.looped or again,
        )
        one = self._once(body, inside) if possessive else self.sequence(body, inside)
        # What may be endless is read once, as its guard stands at one place of a run alone.
        return _Steps((most if most <= LONG else 1) * one.read, ways * one.ways)

    def _guarded(self, takes: int, place: _Place) -> None:
        if not any(guard & takes == 0 for guard in place.guards):
            self.found = self.found or _ANEW

    def _musts(self, op: str, value: Any, flags: int) -> Iterator[int]:
        """Yield the letters that a node must take, one set for each, or must not follow."""
        if op in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            yield self._set(op, value, flags)
        elif op == "BRANCH" and all(self._first(branch, flags)[1] is False for branch in value[1]):
            yield _any_of([self._takes(branch, flags) for branch in value[1]])
        elif op in ("AT", "ASSERT_NOT"):
            yield from self._stops(op, value, flags)
        else:
            inside: Any = ()
            if op == "SUBPATTERN":
                flags = self.of_flags((flags | value[1]) & ~value[2])
                inside = value[3]
            elif op.endswith("_REPEAT") and value[0] > 0:
                inside = value[2]
            for inner, its in inside:
                yield from self._musts(str(inner), its, flags)

    def _stops(self, op: str, value: Any, flags: int) -> Iterator[int]:
        """Yield the letters that an assertion lets stand before what follows."""
        if op == "ASSERT_NOT":
            if value[0] < 0 and len(value[1]) == 1 and str(value[1][0][0]) in ("LITERAL", "IN"):
                yield self._all & ~self._set(str(value[1][0][0]), value[1][0][1], flags)
        elif str(value) == "AT_BEGINNING" and flags & re.MULTILINE:
            yield self._bits("\n", 0)
        elif str(value) in ("AT_BEGINNING_STRING", "AT_BEGINNING"):
            yield 0
        elif str(value) == "AT_BOUNDARY":
            yield self._all & ~self._category("WORD")

    def _first(self, nodes: Any, flags: int) -> tuple[int, bool]:
        """Return the letters that a sequence may begin with, and whether it may be empty."""
        letters = 0
        for op, value in nodes:
            some, empty = self._begins(str(op), value, flags)
            letters |= some
            if not empty:
                return letters, False
        return letters, True

    def _ends(self, nodes: Sequence[Any], flags: int) -> Iterator[int]:
        """Yield the letters before which each assertion that comes next may hold."""
        for op, value in nodes:
            name = str(op)
            if name in ("AT", "ASSERT", "ASSERT_NOT"):
                yield self._lets(name, value, flags)
            if not self._begins(name, value, flags)[1]:
                break

    def _lets(self, op: str, value: Any, flags: int) -> int:
        """Return the letters before which an assertion may hold."""
        if op == "AT":
            at_end = str(value) in ("AT_END", "AT_END_STRING")
            return self._bits("\n", 0) if at_end else self._all
        letters, empty = self._first(value[1], flags)
        return letters if op == "ASSERT" and value[0] > 0 and not empty else self._all

    def _begins(self, op: str, value: Any, flags: int) -> tuple[int, bool]:
        if op == "SUBPATTERN":
            return self._first(value[3], self.of_flags((flags | value[1]) & ~value[2]))
        if op == "ATOMIC_GROUP":
            return self._first(value, flags)
        if op.endswith("_REPEAT"):
            letters, empty = self._first(value[2], flags)
            return letters, empty or value[0] == 0
        if op in ("BRANCH", "GROUPREF_EXISTS"):
            branches = _branches(op, value)
            found = [self._first(branch, flags) for branch in branches]
            return _any_of([letters for letters, _ in found]), any(empty for _, empty in found)
        if op == "GROUPREF":
            return self._all, True
        if op in ("AT", "ASSERT", "ASSERT_NOT"):
            return 0, True
        return self._set(op, value, flags), False

    def _takes(self, nodes: Any, flags: int) -> int:
        """Return every letter that a sequence may take."""
        letters = 0
        for op, value in nodes:
            name = str(op)
            if name == "SUBPATTERN":
                inner = self.of_flags((flags | value[1]) & ~value[2])
                letters |= self._takes(value[3], inner)
            elif name == "ATOMIC_GROUP":
                letters |= self._takes(value, flags)
            elif name.endswith("_REPEAT"):
                letters |= self._takes(value[2], flags)
            elif name in ("BRANCH", "GROUPREF_EXISTS"):
                branches = _branches(name, value)
                letters |= _any_of([self._takes(branch, flags) for branch in branches])
            elif name == "GROUPREF":
                letters = self._all
            elif name not in ("AT", "ASSERT", "ASSERT_NOT"):
                letters |= self._set(name, value, flags)
        return letters

    def _set(self, op: str, value: Any, flags: int) -> int:
        """Return the letters that a node for one letter takes."""
        if op == "ANY":
            return self._all if flags & re.DOTALL else self._all & ~self._bits("\n", 0)
        if op == "IN":
            negated = str(value[0][0]) == "NEGATE"
            letters = _any_of([self._item(item, flags) for item in value])
            return self._all & ~letters if negated else letters
        letters = self._bits(chr(value), flags)
        return self._all & ~letters if op == "NOT_LITERAL" else letters

    def _item(self, item: Any, flags: int) -> int:
        op, value = str(item[0]), item[1]
        if op == "LITERAL":
            return self._bits(chr(value), flags)
        if op == "RANGE":
            inside = [letter for letter in self._letters if value[0] <= ord(letter) <= value[1]]
            return self._bits("".join(inside), flags)
        if op == "CATEGORY":
            name = str(value).removeprefix("CATEGORY_")
            letters = self._category(name.removeprefix("NOT_"))
            return self._all & ~letters if name.startswith("NOT_") else letters
        return 0

    def _category(self, name: str) -> int:
        return self._bits("".join(re.findall(_CATEGORIES[name], self._letters)), 0)

    def _bits(self, letters: str, flags: int) -> int:
        if flags & re.IGNORECASE:
            letters += letters.lower() + letters.upper()
        return _any_of(
            [1 << number for number, each in enumerate(self._letters) if each in letters]
        )


def _branches(op: str, value: Any) -> list[Any]:
    """Return the sequences of which one is taken; a missing one is empty."""
    return list(value[1]) if op == "BRANCH" else [each or () for each in value[1:]]


def _any_of(sets: Sequence[int]) -> int:
    letters = 0
    for each in sets:
        letters |= each
    return letters


def _letters(tree: Any) -> str:
    """Return the samples, and the letters that the expression itself names."""
    named: set[str] = set()
    todo: list[Any] = [tree]
    for part in todo:
        if isinstance(part, int):
            named.update(chr(code) for code in (part - 1, part, part + 1) if 0 < code < 0x110000)
        elif isinstance(part, list | tuple):
            todo.extend(cast("Sequence[Any]", part))
        elif hasattr(part, "data"):
            todo.extend(part.data)
    return "".join(sorted(named | set(_SAMPLES)))
