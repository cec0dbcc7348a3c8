"""The real failures in tests/cases, one by one; `tests.score` keeps the bars over all of them."""

from __future__ import annotations

import pytest

from failhook.classify import Classifier
from failhook.evidence import Evidence
from tests.score.cases import Case, at_level, load, question

CLASSIFIER = Classifier()
CASES = load()


@pytest.mark.parametrize("case", at_level(CASES, "high"), ids=lambda case: case["id"])
def test_every_certain_case_is_right_in_kind(case: Case) -> None:
    """Where the label is sure, so is the verdict's kind."""
    details = CLASSIFIER.classify(None, Evidence.from_dict(question(case)))

    assert case["expected"]["kind"] == details.kind


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_no_case_breaks_anything(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    """No reader and no rule raises on any case of any system."""
    CLASSIFIER.classify(None, Evidence.from_dict(question(case)))

    assert [] == caplog.records
