"""The ledger as database rows: what can be asked for is a column, the rest is JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from failhook.decision import Charge
from failhook.gate.ledger import Account, Attempt, AttemptState
from failhook.stores.records import (
    Texts,
    micros_if_set,
    moment_if_set,
    read_decision,
    read_details,
    read_owner,
    read_phases,
    read_task,
)
from failhook.text import clean

Columns = tuple[str | int | None, ...]


def account_row(account: Account, texts: Texts) -> Columns:
    """Return the columns of the query ``save_account``."""
    return (
        account.key,
        account.job_key,
        account.user,
        account.infra,
        account.system,
        account.last_attempt,
        account.failures,
        micros_if_set(account.first_started_at),
        texts.details(account.first_failure),
        clean(account.first_error),
        texts.phases(account.phases),
        account.closed,
    )


def account_from(row: Sequence[Any], texts: Texts) -> Account:
    """Read the columns of the query ``account``."""
    return Account(
        key=row[0],
        job_key=row[1],
        user=row[2],
        infra=row[3],
        system=row[4],
        last_attempt=row[5],
        failures=row[6],
        first_started_at=moment_if_set(row[7]),
        first_failure=texts.read_if_set(row[8], read_details),
        first_error=row[9],
        phases=texts.read(row[10], read_phases),
        closed=row[11],
    )


def attempt_row(attempt: Attempt, texts: Texts) -> Columns:
    """Return the columns of the query ``save_attempt``."""
    task, details, decision = attempt.task, attempt.details, attempt.decision
    return (
        task.key,
        task.attempt,
        task.job_key,
        str(attempt.state),
        None if details is None else str(details.kind),
        None if details is None else clean(details.reason),
        None if attempt.charge is None else str(attempt.charge),
        _clean(None if details is None else details.node),
        _clean(None if attempt.owner is None else attempt.owner.host),
        _clean(task.owner),
        micros_if_set(attempt.opened_at),
        micros_if_set(attempt.closed_at),
        attempt.oom_host,
        attempt.revision,
        clean(attempt.error_line),
        int(attempt.suspect),
        texts.task(task),
        texts.owner(attempt.owner),
        texts.details(details),
        texts.decision(decision),
    )


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def attempt_from(row: Sequence[Any], texts: Texts) -> Attempt:
    """Read the columns of the query ``attempt``."""
    decision = texts.read_if_set(row[10], read_decision)
    moved = decision is not None and row[11] != decision.charge
    return Attempt(
        state=AttemptState(row[0]),
        opened_at=moment_if_set(row[1]),
        closed_at=moment_if_set(row[2]),
        oom_host=row[3],
        revision=row[4],
        error_line=row[5],
        suspect=bool(row[6]),
        task=texts.read(row[7], read_task),
        owner=texts.read_if_set(row[8], read_owner),
        details=texts.read_if_set(row[9], read_details),
        decision=decision,
        moved_to=Charge(row[11]) if moved else None,
    )
