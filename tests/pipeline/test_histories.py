"""Random histories through a whole pipeline: what holds for every one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.decision import Decision
from failhook.details import Confidence, Kind, Started
from failhook.errors import StartRefused
from failhook.evidence import Evidence
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from tests.gate.strategies import policies

reports = st.builds(
    Evidence.verdict,
    st.sampled_from([kind.value for kind in Kind]),
    st.sampled_from(["Evicted", "UserException", "SubmitFailure"]),
    confidence=st.sampled_from([level.value for level in Confidence]),
    started=st.sampled_from([level.value for level in Started]),
    deterministic=st.sampled_from([None, False, True]),
)
"""Verdicts of a host that knows."""


@given(policies, st.lists(st.lists(reports, min_size=1, max_size=3), max_size=25), st.booleans())
def test_a_run_keeps_every_promise_of_the_gate(
    quiet: Pipeline, policy: Policy, attempts: list[list[Evidence]], idempotent: bool
) -> None:
    """Attempts are bounded, repeated reports change nothing, and no sum of charges ever falls."""
    task = Task("nightly", "load", idempotent=idempotent, policy=policy)
    ran, paid = 0, 0
    last: Decision | None = None
    for observers in attempts:
        if last is not None and last.final:
            with pytest.raises(StartRefused) as refused:
                quiet.started(task)
            assert last == refused.value.decision
            break
        task = quiet.started(task)
        ran += 1
        assert ran == task.attempt
        decisions = [quiet.failed(task, evidence) for evidence in observers]
        assert [decisions[0]] * len(decisions) == decisions
        last = decisions[0]
        assert last.after.paid >= paid
        paid = last.after.paid
        task = task.next_attempt()
    limits = policy.retries + policy.max_infra_refunds + policy.max_system_failures
    assert ran <= 1 + limits
    assert paid <= limits
