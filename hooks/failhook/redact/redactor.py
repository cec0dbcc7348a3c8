"""The redactor: finds what the patterns describe, and puts a marker in its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Protocol

from failhook.errors import ConfigError
from failhook.redact.pattern import Pattern
from failhook.redact.shapes import DEFAULT
from failhook.text import CUT_MARK, clean

HIDDEN: Final = "***"
WITHHELD: Final = "[text withheld: redaction failed]"
LONGEST_TOKEN: Final = 4_096
"""Characters that are withheld, at most, after a coarse cut."""

LONGEST_END: Final = 256
"""Characters that are withheld, at most, before one: the patterns know a long secret there by its
beginning, which a rest after the cut has lost."""

_CUT_SIGN: Final = "[... "
_REMEMBERED: Final = 1_024
_SHORT: Final = 1_024
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class _Finder(Protocol):
    """What finds secrets; `Pattern` says what its parts mean."""

    @property
    def signs(self) -> tuple[str, ...]: ...
    @property
    def folded(self) -> bool: ...
    def spans(self, text: str) -> Iterator[tuple[int, int]]: ...


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
        found: list[_Finder] = [_TokensAtCuts(), *patterns, *map(_compiled, extra)]
        self._always = [finder for finder in found if not finder.signs]
        self._by_sign = [
            (sign, [finder for finder in found if sign in finder.signs])
            for sign in dict.fromkeys(sign for finder in found for sign in finder.signs)
        ]
        self._plain: set[str] = set()
        self._signless: set[str] = set()

    def redact(self, text: str) -> str:
        """Return the text with ``***`` in the place of each secret; names of secrets stay.

        Where hiding fails the text is withheld as a whole, and `WITHHELD` stands for it.
        """
        if text in self._plain:
            return text
        try:
            return self._redacted(text)
        except Exception:  # noqa: BLE001 - a pattern of the user's; the event goes out without the text
            return WITHHELD

    def redact_value(self, name: str, value: str) -> str:
        """Return the value redacted; all of it is hidden where its name is that of a secret."""
        probe = f"{name}=0"
        return self.redact(value) if self.redact(probe) == probe else HIDDEN

    def plain(self, texts: Collection[str]) -> bool:
        """Return whether all texts are valid and hold no secrets; it remembers some that are."""
        if self._plain.issuperset(texts):
            return True
        for text in texts:
            if text not in self._plain:
                if clean(text) is not text or self.redact(text) is not text:
                    return False
                _remember(self._plain, text)
        return True

    def _redacted(self, text: str) -> str:
        finders = self._suspects(text)
        if not finders:
            return text
        folded = text.lower()
        if len(folded) != len(text):  # a letter that grows would move all that follow it
            folded = text.translate(_ASCII_LOWER)
        spans: list[tuple[int, int]] = []
        for finder in finders:
            spans.extend(finder.spans(folded if finder.folded else text))
        return _without(text, spans) if spans else text

    def _suspects(self, text: str) -> Collection[_Finder]:
        """Return what may find something: whose sign occurs, or that has none.

        Lines without any sign are remembered: a traceback has few that were not seen before.
        """
        signless = self._signless
        unknown = [line for line in text.split("\n") if line not in signless]
        folded = "\n".join(unknown).lower()
        hits = [(sign, finders) for sign, finders in self._by_sign if sign in folded]
        for line in unknown:
            small = line.lower() if hits else ""
            if not any(sign in small for sign, _ in hits):
                _remember(signless, line)
        return dict.fromkeys(chain(self._always, *[finders for _, finders in hits]))


def _remember(memory: set[str], text: str) -> None:
    if len(text) <= _SHORT:
        if len(memory) >= _REMEMBERED:
            memory.clear()
        memory.add(text)


def _compiled(extra: str | Pattern) -> Pattern:
    if isinstance(extra, Pattern):
        return extra
    try:
        return Pattern(extra, re.compile(extra))
    except re.error as error:
        msg = f"redaction pattern {extra!r} is not a regular expression: {error}"
        raise ConfigError(msg) from None


class _TokensAtCuts:
    """Finds the tokens on either side of a coarse cut: either may be the rest of a secret."""

    signs = (_CUT_SIGN,)
    folded = False

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        done = 0
        for mark in CUT_MARK.finditer(text):
            start, end = mark.span()
            before = text[max(done, start - LONGEST_END) : start]
            if before and not before[-1].isspace() and not before.endswith(HIDDEN):
                yield start - len(before.split()[-1]), start
            after = text[end : end + LONGEST_TOKEN]
            done = end
            if after and not after[0].isspace():
                done += len(after.split(maxsplit=1)[0])
                yield end, done


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with one marker for each run of spans; the marks of cuts stay."""
    marks = [mark.span() for mark in CUT_MARK.finditer(text)] if _CUT_SIGN in text else []
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
