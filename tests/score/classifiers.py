"""Who is scored: failhook's own rules, and the keywords that people write first."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify import Classifier
from failhook.evidence import Evidence
from tests.score.cases import Answer

_KEYWORDS: Final = (
    (r"cancel|revoked|marked.*failed|killed by user", "manual", "Cancelled"),
    (r"time.?out|timed out|deadline|time limit", "timeout", "ExecutionTimeout"),
    (r"evict|preempt|spot|node|sigkill|worker.?lost|heartbeat|killed|137", "infra", "Evicted"),
    (r"oom|out of memory|memoryerror", "application", "OutOfMemory"),
    (r"error|exception|failed|exit", "application", "UserException"),
)
"""First match wins, anywhere in the document: what a first attempt at a rule set looks like."""


def failhook() -> Any:
    """Return failhook's classifier with its built-in rules alone."""
    classifier = Classifier()

    def classify(document: Mapping[str, Any]) -> Answer:
        details = classifier.classify(None, Evidence.from_dict(document))
        return Answer(details.kind, details.reason, details.deterministic)

    return classify


def keywords(document: Mapping[str, Any]) -> Answer:
    """Look for words in the whole document."""
    text = json.dumps(document.get("evidence")).lower()
    for pattern, kind, reason in _KEYWORDS:
        if re.search(pattern, text):
            return Answer(kind, reason)
    return Answer("unknown", "Unknown")
