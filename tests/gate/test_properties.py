"""What holds for every history, whatever verdicts come in whatever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from failhook.decision import Action, Charge, Counters
from failhook.details import FailureDetails, Kind, Started
from failhook.gate.amend import improves, moved
from failhook.gate.decide import CORRUPTED_PLUGIN_STATE, decide
from failhook.policy import MAX_DELAY, Policy
from tests.gate.strategies import policies, verdicts


@given(policies, st.lists(verdicts, min_size=1, max_size=40), st.booleans())
def test_attempts_never_exceed_one_plus_the_limits(
    policy: Policy, history: list[FailureDetails], idempotent: bool
) -> None:
    """Attempts <= 1 + the three limits; charges only grow, by one a retry, and keep to the caps."""
    spent, attempts = Counters(), 0
    for details in history:
        attempts += 1
        decision = decide(details, policy, spent, attempt=attempts, idempotent=idempotent)
        assert decision.after.paid == spent.paid + (1 if decision.retry else 0)
        assert decision.retry == (decision.charge is not Charge.NONE)
        assert decision.after.user <= policy.retries
        assert decision.after.infra <= policy.max_infra_refunds
        assert decision.after.system <= policy.max_system_failures
        assert 0 <= decision.delay <= MAX_DELAY
        assert "None" not in decision.message
        assert "None" not in decision.because.text
        spent = decision.after
        if decision.final:
            break
    else:
        return
    limits = policy.retries + policy.max_infra_refunds + policy.max_system_failures
    assert attempts <= 1 + limits


@given(policies, st.lists(verdicts, max_size=40))
def test_without_refunds_the_gate_equals_a_plain_counter(
    policy: Policy, history: list[FailureDetails]
) -> None:
    """Off means off: for failures after the start that step 2 does not take, retries is all."""
    policy = Policy(retries=policy.retries, max_system_failures=policy.max_system_failures)
    spent, left = Counters(), policy.retries
    for attempt, details in enumerate(history, 1):
        before_start = details.started is Started.NO or details.executor_side
        permanent = details.code in (*policy.non_retryable_codes, CORRUPTED_PLUGIN_STATE)
        if before_start or permanent or details.deterministic or details.kind is Kind.MANUAL:
            continue
        decision = decide(details, policy, spent, attempt=attempt)
        assert decision.retry == (left > 0)
        spent = decision.after
        if not left:
            break
        left -= 1


@given(policies, verdicts, verdicts)
def test_an_amendment_moves_a_charge_but_never_the_sum(
    policy: Policy, first: FailureDetails, later: FailureDetails
) -> None:
    """What was paid stays paid: another budget may have paid it, within its cap."""
    decision = decide(first, policy, Counters())
    spent, _ = moved(decision.after, decision, later, policy, idempotent=True)

    assert decision.after.paid == spent.paid
    assert spent.infra <= policy.max_infra_refunds
    assert spent.system <= policy.max_system_failures
    assert spent.user <= policy.retries


@given(verdicts, verdicts)
def test_an_unknown_verdict_improves_nothing(first: FailureDetails, later: FailureDetails) -> None:
    """Only a better verdict amends, and no verdict is better than itself."""
    assert not improves(first, first) or first.kind is Kind.UNKNOWN
    if later.kind is Kind.UNKNOWN:
        assert not improves(first, later)


@given(verdicts)
def test_manual_always_ends_and_charges_nothing(details: FailureDetails) -> None:
    """Whoever ended a task on purpose is not asked twice."""
    decision = decide(details, Policy(retries=3, max_infra_refunds=3), Counters())

    if details.kind is Kind.MANUAL:
        assert (Action.FAIL, 0) == (decision.action, decision.after.paid)
