"""Verdicts map to Flyte's ErrorState and ExecutionError, and their kinds map back."""

from __future__ import annotations

import pytest

from failhook.decision import MAX_SYSTEM_FAILURES_EXCEEDED, RETRIES_EXHAUSTED
from failhook.details import FailureDetails, Kind
from failhook.error_state import ErrorState, kind_of, to_error_state
from tests.model.test_event_build import DECISION, replace


@pytest.mark.parametrize(
    ("kind", "state", "execution", "back"),
    [
        (Kind.APPLICATION, "USER", "USER", Kind.APPLICATION),
        (Kind.TIMEOUT, "USER", "USER", Kind.APPLICATION),
        (Kind.MANUAL, "USER", "USER", Kind.APPLICATION),
        (Kind.INFRA, "SYSTEM", "SYSTEM", Kind.INFRA),
        (Kind.UNKNOWN, "", "UNKNOWN", Kind.UNKNOWN),
    ],
)
def test_each_kind_has_its_flyte_kind(kind, state, execution, back):
    """Whose fault it was reads the same in Flyte: USER, SYSTEM, or not known."""
    found = to_error_state(FailureDetails(kind=kind, reason="Reason", message="text"))

    assert ErrorState("Reason", state, "text") == found
    assert execution == found.execution_error_kind
    assert back is kind_of(state)
    assert back is kind_of(execution.lower())


def test_a_typed_code_goes_before_the_reason():
    """The code is the plugin's or the task's own where there is one."""
    details = FailureDetails(kind=Kind.APPLICATION, reason="SpecError", code="BadTaskSpecification")

    assert "BadTaskSpecification" == to_error_state(details).code
    assert "BadTaskSpecification" == to_error_state(details, DECISION).code


def test_the_system_cap_keeps_the_original_cause():
    """Where the system budget ended the task, the message carries the first code and text."""
    details = FailureDetails(kind=Kind.INFRA, reason="SubmitFailure", message="no quota")
    ended = replace(DECISION, code=MAX_SYSTEM_FAILURES_EXCEEDED)

    expected = ErrorState(MAX_SYSTEM_FAILURES_EXCEEDED, "SYSTEM", "SubmitFailure: no quota")
    assert expected == to_error_state(details, ended)
    assert "SubmitFailure" == to_error_state(details, replace(ended, code=RETRIES_EXHAUSTED)).code


def test_empty_fields_are_left_out():
    """Flyte's fields are optional: what is empty is not written."""
    assert {"code": "C"} == ErrorState("C", "", "").to_dict()
    assert {"code": "C", "kind": "USER", "message": "m"} == ErrorState("C", "USER", "m").to_dict()
