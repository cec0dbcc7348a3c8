"""Decisions that no budget makes: on what is over already, and on what must not start."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from failhook.decision import (
    ALREADY_CLOSED,
    ALREADY_SUCCEEDED,
    DUPLICATE_EXECUTION,
    Action,
    Because,
    Charge,
    Counters,
    Decision,
)
from failhook.details import Confidence, Fact, FailureDetails, Kind, Started
from failhook.gate.ledger import Account, Attempt, Owner
from failhook.task import Task

SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
HELD: Final = "held"
"""Why an account is closed."""


def closed_before(task: Task, account: Account) -> Decision:
    """Answer a report on an attempt that should not have run: nothing is resurrected."""
    why = f"the task was closed before as {account.closed}, so attempt {task.attempt} is not"
    return _fail("gate.closed", f"{why} followed up", ALREADY_CLOSED, task.attempt, account)


def attempt_succeeded(attempt: Attempt, account: Account) -> Decision:
    """Answer a report of failure on an attempt that had reported success before."""
    number = attempt.task.attempt
    why = f"attempt {number} was reported as succeeded before; nothing runs again"
    return _fail("gate.already-succeeded", why, ALREADY_SUCCEEDED, number, account)


def task_succeeded(task: Task, by: Attempt, account: Account) -> Decision:
    """Answer a report of failure on one attempt when another one has done the task's work."""
    why = f"the task has succeeded with attempt {by.task.attempt}"
    return _fail("gate.already-succeeded", why, ALREADY_SUCCEEDED, task.attempt, account)


def runs_already(attempt: Attempt, account: Account) -> Decision:
    """Refuse a start, because the attempt before it is supervised by somebody."""
    owner = attempt.owner or Owner("", 0)
    why = (
        f"attempt {attempt.task.attempt} is running already, "
        f"supervised by process {owner.pid} on {owner.host}"
    )
    return _fail("gate.duplicate", why, DUPLICATE_EXECUTION, attempt.task.attempt, account)


def is_closed(task: Task, account: Account) -> Decision:
    """Refuse a start, because the task is closed and no decision of the gate says why."""
    why = f"the task is closed ({account.closed}); clear it to begin a new generation"
    return _fail("gate.closed", why, None, task.attempt, account)


def is_done(task: Task, account: Account) -> Decision:
    """Refuse a start of what has succeeded and must not, or need not, run again."""
    what = "no other attempt of it is needed" if task.idempotent else "must not run twice"
    why = f"the task has succeeded and {what}; clear it to begin a new generation"
    return _fail("gate.already-succeeded", why, ALREADY_SUCCEEDED, task.attempt, account)


def by_hand(decision: Decision, action: Action, actor: str, what: str) -> Decision:
    """Return what a person decided in place of the gate; nothing is charged."""
    why = f"{actor} had it {what}"
    return replace(
        decision,
        action=action,
        message=f"{action.value}: {why} ({decision.before})",
        charge=Charge.NONE,
        because=Because("gate.resolved", why),
        after=decision.before,
        delay=0.0,
        code=None if action is Action.RETRY else "Resolved",
    )


def success_after_all(number: int, declared: FailureDetails) -> FailureDetails:
    """Return what is to be said of an attempt that was given up and then reported success."""
    word = "failed" if declared.ended_by_itself else "lost"
    return FailureDetails(
        kind=Kind.UNKNOWN,
        reason="StateMismatch",
        message=(
            f"attempt {number} was declared {word} as {declared.kind.value} {declared.reason} "
            "and has reported success after all"
        ),
        confidence=Confidence.CONFIRMED,
        rule="report.succeeded-after-all",
        evidence=(Fact("reported", "succeeded"),),
        executor=declared.executor,
        started=Started.YES,
        ended_by_itself=True,
        node=declared.node,
    )


def _fail(rule: str, why: str, code: str | None, attempt: int, account: Account) -> Decision:
    spent = Counters(account.user, account.infra, account.system)
    return Decision(
        action=Action.FAIL,
        message=f"fail: {why}",
        charge=Charge.NONE,
        because=Because(rule, why),
        before=spent,
        after=spent,
        attempt=attempt,
        max_tries=spent.paid,
        code=code,
    )
