"""All built-in sources of evidence. Within a tier, the rules of an earlier source go first."""

from __future__ import annotations

from typing import Final

from failhook.classify import process, python
from failhook.classify.source import Source

SOURCES: Final[tuple[Source, ...]] = (
    process.SOURCE,
    python.SOURCE,
)
