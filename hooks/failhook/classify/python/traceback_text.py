"""The text of a Python traceback, read back into an error."""

from __future__ import annotations

from failhook.evidence import Evidence


def from_text(text: str) -> Evidence:
    """Return the evidence that a text holds."""
    return Evidence.exception(text)
