"""What stands at a coarse cut: it may be a rest of a secret that nothing tells any more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from failhook.redact.pattern import Span
from failhook.redact.tokens import STAMP
from failhook.text import CUT_MARK

LONGEST_TOKEN: Final = 4_096
"""Characters that are withheld, at most, after a coarse cut."""

LONGEST_END: Final = 256
"""Characters that are withheld, at most, before one: the shapes know a long secret there by its
beginning, which a rest after the cut has lost."""

_SIGN: Final = "[... "
_CLOSING: Final = re.compile(r"""[^'"\n]{0,256}+(?<!\s)["'](?=[\s,;:)\]}]|\Z)""")
"""What ends with a quote that nothing opened: words of a quoted secret, perhaps."""


_KEY_SIGN: Final = "-----END "
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LINE_END: Final = re.compile(r"\r?\n|\\{1,3}n")
_KEY_LINE: Final = re.compile(
    rf"(?x) \s{{0,8}} {STAMP} ( [A-Za-z0-9+/=]{{0,80}}+ ) (?: \s | \\{{1,3}}[nr] )*+ \Z"
)
_KEY_WIDTH: Final = 20


def marks(text: str) -> Sequence[Span]:
    """Return where the marks of coarse cuts are."""
    return [mark.span() for mark in CUT_MARK.finditer(text)] if _SIGN in text else ()


def tokens_at(cuts: Sequence[Span], text: str, hidden: str) -> Iterator[Span]:
    """Yield the tokens on either side of each cut, but for one that is `hidden` already."""
    done = 0
    for start, end in cuts:
        before = text[max(done, start - LONGEST_END) : start]
        if before and not before[-1].isspace() and not before.endswith(hidden):
            yield start - len(before.split()[-1]), start
        after = text[end : end + LONGEST_TOKEN]
        done = end
        quoted = None if after.startswith(hidden) else _CLOSING.match(after)
        words = quoted.end() if quoted else 0
        if words or (after and not after[0].isspace()):
            rest = after[words:].split(maxsplit=1)
            done += words + (0 if not rest or after[words].isspace() else len(rest[0]))
            yield end, done


def keys_before_their_end(text: str, end: int) -> Iterator[Span]:
    """Yield the lines of private keys that stand before where one ends, whatever begins it.

    Who kept the tail of a log has lost the line that tells what they are.
    """
    done = 0
    for found in _KEY_END.finditer(text, 0, end) if _KEY_SIGN in text else ():
        stop = first = found.start()
        sure = False
        starts = [done, *(line.end() for line in _LINE_END.finditer(text, done, stop))]
        ends = [*starts[1:], stop]
        for number in range(len(starts) - 1, -1, -1):
            body = _KEY_LINE.match(text, starts[number], ends[number])
            width = 0 if body is None else len(body[1])
            begins = starts[number] == 0 and body is not None and body.start(1) == 0
            if body is None or not (begins or number >= len(starts) - 2 or width >= _KEY_WIDTH):
                break
            sure = sure or begins or width >= _KEY_WIDTH or body[1].endswith("=")
            if width:
                first = body.start(1)
        if sure and first < stop:
            yield first, stop
        done = found.end()


def merged(spans: list[Span]) -> Iterator[Span]:
    """Yield the spans in order; those that touch are one."""
    spans.sort()
    start, end = spans[0]
    for first, last in spans:
        if first > end:
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


def minus(spans: Iterable[Span], cuts: Sequence[Span]) -> Iterator[Span]:
    """Yield what is left of the spans beside the cuts; both are in order and apart."""
    number = 0
    for first, last in spans:
        start = first
        while number < len(cuts) and cuts[number][0] < last:
            cut = cuts[number]
            if start < cut[0]:
                yield start, cut[0]
            start = max(start, cut[1])
            if cut[1] > last:
                break
            number += 1
        if start < last:
            yield start, last
