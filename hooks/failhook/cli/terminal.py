"""Text of somebody else's on a terminal: nothing in it moves the cursor or turns a line around."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
import unicodedata
from typing import Final

ELLIPSIS: Final = "…"

_LEFT_TO_RIGHT: Final = "\u200e"
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
"""Bidirectional classes (UAX #9) whose letters pull what follows them to their left."""
_NARROWEST: Final = 40


def terminal_width() -> int | None:
    """Return the columns of the terminal on standard output; None where that is no terminal."""
    try:
        if not sys.stdout.isatty():
            return None
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (AttributeError, OSError, ValueError):
        return None
    return max(_NARROWEST, columns) if columns else 80


def one_line(text: str) -> str:
    r"""Return text in one line: what does not print becomes an escape such as ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escape(each) for each in text)


def quoted(word: str) -> str:
    r"""Return a word as a shell takes it; what does not print is written as in ``$'\x1b'``."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{one_line(escaped)}'"


def lines_of(text: str) -> list[str]:
    """Return text line by line, each as `one_line` has it; tabs become spaces."""
    return [one_line(line.expandtabs(4)) for line in text.splitlines()]


def folded(text: str) -> list[str]:
    """Return lines as wide as the terminal; what goes on stands two columns further in."""
    lines, width = lines_of(text), terminal_width()
    if width is None:
        return lines
    found: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip(" "))] + "  "
        parts = textwrap.wrap(
            line,
            width,
            subsequent_indent=indent,
            drop_whitespace=True,
            break_long_words=False,
            break_on_hyphens=False,
        )
        found += parts or [""]
    return found


def width_of(text: str) -> int:
    """Return how many columns a line takes."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return a line filled up with spaces; right-to-left letters in it end with it."""
    space = " " * (columns - width_of(text))
    if not text.isascii() and any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in text):
        text += _LEFT_TO_RIGHT
    return space + text if right else text + space


def shortened(text: str, columns: int, *, middle: bool = False) -> str:
    """Return a line cut to some columns, with an ellipsis where something is gone.

    Args:
        text: one line.
        columns: 1 or more.
        middle: keep the end too, as keys need it.
    """
    if width_of(text) <= columns:
        return text
    tail = (columns - 1) // 2 if middle else 0
    head = _taken(text, columns - 1 - tail)
    return head + ELLIPSIS + _taken(text[::-1], tail)[::-1]


def _taken(text: str, columns: int) -> str:
    for end, character in enumerate(text):
        columns -= _width(character)
        if columns < 0:
            return text[:end]
    return text


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _escape(character: str) -> str:
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    code = ord(character)
    short, long = f"\\x{code:02x}", f"\\u{code:04x}"
    return named.get(character) or (short if code < 0x100 else long)
