"""Verdicts and decisions are plain, frozen, and the same after being written."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given

from failhook.decision import Action, Counters, Decision
from failhook.details import Confidence, FailureDetails, Kind
from tests.model.strategies import decisions, details


@given(details())
def test_a_verdict_survives_its_json(verdict):
    """A verdict read back equals what was written; what is not known is left out."""
    document = json.loads(json.dumps(verdict.to_dict()))

    assert verdict == FailureDetails.from_dict(document)
    assert None not in [value for name, value in document.items() if name != "deterministic"]


@given(decisions())
def test_a_decision_survives_its_json(decision):
    """A decision read back equals what was written."""
    document = json.loads(json.dumps(decision.to_dict()))

    assert decision == Decision.from_dict(document)
    assert document["final"] is decision.final is not decision.retry
    assert (decision.action is Action.RETRY) is decision.retry


def test_what_a_short_document_leaves_out_has_its_default():
    """A host that knows no more than kind and reason need not write more."""
    found = FailureDetails.from_dict({"kind": "infra", "reason": "Evicted"})

    assert FailureDetails(kind=Kind.INFRA, reason="Evicted") == found


def test_a_kind_that_is_none_is_refused():
    """The kinds are a closed set."""
    with pytest.raises(ValueError, match="'weather' is not a valid Kind"):
        FailureDetails.from_dict({"kind": "weather", "reason": "Rain"})


def test_nobody_can_change_a_verdict():
    """What one listener gets the next one gets too."""
    verdict = FailureDetails(kind=Kind.INFRA, reason="Evicted")

    with pytest.raises(FrozenInstanceError):
        verdict.reason = "Other"  # type: ignore[misc] # that is what must not work


def test_confidence_has_an_order():
    """A guess is less than likely, and likely less than confirmed."""
    ranks = [Confidence(word).rank for word in ("guess", "likely", "confirmed")]

    assert sorted(set(ranks)) == ranks


def test_counters_are_told_in_one_line():
    """All three budgets are printed with their limits, and charges add up."""
    counters = Counters(1, 2, 0, 3, 5, 3)

    assert "user 1/3, infra 2/5, system 0/3" == str(counters)
    assert 3 == counters.paid
