"""All built-in sources of evidence. Within a tier, the rules of an earlier source go first."""

from __future__ import annotations

from typing import Final

from failhook.classify import kubernetes, process, python
from failhook.classify.source import Source

# What a supervisor saw comes last: a wait status says less than what explains it.
SOURCES: Final[tuple[Source, ...]] = (
    kubernetes.SOURCE,
    python.SOURCE,
    process.SOURCE,
)
