"""The gate, case by case, by the names that the design gives them."""

from __future__ import annotations

import pytest

from failhook.decision import Action, Charge, Counters, Decision
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.gate.decide import decide
from failhook.policy import MAX_DELAY, Backoff, Policy

KILLED = FailureDetails(kind=Kind.INFRA, reason="KilledBySignal", started=Started.YES)
GUESSED = FailureDetails(
    kind=Kind.INFRA,
    reason="KilledBySignal",
    started=Started.YES,
    confidence=Confidence.GUESS,
)
RAISED = FailureDetails(
    kind=Kind.APPLICATION,
    reason="UserException",
    started=Started.YES,
    ended_by_itself=True,
    confidence=Confidence.CONFIRMED,
)
TIMED_OUT = FailureDetails(kind=Kind.TIMEOUT, reason="ExecutionTimeout", started=Started.YES)
UNKNOWN = FailureDetails(kind=Kind.UNKNOWN, reason="Terminated", started=Started.YES)
CANCELLED = FailureDetails(kind=Kind.MANUAL, reason="Cancelled", actor="someone")
NEVER_STARTED = FailureDetails(
    kind=Kind.INFRA, reason="SubmitFailure", message="no quota", started=Started.NO
)
BAD_SPEC = FailureDetails(
    kind=Kind.APPLICATION,
    reason="BadTaskSpecification",
    message="submissionMode: HttpMode",
    code="BadTaskSpecification",
    deterministic=True,
    confidence=Confidence.CONFIRMED,
    started=Started.NO,
    executor_side=True,
)
CORRUPTED = FailureDetails(
    kind=Kind.INFRA,
    reason="CorruptedPluginState",
    code="CorruptedPluginState",
    deterministic=True,
    confidence=Confidence.CONFIRMED,
    started=Started.MAYBE,
    executor_side=True,
    cleanup=True,
)


def history(policy: Policy, *verdicts: FailureDetails) -> list[Decision]:
    """Return the decisions on these verdicts, one attempt after the other, until one is final."""
    spent, decisions = Counters(), []
    for attempt, details in enumerate(verdicts, 1):
        decision = decide(details, policy, spent, attempt=attempt)
        decisions.append(decision)
        spent = decision.after
        if decision.final:
            break
    return decisions


def test_infra_refunds() -> None:
    """A death by infrastructure is paid by the infra budget when refunds are on."""
    decision = decide(KILLED, Policy(max_infra_refunds=3), Counters())

    assert (Action.RETRY, Charge.INFRA) == (decision.action, decision.charge)


@pytest.mark.parametrize("details", [UNKNOWN, RAISED, TIMED_OUT, CANCELLED, GUESSED])
def test_unknown_application_timeout_manual_guess_never_refund(details: FailureDetails) -> None:
    """Nothing but a sure enough infra verdict is ever refunded."""
    decision = decide(details, Policy(retries=1, max_infra_refunds=3), Counters())

    assert 0 == decision.after.infra
    assert decision.charge is not Charge.INFRA


def test_flag_off_never_refunds() -> None:
    """Refunds are opt-in: without them an infra death costs a retry, or ends the task."""
    assert Action.FAIL == decide(KILLED, Policy(), Counters()).action
    assert Charge.USER == decide(KILLED, Policy(retries=1), Counters()).charge


def test_cap_3_bounds_refunds_and_retries_0_is_no_special_case() -> None:
    """With retries=0 a task gets three refunds and no more."""
    decisions = history(Policy(max_infra_refunds=3), *[KILLED] * 9)

    assert [Action.RETRY] * 3 + [Action.FAIL] == [each.action for each in decisions]
    assert "RetriesExhausted" == decisions[-1].code


def test_killed_for_ever_with_retries_1_and_cap_3_fails_at_attempt_5() -> None:
    """The numbers that Airflow's max_tries column would hold: 2, 3, 4, 4, and failed at 5."""
    decisions = history(Policy(retries=1, max_infra_refunds=3), *[KILLED] * 9)

    assert [2, 3, 4, 4] == [each.max_tries for each in decisions[:4]]
    assert (5, Action.FAIL) == (decisions[-1].attempt, decisions[-1].action)


def test_value_error_with_retries_1_fails_at_attempt_2() -> None:
    """A bug is charged to the user alone."""
    decisions = history(Policy(retries=1, max_infra_refunds=3), *[RAISED] * 9)

    assert (2, Action.FAIL, 1) == (
        decisions[-1].attempt,
        decisions[-1].action,
        decisions[-1].max_tries,
    )


def test_three_kills_and_a_bug_leave_both_counters_as_promised() -> None:
    """Evictions do not eat the retry that was meant for the bug: infra 3/5, user 1/1."""
    last = history(Policy(retries=1, max_infra_refunds=5), KILLED, KILLED, KILLED, RAISED)[-1]

    assert last.retry
    assert ("user 1/1, infra 3/5, system 0/3", 4) == (str(last.after), last.attempt)


def test_bad_task_specification_fails_at_once_with_every_counter_zero() -> None:
    """A code on the list ends the task before any counter moves, with code and message kept."""
    decision = decide(BAD_SPEC, Policy(retries=5), Counters())

    assert (Action.FAIL, "BadTaskSpecification", 0) == (
        decision.action,
        decision.code,
        decision.after.paid,
    )


def test_the_list_has_the_last_word_on_typed_codes() -> None:
    """With the code off the list the same error is retried: the list alone made it fail."""
    decision = decide(BAD_SPEC, Policy(retries=5, non_retryable_codes=()), Counters())

    assert (Action.RETRY, Charge.USER) == (decision.action, decision.charge)


def test_corrupted_plugin_state_fails_at_once_stays_system_and_cleans_up() -> None:
    """Permanence and blame are separate; what the attempt left must go first."""
    decision = decide(CORRUPTED, Policy(retries=5, max_infra_refunds=5), Counters())

    assert (Action.FAIL, True, "CorruptedPluginState", 0) == (
        decision.action,
        decision.cleanup,
        decision.code,
        decision.after.paid,
    )


def test_platform_errors_before_start_get_four_attempts() -> None:
    """Limit 3 is four attempts; then MaxSystemFailuresExceeded with the original cause."""
    decisions = history(Policy(retries=5), *[NEVER_STARTED] * 9)

    assert 4 == len(decisions)
    assert "MaxSystemFailuresExceeded" == decisions[-1].code
    assert "SubmitFailure: no quota" in decisions[-1].message
    assert 0 == decisions[-1].after.user


def test_executor_errors_go_to_the_system_budget_whatever_started_is() -> None:
    """An error of the executor itself is never the user's, although the task may have begun."""
    details = FailureDetails(
        kind=Kind.INFRA,
        reason="OrchestratorUnreachable",
        started=Started.MAYBE,
        executor_side=True,
    )

    assert Charge.SYSTEM == decide(details, Policy(max_infra_refunds=3), Counters()).charge


def test_a_deterministic_error_fails_at_once_only_when_confirmed() -> None:
    """A likely one may still be retried."""
    sure = FailureDetails(
        kind=Kind.APPLICATION,
        reason="CodeLoadError",
        deterministic=True,
        confidence=Confidence.CONFIRMED,
    )
    likely = FailureDetails(kind=Kind.APPLICATION, reason="CodeLoadError", deterministic=True)

    assert Action.FAIL == decide(sure, Policy(retries=5), Counters()).action
    assert Action.RETRY == decide(likely, Policy(retries=5), Counters()).action


@pytest.mark.parametrize("started", [Started.YES, Started.MAYBE])
def test_not_idempotent_and_stopped_in_the_middle_holds(started: Started) -> None:
    """What may have done its work is not run again unasked."""
    details = FailureDetails(kind=Kind.INFRA, reason="WorkerLost", started=started)
    decision = decide(details, Policy(retries=5, max_infra_refunds=5), Counters(), idempotent=False)

    assert (Action.HOLD, True) == (decision.action, decision.final)


def test_not_idempotent_but_never_started_or_ended_by_itself_is_retried() -> None:
    """Holding is only for an unknown outcome."""
    policy = Policy(retries=5)

    assert decide(NEVER_STARTED, policy, Counters(), idempotent=False).retry
    assert decide(RAISED, policy, Counters(), idempotent=False).retry


def test_when_refunds_end_fail_ends_the_task() -> None:
    """The owner may prefer an end over spending the user's retries on infrastructure."""
    policy = Policy(retries=5, max_infra_refunds=1, when_refunds_end="fail")
    decisions = history(policy, KILLED, KILLED)

    assert "InfraRefundsExhausted" == decisions[-1].code


def test_a_guess_is_refunded_only_when_the_owner_says_so() -> None:
    """The least confidence is a setting."""
    policy = Policy(max_infra_refunds=1, refund_confidence=Confidence.GUESS)

    assert Charge.INFRA == decide(GUESSED, policy, Counters()).charge


def test_each_budget_has_its_own_backoff() -> None:
    """The delay is the paying budget's, exponential in what it has paid, with full jitter."""
    policy = Policy(
        retries=3,
        max_infra_refunds=3,
        backoff=Backoff(initial=10),
        infra_backoff=Backoff(initial=1, maximum=3),
        system_backoff=Backoff(initial=100, jitter=False),
    )

    assert [5.0, 10.0] == [each.delay for each in _delays(policy, RAISED, 0.5)]
    assert [1.0, 2.0, 3.0] == [each.delay for each in _delays(policy, KILLED, 1.0)][:3]
    assert [100.0, 200.0] == [each.delay for each in _delays(policy, NEVER_STARTED, 0.0)][:2]


def _delays(policy: Policy, details: FailureDetails, random: float) -> list[Decision]:
    spent, decisions = Counters(), []
    for attempt in (1, 2, 3):
        decision = decide(details, policy, spent, attempt=attempt, random=random)
        spent = decision.after
        decisions.append(decision)
    return [each for each in decisions if each.retry][: 2 if details is RAISED else 3]


def test_retry_after_is_honoured_but_never_beyond_the_total_deadline() -> None:
    """The other side's wait is kept, unless the task would begin too late."""
    throttled = FailureDetails(
        kind=Kind.APPLICATION, reason="RemoteThrottled", retry_after=30.0, ended_by_itself=True
    )

    assert 30.0 == decide(throttled, Policy(retries=1), Counters()).delay
    late = decide(throttled, Policy(retries=1, total_deadline=60), Counters(), elapsed=31)
    assert (Action.FAIL, "TotalDeadlineExceeded", 0) == (late.action, late.code, late.after.paid)


@pytest.mark.parametrize("asked", [float("inf"), float("nan"), -5.0])
def test_a_retry_after_that_makes_no_sense_is_not_waited_for(asked: float) -> None:
    """A broken header does not stall a task."""
    details = FailureDetails(kind=Kind.APPLICATION, reason="RemoteThrottled", retry_after=asked)

    assert 0.0 == decide(details, Policy(retries=1), Counters()).delay


@pytest.mark.parametrize("asked", [86_401, 1e300, 10**400])
def test_no_wait_is_longer_than_a_day(asked: float) -> None:
    """Whatever the other side asks for, the next attempt begins within a day, and says when."""
    details = FailureDetails(kind=Kind.APPLICATION, reason="RemoteThrottled", retry_after=asked)

    decision = decide(details, Policy(retries=1), Counters())

    assert MAX_DELAY == decision.delay
    assert decision.message.startswith("retry in 86400 s as attempt 2: ")


@pytest.mark.parametrize("random", [-1.0, 5.0, float("nan")])
def test_a_broken_random_number_breaks_no_delay(random: float) -> None:
    """The delay stays within its backoff."""
    policy = Policy(retries=1, backoff=Backoff(initial=10))

    assert 0 <= decide(RAISED, policy, Counters(), random=random).delay <= 10


def test_every_decision_says_who_pays_and_what_is_left() -> None:
    """The message names the action, the reason and all three budgets."""
    decision = decide(KILLED, Policy(retries=1, max_infra_refunds=3), Counters())

    assert (
        "retry as attempt 2: infrastructure ended it (likely), so the attempt is refunded "
        "(user 0/1, infra 1/3, system 0/3)"
    ) == decision.message
    assert "it was ended on purpose by someone" in decide(CANCELLED, Policy(), Counters()).message


def test_a_decision_survives_json() -> None:
    """What was decided is read back as it was written."""
    for details in (KILLED, BAD_SPEC, CORRUPTED, CANCELLED):
        decision = decide(details, Policy(retries=2, max_infra_refunds=2), Counters())

        assert decision == Decision.from_dict(decision.to_dict())
