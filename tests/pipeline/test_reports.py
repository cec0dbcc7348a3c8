"""What an executor reports: counted once, answered alike, heard once."""

from __future__ import annotations

from itertools import permutations

import pytest

from failhook.decision import Action
from failhook.details import Kind
from failhook.errors import NothingToResolveError, StartRefused, StoreError
from failhook.evidence import Evidence
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder

KILL = Evidence.returncode(-9, oom_host=0)


def bug() -> Evidence:
    """Return the evidence of a plain bug."""
    return Evidence.exception(ValueError("no such column"))


def test_three_kills_and_a_bug_leave_both_counters_as_promised(
    make: MakePipeline, heard: Recorder
) -> None:
    """The design's own story: infra 3/5, user 1/1, success on attempt 5, and all of it heard."""
    pipeline = make(Policy(retries=1, max_infra_refunds=5))
    task = Task("nightly", "load")
    for evidence in (KILL, KILL, KILL, bug()):
        task = pipeline.started(task)
        decision = pipeline.failed(task, evidence)
        assert decision.retry
        task = task.next_attempt()
    task = pipeline.started(task)
    pipeline.succeeded(task)

    assert 5 == task.attempt
    assert "user 1/1, infra 3/5, system 0/3" == str(decision.after)
    assert ["failed"] * 4 + ["recovered"] == heard.types


def test_an_event_carries_the_first_attempts_cause(make: MakePipeline, heard: Recorder) -> None:
    """A later failure does not hide what happened first."""
    pipeline = make(Policy(retries=3))
    task = Task("nightly", "load")
    pipeline.failed(task, bug())
    pipeline.failed(task.next_attempt(), KILL)

    first, second = heard.events
    assert first.first_failure is None
    assert second.first_failure == first.failure_details
    assert "ValueError: no such column" == second.first_error


def test_a_repeated_report_changes_nothing(make: MakePipeline, heard: Recorder) -> None:
    """Whoever reports the same attempt again gets the same answer, and nobody hears it twice."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "load"))
    first = pipeline.failed(task, bug())
    again = [pipeline.failed(task, evidence) for evidence in (bug(), KILL, bug())]

    assert [first] * 3 == again
    assert ["failed"] == heard.types


def test_a_guess_that_is_refunded_by_nobody_is_amended_once_by_better_evidence(
    make: MakePipeline, heard: Recorder
) -> None:
    """The charge moves from the user to infra, the decision stands, and the sum stays."""
    pipeline = make(Policy(retries=2, max_infra_refunds=2))
    task = Task("nightly", "load")
    guess = pipeline.failed(task, Evidence.returncode(-9))
    stated = Evidence.verdict("infra", "Evicted", confidence="confirmed", started="yes")

    assert guess == pipeline.failed(task, stated)
    assert ["failed", "amended"] == heard.types
    amended = heard.events[-1]
    assert "Evicted" == amended.failure_details.reason
    assert amended.previous == heard.events[0].failure_details
    assert "user 1/2, infra 1/2, system 0/3" == str(
        pipeline.failed(task.next_attempt(), bug()).after
    )


def test_reports_of_one_attempt_in_any_order_count_once(
    make: MakePipeline, heard: Recorder
) -> None:
    """Worker and two observers: one failure, whatever the order."""
    pipeline = make(Policy(retries=9, max_infra_refunds=9))
    reports = (bug(), KILL, Evidence.mismatch(executor_state="failed", recorded_state="running"))
    for order in permutations(reports):
        task = Task("nightly", "load")
        for evidence in order:
            decision = pipeline.failed(task, evidence)
        assert 1 == decision.after.paid
    assert 6 == heard.types.count("failed")


def test_a_cleared_task_has_fresh_budgets(make: MakePipeline) -> None:
    """A new generation begins at attempt 1 with nothing charged."""
    pipeline = make(Policy(retries=0))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.failed(task, bug())
    with pytest.raises(StartRefused):
        pipeline.started(task)

    assert 1 == pipeline.started(task.cleared()).attempt


def test_a_final_task_is_not_started_again(make: MakePipeline) -> None:
    """The refusal tells the whole story."""
    pipeline = make(Policy(retries=1))
    task = Task("nightly", "load")
    for number in (1, 2):
        pipeline.failed(pipeline.started(task.at_attempt(number)), bug())

    with pytest.raises(StartRefused) as refused:
        pipeline.started(task.at_attempt(3))
    assert "RetriesExhausted" == refused.value.decision.code
    assert 2 == len(refused.value.story)
    assert "ValueError: no such column" in str(refused.value)


def test_a_hold_is_released_by_a_person_alone(make: MakePipeline) -> None:
    """What may have done its work waits, and goes on as somebody says."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "pay", idempotent=False))

    assert Action.HOLD == pipeline.failed(task, KILL).action
    with pytest.raises(StartRefused):
        pipeline.started(task)
    assert pipeline.resolve(task, "retry", actor="ann").retry
    assert 2 == pipeline.started(task).attempt
    with pytest.raises(NothingToResolveError):
        pipeline.resolve(task, "retry")


def test_a_person_may_retry_beyond_the_budgets(make: MakePipeline) -> None:
    """Nothing is charged for what a person asked for, and the decision says who."""
    pipeline = make(Policy(retries=0))
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.failed(task, KILL)
    decision = pipeline.resolve(task.key, "retry", actor="ann")

    assert decision.retry
    assert 0 == decision.after.paid
    assert "ann" in decision.message


@pytest.mark.parametrize(
    ("resolution", "types"), [("fail", ["failed"]), ("succeeded", ["failed", "recovered"])]
)
def test_a_hold_can_be_closed(
    make: MakePipeline, heard: Recorder, resolution: str, types: list[str]
) -> None:
    """Closed as failed it stays failed; closed as succeeded, listeners hear of it."""
    pipeline = make()
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.failed(task, KILL)
    pipeline.resolve(task, resolution)  # type: ignore[arg-type]  # both are resolutions

    assert types == heard.types
    assert "ann" not in str(heard.events[-1].to_dict())


def test_nothing_to_resolve_names_the_task(make: MakePipeline) -> None:
    """The error says which task, and that the store does not know it."""
    with pytest.raises(
        NothingToResolveError, match="nothing of a/b/c is on hold or lost: this store"
    ):
        make().resolve("a/b/c", "retry")


def test_a_success_beside_a_kill_is_suspect(make: MakePipeline, heard: Recorder) -> None:
    """It is an event of its own type and no failure."""
    pipeline = make()
    task = pipeline.started(Task("nightly", "load"))
    pipeline.succeeded(task, Evidence.returncode(-9, oom_own=1))

    assert ["suspect_success"] == heard.types
    assert Kind.APPLICATION == heard.events[0].failure_details.kind
    assert heard.events[0].decision is None


def test_a_failure_reported_after_success_runs_nothing_again(make: MakePipeline) -> None:
    """A late observer does not resurrect a task that is done."""
    pipeline = make(Policy(retries=5))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.succeeded(task)
    decision = pipeline.failed(task, KILL)

    assert (Action.FAIL, "AlreadySucceeded") == (decision.action, decision.code)


def test_details_reach_listeners_with_refunds_off(make: MakePipeline, heard: Recorder) -> None:
    """The verdict does not depend on who pays."""
    pipeline: Pipeline = make(Policy())
    pipeline.failed(pipeline.started(Task("nightly", "load")), KILL)

    assert Kind.INFRA == heard.events[0].failure_details.kind


def test_what_must_not_run_twice_is_not_started_after_it_succeeded(make: MakePipeline) -> None:
    """A redelivery of a payment that went through is refused; an idempotent task may run again."""
    pipeline = make()
    paid = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.succeeded(paid)
    loaded = pipeline.started(Task("nightly", "load"))
    pipeline.succeeded(loaded)

    with pytest.raises(StartRefused) as refused:
        pipeline.started(paid)
    assert "AlreadySucceeded" == refused.value.decision.code
    assert 2 == pipeline.started(loaded).attempt


def test_names_that_are_no_text_are_written_as_escapes(make: MakePipeline, heard: Recorder) -> None:
    """A lone surrogate in a task's name breaks no key and no event."""
    pipeline = make()
    pipeline.failed(Task("nightly", "lo\udc80ad"), KILL)

    assert "lo\\udc80ad" == heard.events[0].task.name


def test_no_secret_of_a_task_reaches_the_ledger(make: MakePipeline, store: Store) -> None:
    """Labels and log addresses are stored as events carry them; the host's own task stays whole."""
    pipeline = make(Policy(retries=1))
    log_url = "https://ann:hunter2@logs/1"
    given = Task("nightly", "load", labels={"password": "hunter2"}, log_url=log_url)
    opened = pipeline.started(given)
    with store.transaction() as ledger:
        before = ledger.attempt(opened.attempt_key)
    pipeline.failed(opened, bug())
    pipeline.succeeded(opened.next_attempt())
    with store.transaction() as ledger:
        after = ledger.attempts(opened.key)

    assert log_url == opened.log_url
    assert "hunter2" not in repr((before, after))


@pytest.mark.parametrize("first", [bug(), Evidence.cancel("ann")])
def test_nothing_that_is_closed_is_resurrected(make: MakePipeline, first: Evidence) -> None:
    """A report on a later attempt of a closed task is final too, and no start follows it."""
    pipeline = make(Policy(max_infra_refunds=3))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.failed(task, first)
    late = pipeline.failed(task.next_attempt(), KILL)

    assert (Action.FAIL, "AlreadyClosed", 0) == (late.action, late.code, late.after.paid)
    with pytest.raises(StartRefused):
        pipeline.started(task.at_attempt(3))


def test_a_hold_is_not_released_by_a_report(make: MakePipeline) -> None:
    """Only a person releases it."""
    pipeline = make(Policy(retries=3))
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.failed(task, KILL)
    pipeline.failed(task.next_attempt(), Evidence.plugin_error("no quota"))

    with pytest.raises(StartRefused):
        pipeline.started(task.at_attempt(3))
    assert pipeline.resolve(task, "fail").final


def test_a_closed_pipeline_says_so_and_closes_once(make: MakePipeline) -> None:
    """Nothing is counted after the close, and a second close changes nothing."""
    pipeline = make()
    task = pipeline.started(Task("nightly", "load"))

    assert pipeline.close() is pipeline.close()
    with pytest.raises(StoreError, match="the pipeline is closed; nothing was counted"):
        pipeline.failed(task, KILL)


def test_a_plugins_bad_specification_fails_at_once_because_it_is_on_the_list(
    make: MakePipeline,
) -> None:
    """One attempt, every counter zero, code and message kept; off the list it is retried."""
    refused = Evidence.plugin_error("submissionMode: HttpMode", code="BadTaskSpecification")
    listed = make(Policy(retries=5))
    decision = listed.failed(listed.started(Task("nightly", "load")), refused)
    unlisted = make(Policy(retries=5, non_retryable_codes=()))
    again = unlisted.failed(unlisted.started(Task("nightly", "load")), refused)

    assert (Action.FAIL, "BadTaskSpecification", 0) == (
        decision.action,
        decision.code,
        decision.after.paid,
    )
    assert (Action.RETRY, 1) == (again.action, again.after.user)
