"""What a store holds that somebody may have to act on; `status` shows it, `doctor` judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from failhook.gate.ledger import Account, Attempt
from failhook.groups import DroppedEvents
from failhook.outbox.port import HookCalls, Store, Waiting


@dataclass(frozen=True, slots=True)
class Granted:
    """A retry that was granted and has not begun.

    Attributes:
        key: the task.
        attempt: the number that the next attempt will have.
        since: when the last thing happened to the task, UTC; None where that is not known.
    """

    key: str
    attempt: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Survey:
    """What a store holds just now.

    Attributes:
        held: the last attempt of each task that is on hold.
        running: the attempts that nobody has closed.
        granted: the retries that have not begun.
        waiting: what is not delivered yet, per plugin.
        dead: what was given up, per plugin.
        drops: what was dropped and not told yet, per plugin.
        calls: every hook that ever ran, per host.
    """

    held: Sequence[Attempt]
    running: Sequence[Attempt]
    granted: Sequence[Granted]
    waiting: Sequence[Waiting]
    dead: Sequence[Waiting]
    drops: Sequence[DroppedEvents]
    calls: Sequence[HookCalls]


def survey(store: Store) -> Survey:
    """Read it; nothing is changed.

    Raises:
        StoreError: the store cannot be read.
    """
    with store.transaction() as ledger:
        held = [ledger.attempts(account.key)[-1:] for account in ledger.held_accounts()]
        running = ledger.open_attempts()
        between = ledger.between_attempts()
    return Survey(
        held=[attempt for last in held for attempt in last],
        running=running,
        granted=[_granted(account) for account in between],
        waiting=store.waiting(),
        dead=store.given_up(),
        drops=store.drops(),
        calls=store.calls(),
    )


def _granted(account: Account) -> Granted:
    since = [each.occurred_at for each in account.phases.transitions[-1:]]
    return Granted(account.key, account.last_attempt + 1, since[0] if since else None)
