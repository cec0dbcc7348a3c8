"""A success that is told after its attempt was declared lost: an amendment, no contradiction."""

from __future__ import annotations

import pytest

from failhook.decision import Action
from failhook.details import Confidence, FailureDetails, Kind
from failhook.errors import NothingToResolveError, StartRefused
from failhook.evidence import Evidence
from failhook.gate.ledger import Account, Attempt, AttemptState
from failhook.outbox.port import Store
from failhook.policy import Policy
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder

SILENT = Evidence.heartbeat(timeout=30, age=40)
EVICTED = Evidence.verdict("infra", "Evicted", confidence="confirmed", started="yes")
BUG = Evidence.exception(ValueError("no such column"))
NEVER_STARTED = Evidence.plugin_error("no quota")


def ledger_of(store: Store, task: Task) -> tuple[Account, list[Attempt]]:
    """Return what the ledger says of a task."""
    with store.transaction() as ledger:
        account = ledger.account(task.key)
        assert account is not None
        return account, list(ledger.attempts(task.key))


def standing(store: Store, task: Task) -> tuple[str, list[str]]:
    """Return why the task is closed, and the states of its attempts."""
    account, attempts = ledger_of(store, task)
    return account.closed, [attempt.state.value for attempt in attempts]


def test_the_declared_loss_is_amended_and_the_task_recovers(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """Listeners hear once that the loss was none, and once that the task is well."""
    pipeline = make(Policy(max_infra_refunds=2))
    task = pipeline.started(Task("nightly", "load"))
    decision = pipeline.failed(task, SILENT)
    for _ in range(2):  # two observers of the success
        pipeline.succeeded(task)

    assert ["failed", "amended", "recovered"] == heard.types
    failed, amended, recovered = heard.events
    assert (True, 1, decision, failed.failure_details) == (
        amended.succeeded,
        amended.revision,
        amended.decision,
        amended.previous,
    )
    details = amended.failure_details
    assert (Kind.UNKNOWN, "StateMismatch", Confidence.CONFIRMED) == (
        details.kind,
        details.reason,
        details.confidence,
    )
    assert details.message == (
        "attempt 1 was declared lost as infra HeartbeatTimeout and has reported success after all"
    )
    assert failed.failure_details == recovered.failure_details
    assert ("succeeded", ["succeeded"]) == standing(store, task)
    assert 1 == ledger_of(store, task)[0].infra  # what was charged stays charged


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_retry_that_has_not_begun_is_not_needed_any_more(
    make: MakePipeline, *, idempotent: bool
) -> None:
    """The start of the granted retry is refused, whatever the host calls it."""
    pipeline = make(Policy(retries=3, max_infra_refunds=2))
    task = pipeline.started(Task("nightly", "load", idempotent=idempotent))
    pipeline.failed(task, BUG)
    pipeline.succeeded(task)

    for number in (1, 2):
        with pytest.raises(StartRefused) as refused:
            pipeline.started(task.at_attempt(number))
        assert "AlreadySucceeded" == refused.value.decision.code
    assert "; succeeded after all" in refused.value.story[0]
    assert 1 == pipeline.started(task.cleared()).attempt


@pytest.mark.parametrize(
    ("end", "closed", "states", "types"),
    [
        (None, "succeeded", ["succeeded", "succeeded"], ["recovered"]),
        (BUG, "", ["succeeded", "failed"], ["failed"]),
    ],
    ids=["it succeeds", "it fails"],
)
def test_a_retry_that_runs_already_has_the_last_word(
    make: MakePipeline,
    heard: Recorder,
    store: Store,
    *,
    end: Evidence | None,
    closed: str,
    states: list[str],
    types: list[str],
) -> None:
    """It may have spoilt what the first attempt left, so its end decides, and it may run again."""
    pipeline = make(Policy(retries=3, max_infra_refunds=2))
    first = pipeline.started(Task("nightly", "load"))
    pipeline.failed(first, SILENT)
    second = pipeline.started(first.next_attempt())
    pipeline.succeeded(first)
    assert ["failed", "amended"] == heard.types
    assert ("", ["succeeded", "open"]) == standing(store, first)
    if end is None:
        pipeline.succeeded(second)
    else:
        assert pipeline.failed(second, end).retry

    assert (closed, states) == standing(store, first)
    assert ["failed", "amended", *types] == heard.types


def test_the_order_of_the_retrys_failure_and_the_late_success_changes_nothing(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """The retry had begun and has failed, so it is retried, whenever the success is told."""
    pipeline = make(Policy(retries=3, max_infra_refunds=2))
    first = pipeline.started(Task("nightly", "load"))
    pipeline.failed(first, SILENT)
    second = pipeline.started(first.next_attempt())
    pipeline.failed(second, BUG)
    pipeline.succeeded(first)

    assert ("", ["succeeded", "failed"]) == standing(store, first)
    assert ["failed", "failed", "amended"] == heard.types
    pipeline.succeeded(pipeline.started(second.next_attempt()))
    assert ["recovered"] == heard.types[3:]


@pytest.mark.parametrize("late", [True, False], ids=["after the retry", "before its end"])
@pytest.mark.parametrize(
    ("idempotent", "end"), [(True, NEVER_STARTED), (False, BUG)], ids=["not begun", "not twice"]
)
def test_a_retry_that_spoilt_nothing_or_must_not_run_again_is_the_last(
    make: MakePipeline,
    heard: Recorder,
    store: Store,
    *,
    late: bool,
    idempotent: bool,
    end: Evidence,
) -> None:
    """The first attempt's success stands, nothing runs again, and no failure for good is told."""
    pipeline = make(Policy(retries=3))
    first = pipeline.started(Task("nightly", "load", idempotent=idempotent))
    pipeline.failed(first, BUG)
    second = pipeline.started(first.next_attempt())
    if late:
        assert pipeline.failed(second, end).retry
        pipeline.succeeded(first)
    else:
        pipeline.succeeded(first)
        assert "AlreadySucceeded" == pipeline.failed(second, end).code

    assert ("succeeded", ["succeeded", "failed"]) == standing(store, first)
    assert ["amended", "failed", "failed", "recovered"] == sorted(heard.types)
    assert "recovered" == heard.types[-1]
    assert not any(event.final for event in heard.events)
    with pytest.raises(StartRefused):
        pipeline.started(first.at_attempt(3))


def test_a_task_that_had_failed_for_good_is_well_again_and_not_resurrected(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """The decision stands and nothing runs; but who was told of a failure hears that it is none."""
    pipeline = make()
    task = pipeline.started(Task("nightly", "load"))
    decision = pipeline.failed(task, SILENT)
    pipeline.succeeded(task)

    assert "RetriesExhausted" == decision.code
    assert ["failed", "amended", "recovered"] == heard.types
    assert [True, False, False] == [event.final for event in heard.events]
    assert ("succeeded", ["succeeded"]) == standing(store, task)
    assert decision == pipeline.failed(task, SILENT)
    with pytest.raises(StartRefused):
        pipeline.started(task)


def test_a_hold_is_answered_by_the_success_itself(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """It was done once, so nobody need say what to do."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    assert Action.HOLD is pipeline.failed(task, SILENT).action
    pipeline.succeeded(task)

    assert ["failed", "amended", "recovered"] == heard.types
    assert ("succeeded", ["succeeded"]) == standing(store, task)
    with pytest.raises(NothingToResolveError):
        pipeline.resolve(task, "retry")


def test_a_hold_that_a_person_released_for_a_retry_is_not_run_twice(make: MakePipeline) -> None:
    """The success arrives before the retry begins: it is refused."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.failed(task, SILENT)
    pipeline.resolve(task, "retry", actor="ann")
    pipeline.succeeded(task)

    with pytest.raises(StartRefused):
        pipeline.started(task.next_attempt())


@pytest.mark.parametrize("how", ["cancelled", "resolved"])
def test_what_a_person_ended_stays_ended(
    make: MakePipeline, heard: Recorder, store: Store, how: str
) -> None:
    """The success is told, but the task was ended on purpose, and nobody hears of a recovery."""
    pipeline = make()
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    if how == "cancelled":
        pipeline.failed(task, Evidence.cancel("ann"))
    else:
        pipeline.failed(task, SILENT)
        pipeline.resolve(task, "fail", actor="ann")
    pipeline.succeeded(task)

    assert ["failed", "amended"] == heard.types
    assert ("failed", ["succeeded"]) == standing(store, task)
    with pytest.raises(StartRefused):
        pipeline.started(task)


def test_a_verdict_that_was_amended_before_is_amended_by_the_success(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """Better evidence counts once; the success is another thing, and has an id of its own."""
    pipeline = make(Policy(retries=2))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.failed(task, Evidence.returncode(-9))
    pipeline.failed(task, EVICTED)
    pipeline.succeeded(task)
    pipeline.failed(task, BUG)

    assert ["failed", "amended", "amended", "recovered"] == heard.types
    assert 4 == len({event.event_id for event in heard.events})
    assert heard.events[2].previous is not None
    assert "Evicted" == heard.events[2].previous.reason
    assert 2 == ledger_of(store, task)[1][0].revision


def test_an_earlier_attempts_failure_that_is_told_after_the_tasks_success_is_not_for_good(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """An observer that is late by an attempt changes nothing, and the recovery is told after it."""
    pipeline = make(Policy(retries=2))
    task = Task("nightly", "load")
    pipeline.succeeded(task.at_attempt(2))
    decisions = [pipeline.failed(task, SILENT) for _ in range(2)]

    assert ["AlreadySucceeded"] * 2 == [decision.code for decision in decisions]
    assert ["failed", "recovered"] == heard.types
    assert not heard.events[0].final
    account, _ = ledger_of(store, task)
    assert ("succeeded", 0, "Completed") == (
        account.closed,
        account.user,
        account.phases.transitions[-1].phase,
    )


def test_a_failure_that_the_task_itself_reported_is_not_called_a_loss(
    make: MakePipeline, heard: Recorder
) -> None:
    """The words fit what was declared."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.failed(task, BUG)
    pipeline.succeeded(task)

    details: FailureDetails = heard.events[1].failure_details
    assert details.message.startswith("attempt 1 was declared failed as application")


def test_a_suspect_success_after_a_declared_loss_is_all_three(
    make: MakePipeline, heard: Recorder, store: Store
) -> None:
    """The kill that was seen beside the late success is not forgotten."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.failed(task, SILENT)
    pipeline.succeeded(task, Evidence.returncode(-9, oom_own=1))

    assert ["failed", "amended", "recovered", "suspect_success"] == heard.types
    (attempt,) = ledger_of(store, task)[1]
    assert (AttemptState.SUCCEEDED, True) == (attempt.state, attempt.suspect)
