"""Tasks, attempts and events as a pipeline would write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import Fact, FailureDetails, Kind, Started
from failhook.error_info import ErrorInfo
from failhook.event import EventType, FailureEvent, event_id
from failhook.gate.ledger import Account, Attempt, AttemptState, Owner
from failhook.phases import PhaseHistory
from failhook.policy import Policy
from failhook.task import Task

NOW = datetime(2026, 3, 29, 1, 59, 59, 123457, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)

DETAILS = FailureDetails(
    kind=Kind.INFRA,
    reason="KilledBySignal",
    message="ended by SIGKILL that the supervisor did not send",
    rule="process.killed",
    evidence=(Fact("evidence.signal", 9), Fact("context.oom_kill", None)),
    signal=9,
    started=Started.YES,
    node="node-7",
)
DECISION = Decision(
    action=Action.RETRY,
    message="refund 1 of 3",
    charge=Charge.INFRA,
    because=Because("refund", "infra after start is refunded while the cap lasts"),
    before=Counters(0, 0, 0, 1, 3, 3),
    after=Counters(0, 1, 0, 1, 3, 3),
    attempt=1,
    max_tries=2,
    delay=1.5,
)
PHASES = PhaseHistory().then("Executing", NOW).then("RetryableFailure", LATER, "killed")


def a_task(name: str = "load", **more: object) -> Task:
    """A task whose key is the same in each process."""
    return Task(
        "nightly",
        name,
        **{
            "run_id": "run 1/é",
            "owner": "data@example.org",
            "labels": {"team": "data"},
            "policy": Policy(retries=1, max_infra_refunds=3),
            "logical_time": NOW,
            **more,
        },
    )


def an_account(task: Task, **more: object) -> Account:
    """An account with every field set."""
    return Account(
        **{
            "key": task.key,
            "job_key": task.job_key,
            "user": 1,
            "infra": 2,
            "system": 3,
            "last_attempt": task.attempt,
            "failures": 1,
            "first_started_at": NOW,
            "first_failure": DETAILS,
            "first_error": "ValueError: 'a' \N{SNOWMAN}",
            "phases": PHASES,
            "closed": "held",
            **more,
        },
    )


def an_open_attempt(task: Task, **more: object) -> Attempt:
    """An attempt that somebody supervises."""
    return Attempt(
        **{
            "task": task,
            "state": AttemptState.OPEN,
            "owner": Owner("node-7", 4711, 99, "boot", 4712, 100, 4026531836),
            "opened_at": NOW,
            "oom_host": 0,
            **more,
        },
    )


def a_failed_attempt(task: Task) -> Attempt:
    """An attempt with every field set."""
    return an_open_attempt(
        task,
        state=AttemptState.FAILED,
        closed_at=LATER,
        details=DETAILS,
        decision=DECISION,
        revision=1,
        error_line="ValueError: 'a'",
        suspect=True,
        moved_to=Charge.SYSTEM,
    )


def an_event(task: Task, revision: int = 0, **more: object) -> FailureEvent:
    """An event; the same task and revision give the same event id."""
    return FailureEvent(
        **{
            "type": EventType.FAILED,
            "event_id": event_id(EventType.FAILED, task.attempt_key, revision),
            "revision": revision,
            "task": task,
            "error": ErrorInfo(type="builtins.ValueError", message="'a' \N{SNOWMAN}"),
            "failure_details": DETAILS,
            "decision": DECISION,
            "phases": PHASES,
            "started_at": NOW,
            "ended_at": LATER,
            "observed_at": LATER,
            "observer": "node-7:4711",
            **more,
        },
    )
