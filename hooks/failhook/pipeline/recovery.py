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
    """Remember that a run of a job has failed, whatever is to follow: the retry may never come."""
    failed_at = event.ended_at or event.observed_at
    ledger.save_last_failure(LastFailure(job_of(event.task), event.task.key, failed_at))


def recovered_run(
    ledger: Ledger, attempt: Attempt, now: datetime, *, had_failed: bool
) -> tuple[Account, Attempt] | None:
    """Return the newest other run that a success makes good, and its last failed attempt, or None.

    All that it makes good is forgotten, so that one success only is told so. A run that was under
    way when another one failed makes nothing of that good; one whose start nobody saw counts as
    begun now.

    Args:
        ledger: within one transaction.
        attempt: what has succeeded.
        now: UTC.
        had_failed: whether attempts of the same run failed: it is they that are told of then. No
            other run is looked at, so that two such runs do not wait for each other.
    """
    task = attempt.task
    began = attempt.opened_at or now
    failures = ledger.last_failures(job_of(task))
    over = [each for each in failures if each.key == task.key or each.failed_at <= began]
    found: tuple[Account, Attempt] | None = None
    for failure in () if had_failed else over:
        account = ledger.account(failure.key)  # first: it is locked before the job is
        failed = [each for each in ledger.attempts(failure.key) if each.details is not None]
        if account is not None and failed:
            found = account, failed[-1]
            break
    in_order = sorted(over, key=lambda failure: failure.key)  # as everybody else locks them
    forgotten = [ledger.forget_last_failure(failure) for failure in in_order]
    return found if any(forgotten) else None
