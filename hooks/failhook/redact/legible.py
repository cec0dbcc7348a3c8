"""A text as a terminal shows it: what stands between a name and its value is no part of either."""

from __future__ import annotations

import re
from typing import Final

_COLOUR: Final = re.compile(r"\[[0-9;:]{1,16}m")
FREE_COLOURS: Final = 4_096
PER_COLOUR: Final = 10
"""A text may have this many colours, and one more for so many of its characters."""

_ESCAPED: Final = (r"\x1b", r"\u001b", r"\033")
_SPACES: Final = {"\x1b": " ", "\xa0": " ", "\uff1d": "=", "\uff1a": ":"}


def legible(text: str) -> tuple[str, int]:
    """Return a text as long, with spaces for the escapes of colours, however they are written.

    Spaces that do not break, and signs that are as wide as a Chinese letter, become plain ones.

    Returns:
        the text, and up to where it is so: from there on it has far more colours than letters.
    """
    end = len(text)
    if "[" in text:
        most = FREE_COLOURS + end // PER_COLOUR
        shown, count = _COLOUR.subn(_blank, text, most)
        more = _COLOUR.search(shown) if count == most else None
        end = more.start() if more else end
        if count and "\\" in shown:
            for escape in _ESCAPED:
                shown = shown.replace(escape, " " * len(escape))
        text = shown
    if "\x1b" in text or not text.isascii():
        for sign, plain in _SPACES.items():
            text = text.replace(sign, plain)
    return text, end


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
