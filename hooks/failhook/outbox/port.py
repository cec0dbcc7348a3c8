"""The outbox port and the store port: what a store must be able to do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from failhook.event import FailureEvent
from failhook.gate.ledger import Ledger

AT_ONCE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""When a new row is due: long ago, so that no step of the clock can put it off."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one plugin.

    Attributes:
        id: the row; grows with time within a store.
        plugin: the plugin's name.
        event: what to deliver, without a live exception.
        tries: how often it was tried before.
        group_key: rows of one plugin with the same key are handed over together; "" is alone.
    """

    id: int
    plugin: str
    event: FailureEvent
    tries: int
    group_key: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for one plugin.

    Attributes:
        plugin: the plugin's name.
        count: how many events.
        error: why the newest of those that were tried was not taken; "" when none was tried.
    """

    plugin: str
    count: int
    error: str


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that a plugin could not take for good.

    Attributes:
        id: the row.
        plugin: the plugin's name.
        event: what was not taken.
        tries: how often it was tried.
        error: why it was given up, one line.
        died_at: when, UTC.
    """

    id: int
    plugin: str
    event: FailureEvent
    tries: int
    error: str
    died_at: datetime


class Transaction(Ledger, Protocol):
    """One transaction: the ledger and the outbox change together or not at all."""

    def enqueue(self, event: FailureEvent, plugins: Sequence[str], due: datetime) -> None:
        """Put one row per plugin into the outbox; an event and plugin already there adds none.

        A live exception is not kept.
        """
        ...


class Outbox(Protocol):
    """What the drainer needs. Each call is a transaction of its own."""

    def claim(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> Sequence[Delivery]:
        """Lease rows of one plugin that are due and that nobody else holds.

        Of each task only the oldest undelivered row is handed out, so that a plugin hears of one
        task in order. Rows under a group key hold nobody back, since their plugin has heard of
        them. When the first due row has a group key, all due rows of that group come with it,
        however many; rows without one and rows of other groups never come in the same batch. A
        lease lasts `lease` seconds.
        """
        ...

    def done(self, ids: Sequence[int]) -> None:
        """Remove delivered rows."""
        ...

    def retry(self, ids: Sequence[int], *, not_before: datetime, error: str) -> None:
        """Give rows back, with one try more, to be claimed again at `not_before`."""
        ...

    def park(self, ids: Sequence[int], *, group_key: str, not_before: datetime) -> None:
        """Give rows back untried, to be claimed together at `not_before` under a group key."""
        ...

    def bury(self, ids: Sequence[int], *, error: str, now: datetime) -> None:
        """Turn rows into dead letters, with one try more."""
        ...

    def holders(self, plugin: str) -> Sequence[str]:
        """Return the owners of the leases on a plugin's rows, the expired ones too."""
        ...

    def release(self, owner: str) -> None:
        """Give back every lease that `owner` holds, untried and due at once: it is closing."""
        ...

    def next_due(self, plugins: Sequence[str], now: datetime) -> datetime | None:
        """Return when the next row of these plugins is due; `now` or earlier if one is waiting."""
        ...

    def pending(self, plugins: Sequence[str] | None = None) -> int:
        """Count rows that are not delivered and not dead, of some plugins or of all."""
        ...

    def waiting(self) -> Sequence[Waiting]:
        """Return what is not delivered and not dead, one entry per plugin that has any."""
        ...

    def dead_letters(self) -> Sequence[DeadLetter]:
        """Return the dead letters, oldest first."""
        ...

    def revive(self, ids: Sequence[int], now: datetime) -> int:
        """Put dead letters back into the outbox, with their tries forgotten; return how many."""
        ...

    def drop(self, ids: Sequence[int]) -> int:
        """Forget dead letters; return how many."""
        ...


class Store(Outbox, Protocol):
    """A ledger and an outbox in one place."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction: it commits when the block ends and rolls back when it raises.

        Raises:
            StoreError: the store cannot be read or written; nothing was changed.
        """
        ...

    def get_state(self, plugin: str, key: str) -> str | None:
        """Return a value of a plugin's own state."""
        ...

    def put_state(self, plugin: str, key: str, value: str | None) -> None:
        """Keep a value of a plugin's own state; None forgets it."""
        ...

    def close(self) -> None:
        """Let go of files and connections; a closed store is not used again."""
        ...
