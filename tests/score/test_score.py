"""The bars that the verdicts must keep on real failures."""

from __future__ import annotations

import pytest

from tests.score.cases import Score, at_level, load, score
from tests.score.classifiers import failhook, keywords

CASES = load()


@pytest.fixture(scope="module")
def high() -> Score:
    """The score where the label is sure."""
    return score(at_level(CASES, "high"), failhook())


@pytest.fixture(scope="module")
def medium() -> Score:
    """The score where the label is at least likely."""
    return score(at_level(CASES, "medium or better"), failhook())


def test_every_sure_case_is_right_in_kind(high: Score) -> None:
    """100 % of the high-confidence cases."""
    assert high.cases == high.kind


def test_nearly_every_likely_case_is_right_in_kind(medium: Score) -> None:
    """At least 96 % of those that are medium or better."""
    assert 0.96 <= medium.kind / medium.cases


def test_no_bug_is_refunded(high: Score, medium: Score) -> None:
    """None is called infra that surely is not, and at most 1 % of the likely ones."""
    assert 0 == high.unsafe
    assert medium.unsafe / medium.not_infra <= 0.01


def test_reasons_are_the_platforms_own(high: Score) -> None:
    """At least 92 % of the sure cases have the label's reason or an accepted one."""
    assert 0.92 <= high.reason / high.cases


def test_permanence_is_known_where_it_can_be(medium: Score) -> None:
    """At least 95 % are right in whether a retry can help."""
    assert 0.95 <= medium.deterministic / medium.labelled


def test_keywords_would_not_do() -> None:
    """The bars mean something: what people write first fails them, and refunds bugs."""
    naive = score(at_level(CASES, "high"), keywords)

    assert naive.kind / naive.cases < 0.75
    assert naive.unsafe
