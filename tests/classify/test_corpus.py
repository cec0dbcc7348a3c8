"""The real failures in tests/cases: how many the rules get right, and what must never happen."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from failhook.classify import Classifier
from failhook.evidence import Evidence

CLASSIFIER = Classifier()

CASES = Path(__file__).parents[1] / "cases"


def load(name: str) -> list[dict]:
    """Read one file of cases."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text().splitlines()]


PYTHON = load("python")
CERTAIN = [case for case in PYTHON if case["confidence"] == "high"]
LIKELY = [case for case in PYTHON if case["confidence"] != "low"]


def verdict(case: dict):
    """What the built-in rules say of a case; they see nothing of its label."""
    document = {name: case[name] for name in ("system", "evidence", "context") if name in case}
    return CLASSIFIER.classify(None, Evidence.from_dict(document))


def token(reason: object) -> str:
    """A reason without case and separators: spellings of platforms differ in these alone."""
    return re.sub(r"[^a-z0-9]", "", str(reason).lower())


def reason_is_right(case: dict) -> bool:
    """Whether the reason is the label's or one that is as good."""
    expected = case["expected"]
    accepted = {expected["reason"], *expected.get("reason_alternatives", ())}
    return token(verdict(case).reason) in set(map(token, accepted))


@pytest.mark.parametrize("case", CERTAIN, ids=lambda case: case["id"])
def test_every_certain_case_is_right_in_kind(case):
    """Where the label is sure, so is the verdict's kind."""
    assert case["expected"]["kind"] == verdict(case).kind


def test_nearly_every_likely_case_is_right_in_kind():
    """At least 96 % of the cases whose label is at least likely."""
    right = sum(case["expected"]["kind"] == verdict(case).kind for case in LIKELY)

    assert 0.96 <= right / len(LIKELY)


def test_nobody_pays_for_a_bug_but_its_author():
    """No case that is not infra is called infra, however unsure its label."""
    unsafe = [
        case["id"]
        for case in PYTHON
        if case["expected"]["kind"] != "infra" and verdict(case).kind == "infra"
    ]

    assert [] == unsafe


def test_reasons_are_the_platforms_own():
    """At least 92 % of the sure cases have the label's reason or one that is as good."""
    assert 0.92 <= sum(map(reason_is_right, CERTAIN)) / len(CERTAIN)


def test_permanence_is_known_where_it_can_be():
    """At least 95 % of the cases that say whether a retry can help are right in it."""
    labelled = [case for case in PYTHON if case["expected"]["deterministic"] is not None]

    right = sum(
        case["expected"]["deterministic"] is verdict(case).deterministic for case in labelled
    )

    assert 0.95 <= right / len(labelled)


@pytest.mark.parametrize("case", [*PYTHON, *load("cluster")], ids=lambda case: case["id"])
def test_no_case_breaks_anything(case, caplog):
    """No reader and no rule raises on any case of any system."""
    verdict(case)

    assert [] == caplog.records


def without_bases(value: object) -> object:
    """Evidence whose exceptions are known by their type alone, as in a printed traceback."""
    if isinstance(value, dict):
        return {key: without_bases(member) for key, member in value.items() if key != "mro"}
    return [*map(without_bases, value)] if isinstance(value, list) else value


def as_text(case: dict) -> dict:
    """A case whose exception was only printed: one line, a class and its message."""
    evidence = without_bases(case["evidence"])
    error = evidence.get("exception")
    if (
        error
        and error["type"] != "builtins.str"
        and not (error.get("cause") or error.get("context"))
    ):
        name = error["type"].removeprefix("builtins.")
        evidence["exception"] = f"{name}: {error['message']}"
    return case | {"evidence": evidence}


@pytest.mark.parametrize("case", CERTAIN, ids=lambda case: case["id"])
def test_what_was_recorded_of_an_exception_may_be_little(case):
    """Without the bases of its class, or as one line of text, an exception means the same."""
    expected = case["expected"]["kind"]

    assert expected == verdict(case | {"evidence": without_bases(case["evidence"])}).kind
    assert expected == verdict(as_text(case)).kind
