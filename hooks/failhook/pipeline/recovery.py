"""Recoveries across runs: tonight's run succeeds, and last night's had failed for good."""

from __future__ import annotations

from datetime import datetime

from failhook.event import FailureEvent
from failhook.gate.ledger import Account, Attempt, LastFailure, Ledger
from failhook.task import Task


def job_of(task: Task) -> str:
    """Return the task across its runs; each index of a mapped task is a job of its own."""
    return task.job_key if task.map_index is None else f"{task.job_key}[{task.map_index}]"


def note_failure(ledger: Ledger, event: FailureEvent) -> None:
    """Remember that a run of a job has failed for good, or waits for a person."""
    failed_at = event.ended_at or event.observed_at
    ledger.save_last_failure(LastFailure(job_of(event.task), event.task.key, failed_at))


def recovered_run(
    ledger: Ledger, attempt: Attempt, now: datetime
) -> tuple[Account, Attempt] | None:
    """Return the run that a success makes good, with its last failed attempt; None without one.

    It is forgotten, so that one success only is told so. A run that was under way when the other
    one failed makes nothing good; one whose start nobody saw counts as begun now.

    Args:
        ledger: within one transaction.
        attempt: what has succeeded.
        now: UTC.
    """
    task = attempt.task
    failure = ledger.last_failure(job_of(task))
    if failure is None:
        return None
    own = failure.key == task.key
    if not own and (attempt.opened_at or now) < failure.failed_at:
        return None
    if own:
        ledger.forget_last_failure(failure)
        return None
    account = ledger.account(failure.key)  # first: it is locked before the job is
    failed = [each for each in ledger.attempts(failure.key) if each.details is not None]
    if not ledger.forget_last_failure(failure) or account is None or not failed:
        return None
    return account, failed[-1]
