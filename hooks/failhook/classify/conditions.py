"""What a rule can ask of one fact: a plain value, one of several, text, a number, present, absent.

Every condition is false for a fact that is not there, but for `ABSENT`, `Not` and the user's own
``!=`` and ``!~``. A fact that is a set of texts satisfies a condition when one of them does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from failhook.classify.facts import Facts, Value
from failhook.matchers import Matcher

Test = Callable[[Facts], bool]


class Condition(Protocol):
    """One question about the fact at a path."""

    def test(self, path: str) -> Test:
        """Return the question as a function of the facts."""
        ...

    def keys(self) -> frozenset[Any] | None:
        """Return the only values that can satisfy it, where they can be listed."""
        ...

    def needs_fact(self) -> bool:
        """Return whether it is false when the fact is not there."""
        ...

    def describe(self, path: str) -> str:
        """Return it as people write it."""
        ...


@dataclass(frozen=True, slots=True)
class OneOf:
    """The fact is one of these values."""

    values: tuple[Value, ...]

    def test(self, path: str) -> Test:
        values = frozenset(self.values)

        def holds(facts: Facts) -> bool:
            value = facts[path]
            if type(value) is tuple:
                return not values.isdisjoint(value)
            return value in values

        if len(values) != 1:
            return holds
        (only,) = values

        def holds_one(facts: Facts) -> bool:
            value = facts[path]
            return value == only or (type(value) is tuple and only in value)

        return holds_one

    def keys(self) -> frozenset[Any] | None:
        return frozenset(self.values)

    def needs_fact(self) -> bool:
        return True

    def describe(self, path: str) -> str:
        return f"{path} = {' or '.join(str(value) for value in self.values)}"


@dataclass(frozen=True, slots=True)
class Like:
    """A regular expression is found in the text; not anchored. It is compiled when first used."""

    pattern: str
    flags: re.RegexFlag = re.NOFLAG

    def test(self, path: str) -> Test:
        compiled: list[Callable[[str], object]] = []

        def holds(facts: Facts) -> bool:
            value = facts[path]
            if value is None:
                return False
            if not compiled:
                compiled.append(re.compile(self.pattern, self.flags).search)
            search = compiled[0]
            if type(value) is tuple:
                return any(search(text) for text in value)
            return search(str(value)) is not None

        return holds

    def keys(self) -> frozenset[Any] | None:
        return None

    def needs_fact(self) -> bool:
        return True

    def describe(self, path: str) -> str:
        return f"{path} ~ {self.pattern}"


@dataclass(frozen=True, slots=True)
class Has:
    """One of these words stands in the text, exactly as written."""

    words: tuple[str, ...]

    def test(self, path: str) -> Test:
        words = self.words

        def found(text: str) -> bool:
            return any(word in text for word in words)

        if len(words) == 1:
            only = words[0]

            def found(text: str) -> bool:
                return only in text

        def holds(facts: Facts) -> bool:
            value = facts[path]
            if type(value) is str:
                return found(value)
            return type(value) is tuple and any(found(text) for text in value)

        return holds

    def keys(self) -> frozenset[Any] | None:
        return None

    def needs_fact(self) -> bool:
        return True

    def describe(self, path: str) -> str:
        return f"{path} has {' or '.join(repr(word) for word in self.words)}"


@dataclass(frozen=True, slots=True)
class Number:
    """The fact is a number from `least` to `most`, both included."""

    least: float | None = None
    most: float | None = None

    def test(self, path: str) -> Test:
        least = float("-inf") if self.least is None else self.least
        most = float("inf") if self.most is None else self.most

        def holds(facts: Facts) -> bool:
            value = facts[path]
            return (type(value) is int or type(value) is float) and least <= value <= most

        return holds

    def keys(self) -> frozenset[Any] | None:
        return None

    def needs_fact(self) -> bool:
        return True

    def describe(self, path: str) -> str:
        if self.most is None:
            return f"{path} >= {self.least}"
        return (
            f"{path} <= {self.most}"
            if self.least is None
            else f"{self.least} <= {path} <= {self.most}"
        )


@dataclass(frozen=True, slots=True)
class Present:
    """The fact is there, whatever it says."""

    def test(self, path: str) -> Test:
        return lambda facts: facts[path] is not None

    def keys(self) -> frozenset[Any] | None:
        return None

    def needs_fact(self) -> bool:
        return True

    def describe(self, path: str) -> str:
        return f"{path} is known"


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold; so it holds when the fact is not there."""

    condition: Condition

    def test(self, path: str) -> Test:
        inner = self.condition.test(path)
        return lambda facts: not inner(facts)

    def keys(self) -> frozenset[Any] | None:
        return None

    def needs_fact(self) -> bool:
        return False

    def describe(self, path: str) -> str:
        return f"not ({self.condition.describe(path)})"


@dataclass(frozen=True, slots=True)
class Written:
    """A matcher as users write it, in Alertmanager's way: on the text of the fact, anchored."""

    matcher: Matcher

    def test(self, path: str) -> Test:
        name = self.matcher.name
        matches = self.matcher.matches

        def holds(facts: Facts) -> bool:
            value = facts[path]
            if isinstance(value, tuple):
                if self.matcher.operator in ("!=", "!~"):
                    return all(matches({name: text}) for text in value)
                return any(matches({name: text}) for text in value)
            return matches({name: as_text(value)})

        return holds

    def keys(self) -> frozenset[Any] | None:
        return None

    def needs_fact(self) -> bool:
        return self.matcher.operator == "=" and self.matcher.value != ""

    def describe(self, path: str) -> str:  # noqa: ARG002 - the matcher names its path itself
        return str(self.matcher)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A question that no plain condition can ask; the sentence says what it asks."""

    sentence: str
    holds: Test = field(compare=False)


PRESENT: Final = Present()
ABSENT: Final = Not(PRESENT)

Shorthand = Condition | str | int | bool | tuple[Value, ...]


def one_of(*values: Value) -> OneOf:
    """The fact is one of these values."""
    return OneOf(values)


def like(pattern: str, *, ignore_case: bool = False) -> Like:
    """The regular expression is found in the text."""
    return Like(pattern, re.IGNORECASE if ignore_case else re.NOFLAG)


def has(*words: str) -> Has:
    """One of these words stands in the text."""
    return Has(words)


def is_not(*values: Value) -> Not:
    """The fact is none of these values, or not there."""
    return Not(OneOf(values))


def at_least(least: float) -> Number:
    """The fact is a number, this one or more."""
    return Number(least=least)


def between(least: float, most: float) -> Number:
    """The fact is a number in this range."""
    return Number(least, most)


def condition(shorthand: Shorthand) -> Condition:
    """Return the condition that a table entry means: a plain value is `one_of` that value."""
    if isinstance(shorthand, str | int | bool):
        return OneOf((shorthand,))
    if isinstance(shorthand, tuple):
        return OneOf(shorthand)
    return shorthand


def as_text(value: Value) -> str:
    """Return a fact as the text that users' matchers see."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
