"""Text of unknown size and origin: made valid, and cut so that both ends stay readable."""

from __future__ import annotations

import re
from typing import Final

CUT_MARK: Final = re.compile(r"\[\.\.\. \d{1,15} characters cut \.\.\.\]")
"""Where `cut` left text out. Redaction withholds a token that touches this mark."""

_ANY_MARK: Final = re.compile(r"\[\.\.\. (\d{1,15}) characters (?:cut|left out) \.\.\.\]")
_MARK_REACH: Final = 48
_MOST_MARKS: Final = 64


def clean(text: str) -> str:
    r"""Return text that any UTF-8 writer accepts: lone surrogates and NULs become escapes."""
    if text.isascii():
        return text.replace("\x00", "\\x00") if "\x00" in text else text
    if "\x00" in text:
        text = text.replace("\x00", "\\x00")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def cut(text: str, limit: int, *, head: float = 0.5) -> str:
    """Keep the head and the tail of a text longer than `limit` characters, and say how much went.

    Args:
        text: any text that was not redacted yet: the cut may fall inside a secret.
        limit: characters that stay, the mark not counted.
        head: the share of `limit` that goes to the beginning.
    """
    if len(text) <= limit:
        return text
    return _cut(text, limit, head, "cut")


def cut_redacted(text: str, limit: int, *, head: float = 0.5) -> str:
    """Cut as `cut` does a text that holds no secret any more; its mark withholds nothing."""
    if len(text) <= limit:
        return text
    return _cut(text, limit, head, "left out")


def _cut(text: str, limit: int, head: float, verb: str) -> str:
    first = int(limit * head)
    last = len(text) - limit + first
    for mark in _ANY_MARK.finditer(text, max(0, first - _MARK_REACH), first + _MARK_REACH):
        if mark.start() < first < mark.end():
            first = mark.start()
    for mark in _ANY_MARK.finditer(text, max(0, last - _MARK_REACH), last + _MARK_REACH):
        if mark.start() < last < mark.end():
            last = mark.end()
    gone = last - first
    if text.count("[... ", first, last) > _MOST_MARKS:  # more than any cuts of ours leave
        return f"{text[:first]}[... {gone} characters {verb} ...]{text[last:]}"
    for mark in _ANY_MARK.finditer(text, first, last):
        gone += int(mark[1]) - len(mark[0])
    return f"{text[:first]}[... {gone} characters {verb} ...]{text[last:]}"
