"""Secrets taken out of text, before it is cut, stored or sent."""

from __future__ import annotations

from failhook.redact.pattern import Pattern
from failhook.redact.redactor import HIDDEN, WITHHELD, Redactor
from failhook.redact.shapes import DEFAULT

__all__ = ["DEFAULT", "HIDDEN", "WITHHELD", "Pattern", "Redactor"]
