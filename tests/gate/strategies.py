"""Verdicts and policies at random."""

from __future__ import annotations

from hypothesis import strategies as st

from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.policy import Policy

CODES = (None, "BadTaskSpecification", "MetadataTooLarge", "CorruptedPluginState", "Other")

verdicts = st.builds(
    FailureDetails,
    kind=st.sampled_from(Kind),
    reason=st.just("Reason"),
    deterministic=st.sampled_from((True, False, None)),
    confidence=st.sampled_from(Confidence),
    started=st.sampled_from(Started),
    ended_by_itself=st.booleans(),
    executor_side=st.booleans(),
    cleanup=st.booleans(),
    code=st.sampled_from(CODES),
    retry_after=st.sampled_from((None, 0.0, 7.0, float("inf"), float("nan"), -1.0, 1e300)),
)

policies = st.builds(
    Policy,
    retries=st.integers(0, 4),
    max_infra_refunds=st.integers(0, 4),
    max_system_failures=st.integers(0, 4),
    refund_confidence=st.sampled_from(Confidence),
    when_refunds_end=st.sampled_from(("charge", "fail")),
    total_deadline=st.sampled_from((None, 0.0, 100.0)),
)
