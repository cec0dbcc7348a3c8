"""Which attempt has the last word on what its task came to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from failhook.decision import Action
from failhook.details import FailureDetails, Kind, Started
from failhook.gate.ledger import Account, Attempt, AttemptState, Ledger
from failhook.pipeline.answers import FAILED, SUCCEEDED
from failhook.task import Task


def is_held(attempt: Attempt) -> bool:
    """Return whether the gate put the task on hold for this attempt."""
    return attempt.decision is not None and attempt.decision.action is Action.HOLD


def ended_by_hand(attempt: Attempt, account: Account) -> bool:
    """Return whether a person ended the task, whatever this attempt of it came to."""
    if attempt.details is not None and attempt.details.kind is Kind.MANUAL:
        return True
    return account.closed == FAILED and is_held(attempt)


def standing_success(attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the attempt whose success is what the task came to; None where none is.

    An attempt that began later may have spoilt what an earlier one left, and so has the last word.
    It has not where it never ran, or where the task must not run twice, whatever it came to.

    Args:
        attempts: of one task, first to last.
    """
    for attempt in reversed(attempts):
        details = attempt.details
        if attempt.state is AttemptState.SUCCEEDED:
            return attempt
        if attempt.state is AttemptState.OPEN or details is None or details.kind is Kind.MANUAL:
            return None
        if details.started is not Started.NO and attempt.task.idempotent:
            return None
    return None


def done_by_another(
    ledger: Ledger, task: Task, account: Account, details: FailureDetails
) -> Attempt | None:
    """Return the attempt that has done the task's work, when the failure of another is told.

    Either this failure is told late, of an attempt before that one. Or that one's success was told
    late: it had been given up, and then this attempt never ran, or must not run again.

    Args:
        ledger: within one transaction.
        task: the attempt that failed.
        account: of the task.
        details: the verdict on it.
    """
    if account.closed not in ("", SUCCEEDED):
        return None
    if account.closed and task.attempt < account.last_attempt:
        return standing_success(ledger.attempts(task.key))
    if task.attempt == 1 or (details.started is not Started.NO and task.idempotent):
        return None
    before = [each for each in ledger.attempts(task.key) if each.task.attempt < task.attempt]
    stands = standing_success(before)
    return stands if stands is not None and stands.decision is not None else None
