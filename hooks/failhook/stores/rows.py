"""The model as database rows: what can be asked for is a column, the rest is JSON.

Times are whole microseconds since 1970 in UTC: exact, and in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

from failhook.clock import to_rfc3339
from failhook.decision import Decision
from failhook.details import FailureDetails
from failhook.event import SCHEMA_VERSION, FailureEvent
from failhook.gate.ledger import Account, Attempt, AttemptState, Owner
from failhook.phases import PhaseHistory
from failhook.task import Task

T = TypeVar("T")
Columns = tuple[str | int | None, ...]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_AT_HAND: Final = 2048

to_json: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
"""Writes ASCII, in which any text, also a broken one, can be written and read back."""


def to_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the time that `to_micros` wrote."""
    return _EPOCH + micros * _MICROSECOND


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + micros * _MICROSECOND


class _Document(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


class Texts:
    """JSON of frozen objects, so that what goes into several rows is written once.

    It holds what it wrote or read last, a few thousand objects at most. One thread at a time.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str]] = {}

    def write(self, part: _Document | PhaseHistory | None) -> str | None:
        """Return the JSON of a part of the model."""
        if part is None:
            return None
        known = self._known.get(id(part))
        if known is not None:
            return known[1]
        document = part.to_list() if isinstance(part, PhaseHistory) else part.to_dict()
        return self._keep(part, to_json(document))

    def read(self, text: str | None, build: Callable[[Any], T]) -> T | None:
        """Return the part of the model that JSON stands for."""
        if text is None:
            return None
        part = build(json.loads(text))
        self._keep(part, text)
        return part

    def _keep(self, part: object, text: str) -> str:
        if len(self._known) >= _AT_HAND:
            self._known.clear()
        self._known[id(part)] = (part, text)
        return text


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
        _micros(account.first_started_at),
        texts.write(account.first_failure),
        account.first_error,
        texts.write(account.phases),
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
        first_started_at=_moment(row[7]),
        first_failure=texts.read(row[8], FailureDetails.from_dict),
        first_error=row[9],
        phases=texts.read(row[10], PhaseHistory.from_list) or PhaseHistory(),
        closed=row[11],
    )


def attempt_row(attempt: Attempt, texts: Texts) -> Columns:
    """Return the columns of the query ``save_attempt``."""
    task, details, decision = attempt.task, attempt.details, attempt.decision
    return (
        task.key,
        task.attempt,
        task.job_key,
        attempt.state.value,
        None if details is None else details.kind.value,
        None if details is None else details.reason,
        None if decision is None else decision.charge.value,
        None if details is None else details.node,
        None if attempt.owner is None else attempt.owner.host,
        task.owner,
        _micros(attempt.opened_at),
        _micros(attempt.closed_at),
        attempt.oom_host,
        attempt.revision,
        attempt.error_line,
        int(attempt.suspect),
        texts.write(task),
        texts.write(attempt.owner),
        texts.write(details),
        texts.write(decision),
    )


def attempt_from(row: Sequence[Any], texts: Texts) -> Attempt:
    """Read the columns of the query ``attempt``."""
    task = texts.read(row[7], Task.from_dict)
    assert task is not None  # noqa: S101 - the column is NOT NULL
    return Attempt(
        task=task,
        state=AttemptState(row[0]),
        opened_at=_moment(row[1]),
        closed_at=_moment(row[2]),
        oom_host=row[3],
        revision=row[4],
        error_line=row[5],
        suspect=bool(row[6]),
        owner=texts.read(row[8], Owner.from_dict),
        details=texts.read(row[9], FailureDetails.from_dict),
        decision=texts.read(row[10], Decision.from_dict),
    )


def event_text(event: FailureEvent, texts: Texts) -> str:
    """Return the event's JSON shape, without the conditions, which follow from the phases.

    What the ledger wrote in the same transaction is not written anew.
    """
    head = to_json(
        {
            "schema_version": SCHEMA_VERSION,
            "type": event.type.value,
            "event_id": event.event_id,
            "revision": event.revision,
            "first_error": event.first_error,
            "started_at": None if event.started_at is None else to_rfc3339(event.started_at),
            "ended_at": None if event.ended_at is None else to_rfc3339(event.ended_at),
            "observed_at": to_rfc3339(event.observed_at),
            "observer": event.observer,
            "simulated": event.simulated,
        }
    )
    parts = "".join(
        f',"{name}":{texts.write(getattr(event, name))}'
        for name in _PARTS
        if getattr(event, name) is not None
    )
    return f"{head[:-1]}{parts}}}"


_PARTS: Final = (
    "task",
    "failure_details",
    "decision",
    "phases",
    "error",
    "previous",
    "first_failure",
)


def event_from(text: str) -> FailureEvent:
    """Read what `event_text` wrote."""
    return FailureEvent.from_json(text)
