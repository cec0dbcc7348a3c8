"""The real failures in tests/cases, and how right an answer is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CASES: Final = Path(__file__).parents[1] / "cases"
LEVELS: Final = {
    "high": ("high",),
    "medium or better": ("high", "medium"),
    "all": ("high", "medium", "low"),
}
"""The confidence of a label; a level holds the better ones too."""

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a classifier says of one case."""

    kind: str
    reason: str = ""
    deterministic: bool | None = None


Classify = Callable[[Mapping[str, Any]], Answer]
"""From ``{"system", "evidence", "context"}`` to an answer; the label is never handed over."""


@dataclass(frozen=True, slots=True)
class Score:
    """How many answers were right, of how many; and the dangerous mistakes.

    Attributes:
        cases: how many were asked.
        kind: right in kind.
        reason: right in reason, or one that the label accepts too.
        unsafe: called infra although they are not: somebody else would pay for a bug.
        not_infra: how many are not infra.
        deterministic: right in whether a retry can help, of those that say so.
        labelled: how many say so.
    """

    cases: int
    kind: int
    reason: int
    unsafe: int
    not_infra: int
    deterministic: int
    labelled: int


def load() -> list[Case]:
    """Return every case, cluster first."""
    lines = [
        line
        for path in sorted(CASES.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [json.loads(line) for line in lines]


def at_level(cases: Iterable[Case], level: str) -> list[Case]:
    """Return the cases whose label is at least that sure."""
    return [case for case in cases if case["confidence"] in LEVELS[level]]


def score(cases: Iterable[Case], classify: Classify) -> Score:
    """Ask a classifier about every case and count."""
    asked = [(case, classify(question(case))) for case in cases]
    labelled = [pair for pair in asked if pair[0]["expected"].get("deterministic") is not None]
    not_infra = [pair for pair in asked if pair[0]["expected"]["kind"] != "infra"]
    return Score(
        cases=len(asked),
        kind=sum(case["expected"]["kind"] == answer.kind for case, answer in asked),
        reason=sum(_accepted(case, answer) for case, answer in asked),
        unsafe=sum(answer.kind == "infra" for _, answer in not_infra),
        not_infra=len(not_infra),
        deterministic=sum(
            case["expected"]["deterministic"] is answer.deterministic for case, answer in labelled
        ),
        labelled=len(labelled),
    )


def question(case: Case) -> dict[str, Any]:
    """Return what a classifier may see of a case: everything but its label."""
    return {name: case[name] for name in ("system", "evidence", "context") if name in case}


def _accepted(case: Case, answer: Answer) -> bool:
    expected = case["expected"]
    accepted = {expected["reason"], *expected.get("reason_alternatives", ())}
    return _token(answer.reason) in set(map(_token, accepted))


def _token(reason: object) -> str:
    """Fold case and separators: the platforms' spellings differ in these alone."""
    return re.sub(r"[^a-z0-9]", "", str(reason).lower())
