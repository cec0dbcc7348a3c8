"""Text of unknown size and origin: made valid, and cut so that both ends stay readable."""

from __future__ import annotations

import re
from typing import Final

CUT_MARK: Final = re.compile(r"\[\.\.\. \d+ characters cut \.\.\.\]")
"""Where text was left out. Redaction withholds a token that touches this mark."""


def clean(text: str) -> str:
    r"""Return text that any UTF-8 writer accepts: lone surrogates and NULs become escapes."""
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
        text: any text.
        limit: characters that stay, the mark not counted.
        head: the share of `limit` that goes to the beginning.
    """
    if len(text) <= limit:
        return text
    first = int(limit * head)
    last = limit - first
    tail = text[-last:] if last else ""
    return f"{text[:first]}[... {len(text) - limit} characters cut ...]{tail}"
