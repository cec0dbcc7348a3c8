"""The redactor: finds what the shapes describe, and puts a marker in its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from failhook.errors import ConfigError
from failhook.redact.cuts import keys_before_their_end, marks, merged, minus, tokens_at
from failhook.redact.legible import legible
from failhook.redact.linear import why_refused
from failhook.redact.pattern import Pattern, Shape, Span
from failhook.redact.scan import Scan
from failhook.redact.shapes import DEFAULT
from failhook.text import clean

HIDDEN: Final = "***"
WITHHELD: Final = "[text withheld: redaction failed]"

_REMEMBERED: Final = 1_024
_SHORT: Final = 1_024
_LINES: Final = 16_384
"""Characters. Of longer text, lines that were seen before are not looked for."""
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class Source(Protocol):
    """Finds secrets of its own kind."""

    def spans(self, text: str) -> Iterable[Span]:
        """Return where there is something to hide; it may raise."""
        ...


class Redactor:
    """Hides secrets in text; it never raises, and takes time linear in the text.

    Args:
        shapes: the shapes of secrets; `DEFAULT` unless given.
        extra: the user's own, tried beside them: regular expressions, or what finds secrets by
            itself. What the groups of an expression match is hidden, or the whole match where it
            has none.

    Raises:
        ConfigError: an expression cannot be compiled, or may take more than linear time.
    """

    def __init__(
        self, shapes: Iterable[Shape] = DEFAULT, extra: Sequence[str | Source] = ()
    ) -> None:
        self._scan = Scan(shapes)
        self._extra = [_compiled(each) if isinstance(each, str) else each for each in extra]
        self._plain: set[str] = set()
        self._signless: set[str] = set()

    def redact(self, text: str) -> str:
        """Return the text with ``***`` in the place of each secret; names of secrets stay.

        Where hiding fails the text is withheld as a whole, and `WITHHELD` stands for it. Where far
        more of it looks secret than text has, the rest is left out with a mark.
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
        spans: list[Span] = []
        seen, end = legible(text)
        if end < len(text) or self._suspect(seen):
            spans, end = self._scan.find(seen, _folded(seen), end)
            cuts = marks(text[:end])
            spans.extend(tokens_at(cuts, text, HIDDEN))
            spans.extend(keys_before_their_end(seen, end))
        else:
            cuts = ()
        for source in self._extra:
            spans.extend(source.spans(text))
        return _without(text, spans, cuts, end)

    def _suspect(self, text: str) -> bool:
        """Return whether any sign of a secret may occur.

        Short lines without any are remembered: a traceback has few that were not seen before.
        """
        if len(text) > _LINES:
            return True
        signless = self._signless
        unknown = [line for line in text.split("\n") if line not in signless]
        if not unknown:
            return False
        if self._scan.suspects(_folded("\n".join(unknown))):
            return True
        for line in unknown:
            _remember(signless, line)
        return False


def _remember(memory: set[str], text: str) -> None:
    if len(text) <= _SHORT:
        if len(memory) >= _REMEMBERED:
            memory.clear()
        memory.add(text)


def _compiled(expression: str) -> Pattern:
    problem = why_refused(expression)
    if problem:
        msg = f"redaction pattern {expression!r} {problem}"
        raise ConfigError(msg)
    return Pattern(expression, re.compile(expression))


def _folded(text: str) -> str:
    """Return the text in lower case, each letter where it was."""
    folded = text.lower()
    if len(folded) != len(text):  # a letter that grows would move all that follow it
        folded = text.replace("\u0130", "i").lower()
    return folded if len(folded) == len(text) else text.translate(_ASCII_LOWER)


def _without(text: str, spans: list[Span], cuts: Sequence[Span], end: int) -> str:
    """Return the text with one marker for each run of spans; the marks of cuts stay.

    Args:
        text: the text.
        spans: what is to be hidden.
        cuts: where the marks of cuts are.
        end: where the text ends that may be shown.
    """
    pieces: list[str] = []
    position = 0
    for start, stop in minus(merged(spans), cuts) if spans else ():
        if start >= end:
            break
        pieces += (text[position:start], HIDDEN)
        position = stop
    if end < len(text):
        pieces += (text[position:end], f"[... {len(text) - end} characters left out ...]")
    elif pieces:
        pieces.append(text[position:])
    else:
        return text
    hidden = "".join(pieces)
    return text if hidden == text else hidden
