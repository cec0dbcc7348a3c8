"""What a secret looks like: a regular expression, and the cheap signs that it may match at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

REACH: Final = 48


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """One shape of secret.

    Attributes:
        name: what the shape is called in messages of ours.
        regex: takes time linear in the text; what its groups match is hidden, or the whole match
            where it has none.
        signs: lower-case pieces of one line; where none of them occurs the pattern cannot match.
            Without any it is always tried.
        folded: match the text in lower case.
        at_signs: match only where a sign begins.
        behind: what must end where a match begins, within `REACH` characters; for `at_signs`.
    """

    name: str
    regex: re.Pattern[str]
    signs: tuple[str, ...] = ()
    folded: bool = False
    at_signs: bool = False
    behind: re.Pattern[str] | None = None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where there is something to hide; `text` is in lower case for a folded pattern."""
        groups = self.regex.groups
        for match in self._at_signs(text) if self.at_signs else self.regex.finditer(text):
            for group in range(1, groups + 1) if groups else (0,):
                span = match.span(group)
                if span[0] < span[1]:
                    yield span

    def _at_signs(self, text: str) -> Iterator[re.Match[str]]:
        behind = self.behind
        for sign in self.signs:
            start = text.find(sign)
            while start >= 0:
                match = self.regex.match(text, start)
                if match and (not behind or behind.search(text[max(0, start - REACH) : start])):
                    yield match
                    start = text.find(sign, match.end())
                else:
                    start = text.find(sign, start + 1)
