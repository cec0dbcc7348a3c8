"""Evidence of every source, its texts dense with secrets: wherever it is cut, there is a mark."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from failhook.classify import Classifier
from failhook.event import EventType
from failhook.event_build import build_event
from failhook.evidence import Evidence
from failhook.redact import Redactor
from failhook.task import Task
from tests.model.planted import Planted, planted
from tests.model.strategies import NOW
from tests.redaction.leaks import leaked, pieces

TESTS = Path(__file__).parents[1]
SHIPPED = TESTS.parent / "hooks/failhook"
FILES = sorted((*TESTS.glob("cases/*.jsonl"), *TESTS.glob("classify/records/*.jsonl")))
LENGTH = 20_000
STEP = 12
SHIFTS = 5
SECRET = planted(5)["query key"].secret[:24]
UNIT = f" postgres://app:{SECRET}@db.example:5432/x".ljust(STEP * SHIFTS, "x")
DENSE = UNIT * (LENGTH // len(UNIT))
"""A cut anywhere is within a secret for one of the shifts, and leaves a piece of it."""

PIECES = pieces([Planted("", SECRET, "")])
NAMES = {"kind", "apiVersion", "state", "State", "Status", "status", "phase", "type", "Type"}
"""Fields whose values are words that rules know: with more behind them, nothing else is read."""

REDACTOR = Redactor()
CLASSIFIER = Classifier()


def dense(value: Any, shift: int) -> Any:
    """Return a document whose texts go on with secrets, so many characters later."""
    if isinstance(value, str):
        return f"{value}{'.' * shift}{DENSE}" if len(value) > 1 else value
    if isinstance(value, dict):
        return {key: each if key in NAMES else dense(each, shift) for key, each in value.items()}
    return [dense(each, shift) for each in value[-8:]] if isinstance(value, list) else value


def documents(file: Path) -> list[dict[str, Any]]:
    """Return the documents of a file."""
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_reader_cuts_a_text_without_a_mark(file):
    """Every offset of 0 to 20,000 of each text that a source reads is cut through a secret."""
    found = set()
    for number, document in enumerate(documents(file)):
        shift = STEP * (number % SHIFTS)
        evidence = dense(document["evidence"], shift)
        details = CLASSIFIER.classify(
            None, Evidence.from_dict({"system": document["system"], "evidence": evidence})
        )
        event = build_event(
            type=EventType.FAILED,
            task=Task("w", "t"),
            details=details,
            error=None,
            observed_at=NOW,
            redactor=REDACTOR,
        )
        found |= {(details.rule, leak) for leak in leaked(PIECES, event.to_json().encode())[:1]}

    assert set() == found


def cuts(tree: ast.Module) -> Iterator[str]:
    """Yield the slices that end at a number, but for what is only looked at."""
    looked_at = {
        id(inner)
        for node in ast.walk(tree)
        for inner in (
            node.args
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in LOOKS
            else node.comparators
            if isinstance(node, ast.Compare)
            else ()
        )
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            bounds = (node.slice.upper, node.slice.lower)
            long = any(isinstance(each, ast.Constant) and each.value >= 100 for each in bounds)
            if long and id(node) not in looked_at:
                yield ast.unparse(node)


LOOKS = {"search", "match", "fullmatch", "finditer", "findall", "reason_of", "_first_group"}
NO_TEXT_OF_AN_EVENT = {
    "name[:100]": "the name of a field",
    "every[:100]": "a list of lines",
    "source[:4000]": "looked at for the words that tell a format",
    "outermost.message[:4000]": "looked at for the files of frames",
    "every[100:]": "a list of lines",
    "_message(facts)[:4000]": "looked at for a code",
}


@pytest.mark.parametrize("folder", ["classify", "capture", "evidence"])
def test_nothing_that_reads_evidence_slices_a_text(folder):
    """A slice leaves no mark, so that the beginning of a secret before it would be shown."""
    found = {
        f"{path.name}: {cut}"
        for path in (*SHIPPED.glob(f"{folder}/**/*.py"), *SHIPPED.glob(f"{folder}.py"))
        for cut in cuts(ast.parse(path.read_text()))
        if cut not in NO_TEXT_OF_AN_EVENT
    }

    assert set() == found
