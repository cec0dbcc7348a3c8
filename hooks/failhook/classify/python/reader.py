"""Reads exceptions: live, recorded, or text only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from failhook.classify.facts import Derive, Facts
from failhook.evidence import Evidence

DERIVED: Final[Mapping[str, Derive]] = {}


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the exception and the log tail."""
