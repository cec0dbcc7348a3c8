"""Secrets taken out of text, before it is cut, stored or sent."""

from __future__ import annotations

from failhook.redact.pattern import Pattern, Shape
from failhook.redact.redactor import HIDDEN, WITHHELD, Redactor, Source
from failhook.redact.shapes import DEFAULT

__all__ = ["DEFAULT", "HIDDEN", "WITHHELD", "Pattern", "Redactor", "Shape", "Source"]
