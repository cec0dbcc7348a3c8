"""What frameworks and libraries say, line by line, in words of their own sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from failhook.classify import Classifier
from failhook.evidence import Evidence

CLASSIFIER = Classifier()

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "vocabulary.jsonl").read_text().splitlines()
]


def name(row: dict) -> str:
    """A row's system and what was seen, short."""
    seen = row["evidence"].get("exception") or row["evidence"]
    return f"{row['system']}:{str(seen.get('type', seen))[:60]}"


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_what_a_framework_says_has_its_verdict(row):
    """Each class, message or log line means what its project documents."""
    details = CLASSIFIER.classify(None, Evidence.from_dict(row))

    assert row["expected"] == {"kind": details.kind.value, "reason": details.reason}
