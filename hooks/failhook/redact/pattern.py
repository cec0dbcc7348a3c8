"""What a secret looks like: a regular expression, and the sign by which it is noticed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

REACH: Final = 48
"""Characters before a sign that `Shape.behind` may look at."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A regular expression of the user's, tried on the whole of each text.

    Attributes:
        name: what it is called in messages of ours.
        regex: takes time linear in the text; what its groups match is hidden, or the whole match
            where it has none.
    """

    name: str
    regex: re.Pattern[str]

    def spans(self, text: str) -> Iterator[Span]:
        """Yield where there is something to hide."""
        for match in self.regex.finditer(text):
            yield from _spans_of(match)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A built-in shape: tried only where one of its signs stands.

    Attributes:
        name: what the shape is called.
        signs: lower-case words; a shape is found nowhere else.
        gate: a verbose expression of what must stand after a sign, a cheap test in lower case; it
            looks no further than the end of the line.
        starts: whether a sign must not stand within a word: prefixes of tokens do not.
        follow: characters of which one must follow the sign at once; any unless given.
        regex: a verbose expression, matched where a sign begins; what its groups match is hidden,
            or the whole match where it has none.
        folded: match the text in lower case.
        behind: a verbose expression of what must end where the sign begins, within `REACH`
            characters; what its groups match is hidden too.
        reads: characters that it may read in vain, where these are many.
    """

    name: str
    signs: tuple[str, ...]
    regex: str
    gate: str = ""
    starts: bool = False
    follow: str = ""
    folded: bool = False
    behind: str = ""
    reads: int = 0


class Finder:
    """Finds what one shape describes; its expressions are compiled when they are first used."""

    def __init__(self, shape: Shape) -> None:
        self.follow: Final = shape.follow
        self.folded: Final = shape.folded
        self._shape: Final = shape

    def find(self, text: str, start: int, spans: list[Span]) -> int:
        """Add what is to be hidden at a sign; return where the match ends.

        Where nothing is found it returns how many characters may have been read, below zero.

        Args:
            text: in lower case for a folded shape.
            start: where the sign begins.
            spans: is added to.
        """
        before = None
        if self._behind:
            before = self._behind.search(text, max(0, start - REACH), start)
            if before is None:
                return 0
        found = self._regex.match(text, start)
        if found is None:
            return -self._shape.reads
        spans.extend(_spans_of(found))
        if before and before.re.groups:
            spans.extend(_spans_of(before))
        return found.end()

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self._shape.regex, re.VERBOSE)

    @cached_property
    def _behind(self) -> re.Pattern[str] | None:
        behind = self._shape.behind
        return re.compile(rf"(?: {behind} ) \Z", re.VERBOSE) if behind else None


def _spans_of(match: re.Match[str]) -> Iterator[Span]:
    groups = match.re.groups
    for group in range(1, groups + 1) if groups else (0,):
        span = match.span(group)
        if span[0] < span[1]:
            yield span
