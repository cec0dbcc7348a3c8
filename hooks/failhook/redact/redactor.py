"""The redactor: finds what the patterns describe, and puts a marker in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from failhook.errors import ConfigError
from failhook.redact.pattern import Pattern
from failhook.redact.shapes import DEFAULT
from failhook.text import CUT_MARK, clean

HIDDEN: Final = "***"
WITHHELD: Final = "[text withheld: redaction failed]"
LONGEST_TOKEN: Final = 4_096
"""Characters that are withheld, at most, on either side of a coarse cut."""

_CUT_SIGN: Final = "[... "
_TOKEN: Final = re.compile(rf"\S{{0,{LONGEST_TOKEN}}}")
_REMEMBERED: Final = 1_024
_SHORT: Final = 256
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class Redactor:
    """Hides secrets in text; it never raises, and takes time linear in the text.

    Args:
        patterns: the shapes of secrets; `DEFAULT` unless given.
        extra: the user's own, tried beside them: regular expressions, or patterns. What their
            groups match is hidden, or the whole match where they have none.

    Raises:
        ConfigError: an expression cannot be compiled.
    """

    def __init__(
        self, patterns: Iterable[Pattern] = DEFAULT, extra: Sequence[str | Pattern] = ()
    ) -> None:
        found = (*patterns, *map(_compiled, extra))
        self._always = tuple(pattern for pattern in found if not pattern.signs)
        self._by_sign = tuple(
            (sign, tuple(pattern for pattern in found if sign in pattern.signs))
            for sign in dict.fromkeys([_CUT_SIGN, *(s for pattern in found for s in pattern.signs)])
        )
        self._plain: dict[str, None] = {}

    def redact(self, text: str) -> str:
        """Return the text with ``***`` in the place of each secret; names of secrets stay.

        Where hiding fails the text is withheld as a whole, and `WITHHELD` stands for it.
        """
        try:
            return self._redacted(text)
        except Exception:  # noqa: BLE001 - a pattern of the user's; the event goes out without the text
            return WITHHELD

    def redact_value(self, name: str, value: str) -> str:
        """Return the value redacted; all of it is hidden where its name is that of a secret."""
        probe = f"{name}=0"
        return self.redact(value) if self.redact(probe) == probe else HIDDEN

    def plain(self, text: str) -> bool:
        """Return whether the text is short, valid and without secrets; it remembers some."""
        if text in self._plain:
            return True
        if len(text) > _SHORT or clean(text) is not text or self.redact(text) is not text:
            return False
        if len(self._plain) >= _REMEMBERED:
            self._plain.clear()
        self._plain[text] = None
        return True

    def _redacted(self, text: str) -> str:
        folded = text.lower()
        hits = [patterns for sign, patterns in self._by_sign if sign in folded]
        if not hits and not self._always:
            return text
        if len(folded) != len(text):  # a letter that grows would move all that follow it
            folded = text.translate(_ASCII_LOWER)
        spans: list[tuple[int, int]] = []
        for pattern in dict.fromkeys(chain(self._always, *hits)):
            spans.extend(pattern.spans(folded if pattern.folded else text))
        marks: list[tuple[int, int]] = []
        if _CUT_SIGN in text:
            marks = [mark.span() for mark in CUT_MARK.finditer(text)]
            spans.extend(_touching(text, marks))
        return _without(text, spans, marks) if spans else text


def _compiled(extra: str | Pattern) -> Pattern:
    if isinstance(extra, Pattern):
        return extra
    try:
        return Pattern(extra, re.compile(extra))
    except re.error as error:
        msg = f"redaction pattern {extra!r} is not a regular expression: {error}"
        raise ConfigError(msg) from None


def _touching(text: str, marks: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Yield the tokens on either side of each coarse cut: either may be the rest of a secret."""
    done = 0
    for start, end in marks:
        before = text[max(done, start - LONGEST_TOKEN) : start]
        words = before.split()
        if words and not before[-1].isspace():
            yield start - len(words[-1]), start
        after = _TOKEN.match(text, end)
        if after is not None:
            done = after.end()
            yield end, done


def _without(text: str, spans: list[tuple[int, int]], marks: Sequence[tuple[int, int]]) -> str:
    """Return the text with one marker for each run of spans; the marks of cuts stay."""
    pieces: list[str] = []
    position = 0
    for start, end in _minus(_merged(spans), marks):
        pieces += (text[position:start], HIDDEN)
        position = end
    hidden = "".join((*pieces, text[position:]))
    return text if hidden == text else hidden


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    spans.sort()
    start, end = spans[0]
    for first, last in spans:
        if first > end:
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


def _minus(
    spans: Iterable[tuple[int, int]], marks: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield what is left of the spans beside the marks; both are in order and apart."""
    number = 0
    for first, last in spans:
        start = first
        while number < len(marks) and marks[number][0] < last:
            mark = marks[number]
            if start < mark[0]:
                yield start, mark[0]
            start = max(start, mark[1])
            if mark[1] > last:
                break
            number += 1
        if start < last:
            yield start, last
