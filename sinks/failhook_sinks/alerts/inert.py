"""Text of strangers, made harmless for whoever shows it: no control characters, no hidden order."""

from __future__ import annotations

import unicodedata
from typing import Final

_JOINERS: Final = "\u200c\u200d"
"""They make one emoji of several, and letters of Persian: kept."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def inert(text: str) -> str:
    r"""Return text in which every character can be seen; lines and tabs stay.

    NULs, escapes of terminals, controls that turn the direction of text around (``\u202e``) and
    lone surrogates are written out as Python does.
    """
    unified = text.replace("\r\n", "\n")
    if unified.replace("\n", "").replace("\t", "").isprintable():
        return unified
    # Texts have few different characters, and a digest has many texts.
    return unified.translate({ord(each): _visible(each) for each in set(unified)})


def one_line(text: str, limit: int) -> str:
    """Return text as one inert line of at most so many characters."""
    # More than a few times the limit is never shown, and may be megabytes.
    line = " ".join(inert(text[: 8 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def shortened(text: str, limit: int) -> str:
    """Keep the beginning and, three times as much, the end of a text; say how much is left out.

    The end of a traceback is where the error is. The result has at most `limit` characters.
    """
    if len(text) <= limit:
        return text
    mark = f"\n[... {len(text) - limit:,} characters left out ...]\n"
    room = limit - len(mark)
    if room <= 0:
        return text[:limit]
    head = room // 4
    return f"{text[:head]}{mark}{text[head - room :]}"


def _visible(character: str) -> str:
    if character in "\n\t" or character in _JOINERS:
        return character
    if unicodedata.category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode("ascii")
    return character
