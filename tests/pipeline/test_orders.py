"""Whatever order the reports of one run come in: one event per thing, and one final state."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.decision import Counters
from failhook.errors import StartRefused
from failhook.event import EventType
from failhook.evidence import Evidence
from failhook.gate.ledger import AttemptState
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder, SetClock, told

EXECUTOR = Evidence.mismatch(executor_state="failed", recorded_state="running", can_report=False)
SUPERVISOR = Evidence.returncode(-9)
PLATFORM = Evidence.verdict("infra", "Evicted", confidence="confirmed", started="yes")
SILENT = Evidence.heartbeat(timeout=30, age=40)
BUG = Evidence.exception(ValueError("no such column"))
ORDERS = list(permutations(("worker", "node agent", "scheduler")))


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_worker_and_two_observers_make_one_event(
    make: MakePipeline, heard: Recorder, order: tuple[str, ...]
) -> None:
    """AT-5: minutes apart, in any order: one failure, one delivery each, one amendment at most."""
    clock, other = SetClock(), Recorder()
    pipeline = make(Policy(retries=5, max_infra_refunds=5), other, clock=clock)
    task = pipeline.started(Task("nightly", "load"))
    reports = {"worker": SUPERVISOR, "node agent": PLATFORM, "scheduler": EXECUTOR}
    decisions = []
    for observer in order:
        clock.go_on(180.0)
        decisions.append(pipeline.failed(task, reports[observer]))

    assert [decisions[0]] * 3 == decisions
    # What was unknown or a guess gives way to what the platform confirms, and to nothing else.
    better = [] if order[0] == "node agent" else ["amended"]
    assert ["failed", *better] == heard.types == other.types
    assert "Evicted" == heard.events[-1].failure_details.reason
    assert decisions[0] == heard.events[-1].decision
    ended_at = heard.events[0].ended_at
    assert [ended_at] * len(heard.events) == [event.ended_at for event in heard.events]
    with pipeline.store.transaction() as ledger:
        account = ledger.account(task.key)
    assert account is not None
    assert (0, 1, 0, 1) == (account.user, account.infra, account.system, account.failures)


def summary(pipeline: Pipeline, task: Task) -> tuple[str, list[AttemptState], Counters]:
    """Return what the ledger holds of a task in the end."""
    with pipeline.store.transaction() as ledger:
        account, attempts = ledger.account(task.key), ledger.attempts(task.key)
    assert account is not None
    spent = Counters(account.user, account.infra, account.system)
    return account.closed, [attempt.state for attempt in attempts], spent


@given(
    reports=st.permutations([EXECUTOR, SUPERVISOR, PLATFORM, SILENT, BUG, None]),
    repeated=st.lists(st.integers(0, 5), max_size=4),
    retries=st.sampled_from([0, 1, 3]),
    idempotent=st.booleans(),
    opened=st.booleans(),
)
def test_a_success_among_the_reports_ends_in_one_state(
    quiet: Pipeline,
    *,
    reports: list[Evidence | None],
    repeated: list[int],
    retries: int,
    idempotent: bool,
    opened: bool,
) -> None:
    """Worker, observers, loss and success in any order, with repetitions: the task has succeeded.

    Each thing is told once, the answer to a report never changes, and one charge is paid at most.
    """
    policy = Policy(retries=retries, max_infra_refunds=retries)
    task = Task("nightly", "load", idempotent=idempotent, policy=policy)
    if opened:
        task = quiet.started(task)
    answers = []
    for evidence in (*reports, *[reports[index] for index in repeated]):
        if evidence is None:
            quiet.succeeded(task)
        else:
            answers.append(quiet.failed(task, evidence))
    events = told(quiet, task)

    assert [answers[0]] * len(answers) == answers
    closed, states, spent = summary(quiet, task)
    assert ("succeeded", [AttemptState.SUCCEEDED]) == (closed, states)
    assert (1 if answers[0].retry else 0) == spent.paid
    assert len(events) == len({event.event_id for event in events})
    types = [event.type.value for event in events]
    if reports[0] is None:
        assert [] == types
    else:
        assert ["failed", "amended", "recovered"] == [types[0], *types[-2:]]
        assert events[-2].succeeded
        assert types[1:-2] in ([], ["amended"])
    if reports[0] is not None or not idempotent:
        with pytest.raises(StartRefused):
            quiet.started(task.next_attempt())


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["start", "fail", "succeed"]),
            st.integers(1, 4),
            st.sampled_from([EXECUTOR, SUPERVISOR, PLATFORM, SILENT, BUG, Evidence.plugin_error()]),
        ),
        max_size=14,
    ),
    st.booleans(),
)
def test_reports_on_several_attempts_contradict_nothing(
    quiet: Pipeline, reports: list[tuple[str, int, Evidence]], idempotent: bool
) -> None:
    """Late, early, repeated, of any attempt: what is told fits what the ledger holds."""
    policy = Policy(retries=2, max_infra_refunds=1, max_system_failures=1)
    task = Task("nightly", "load", idempotent=idempotent, policy=policy)
    for what, number, evidence in reports:
        if what == "start":
            try:
                begun = quiet.started(task.at_attempt(number)).attempt
            except StartRefused:
                continue
            assert begun >= number
        elif what == "succeed":
            quiet.succeeded(task.at_attempt(number))
        else:
            quiet.failed(task.at_attempt(number), evidence)
    events = told(quiet, task)
    with quiet.store.transaction() as ledger:
        account, attempts = ledger.account(task.key), ledger.attempts(task.key)

    assert len(events) == len({event.event_id for event in events})
    failed = [event for event in events if event.type is EventType.FAILED]
    declared = [attempt for attempt in attempts if attempt.decision is not None]
    assert len(failed) == len(declared) == (0 if account is None else account.failures)
    after_all = {event.task.attempt for event in events if event.succeeded}
    assert after_all == {
        attempt.task.attempt for attempt in declared if attempt.state is AttemptState.SUCCEEDED
    }
    if account is None:
        return
    paid = account.user + account.infra + account.system
    granted = [each for each in declared if each.decision is not None and each.decision.retry]
    assert paid == len(granted)
    assert account.user <= 2
    assert account.infra <= 1
    assert account.system <= 1
    well = {event.task.attempt for event in events if event.type is EventType.RECOVERED}
    ended = [each.task.attempt for each in attempts if each.state is AttemptState.SUCCEEDED]
    assert well <= set(ended)
    if account.closed == "succeeded" and failed:
        later = max(event.task.attempt for event in failed) > max(ended)
        assert well or later  # what failed after the end is not what the task recovered from
