"""What a secret looks like: a regular expression, and the cheap signs that it may match at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """One shape of secret.

    Attributes:
        name: what the shape is called in messages of ours.
        regex: takes time linear in the text; what its groups match is hidden, or the whole match
            where it has none.
        signs: lower-case pieces of text; where none of them occurs the pattern cannot match.
            Without any it is always tried.
        folded: match the text in lower case.
    """

    name: str
    regex: re.Pattern[str]
    signs: tuple[str, ...] = ()
    folded: bool = False

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where there is something to hide; `text` is in lower case for a folded pattern."""
        groups = self.regex.groups
        for match in self.regex.finditer(text):
            for group in range(1, groups + 1) if groups else (0,):
                span = match.span(group)
                if span[0] < span[1]:
                    yield span
