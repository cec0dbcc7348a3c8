"""The real failures on Kubernetes, against the verdicts that people gave them."""

from __future__ import annotations

import re

import pytest

from failhook.classify import Classifier
from failhook.evidence import Evidence
from tests.classify.kubernetes.samples import CLASSIFIER, cases

CASES = list(cases())
HIGH = [case for case in CASES if case["confidence"] == "high"]
SURE = [case for case in CASES if case["confidence"] != "low"]


def answer(case, classifier: Classifier = CLASSIFIER):
    """Return the verdict on one case."""
    return classifier.classify(None, Evidence.from_dict(case))


def plain(token) -> str:
    """Return a reason without case and punctuation, as labels are compared."""
    return re.sub(r"[^a-z0-9]", "", str(token).lower())


@pytest.mark.parametrize("case", HIGH, ids=lambda case: case["id"])
def test_the_kind_is_right_where_the_label_is_sure(case):
    """No verdict differs from a label of high confidence."""
    assert answer(case).kind == case["expected"]["kind"]


def test_the_kind_is_right_in_nearly_all_cases():
    """At least 96 of 100 labels of high and medium confidence are met."""
    met = [answer(case).kind == case["expected"]["kind"] for case in SURE]
    assert sum(met) >= 0.96 * len(met)


def test_nobody_pays_for_a_failure_that_is_not_the_platforms():
    """No failure that is sure not to be the platform's is called infra."""
    unsafe = [
        case["id"]
        for case in SURE
        if case["expected"]["kind"] != "infra" and answer(case).kind == "infra"
    ]
    assert unsafe == []


def test_reasons_are_the_platforms_own_tokens():
    """At least 92 of 100 reasons are the label's or as good."""
    met = []
    for case in HIGH:
        expected = case["expected"]
        accepted = {plain(expected["reason"]), *map(plain, expected.get("reason_alternatives", ()))}
        met.append(plain(answer(case).reason) in accepted)
    assert sum(met) >= 0.92 * len(met)


def test_determinism_is_right_where_it_is_known():
    """At least 95 of 100 labels that say whether a retry can help are met."""
    met = [
        answer(case).deterministic is case["expected"]["deterministic"]
        for case in CASES
        if case["expected"]["deterministic"] is not None
    ]
    assert sum(met) >= 0.95 * len(met)
