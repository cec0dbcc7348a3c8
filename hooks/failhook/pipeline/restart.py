"""What a scheduler that begins again finds in the store: what was lost, and what is to run next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from failhook import host
from failhook.clock import Clock
from failhook.decision import Decision
from failhook.gate.ledger import Attempt, Ledger
from failhook.outbox.port import Store
from failhook.outbox.within import within
from failhook.task import Task


@dataclass(frozen=True, slots=True)
class Granted:
    """Another attempt that was granted and has not begun.

    Attributes:
        task: the attempt that is to begin, with the ledger's number and the policy of the one
            before; labels and log URL are redacted, as the ledger keeps them.
        decision: on the attempt before; a hold, where a person has released it since.
        due: when it may begin, UTC.
        delay: seconds from now until then: 0 where it is late, and never more than the decision
            asked for, wherever the clock was set.
    """

    task: Task
    decision: Decision
    due: datetime
    delay: float


def orphans(store: Store, this_host: str) -> Sequence[Attempt]:
    """Return the open attempts of a host whose supervisor is gone."""
    attempts = within(store, lambda ledger: ledger.open_attempts(this_host))
    return [
        attempt
        for attempt in attempts
        if attempt.owner is not None
        and host.owner_fate(attempt.owner) in ("process_gone", "rebooted")
    ]


def between_attempts(store: Store, clock: Clock) -> Sequence[Granted]:
    """Return the attempts that were granted and have not begun, what is due first before the rest.

    Raises:
        StoreError: the store cannot be read.
    """
    last = within(store, _last_attempts)
    now = clock.now()
    found = [_granted(attempt, now) for attempt in last if attempt is not None]
    return sorted((each for each in found if each is not None), key=lambda each: each.due)


def _last_attempts(ledger: Ledger) -> Sequence[Attempt | None]:
    accounts = ledger.between_attempts()
    return [ledger.attempt(f"{each.key}/{each.last_attempt}") for each in accounts]


def _granted(attempt: Attempt, now: datetime) -> Granted | None:
    decision, decided_at = attempt.decision, attempt.closed_at
    if decision is None or decided_at is None:
        return None
    due = decided_at + timedelta(seconds=decision.delay)
    delay = min(decision.delay, max(0.0, (due - now).total_seconds()))
    return Granted(attempt.task.next_attempt(), decision, due, delay)
