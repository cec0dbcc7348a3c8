"""The outbox port and the store port: what a store must be able to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from failhook.event import FailureEvent
from failhook.gate.ledger import Attempt, Ledger
from failhook.groups import DroppedEvents, Group, Handled
from failhook.outbox.reading import Side, StoreReport, Tally

AT_ONCE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""When a new row is due: long ago, so that no step of the clock can put it off."""

ENDED: Final = "the process ended during the call"
"""Why a plugin has not taken what a process held that is gone."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may wait for one plugin, dead letters included.

    What is more is dropped: events that are not final first, then final ones, each the oldest
    first. Drops are counted per plugin and told, see `Outbox.drops`.

    Attributes:
        events: rows.
        bytes: JSON in UTF-8 of their events.
    """

    events: int = 100_000
    bytes: int = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one plugin.

    Attributes:
        id: the row; grows with time within a store.
        plugin: the plugin's name.
        event: what to deliver, without a live exception; None where the row cannot be read.
        tries: how often it was tried before.
        event_id: of the event, also where that cannot be read.
        unreadable: why it cannot be read, one line; "" where it can.
        deaths: how many processes in a row ended while they held it; but for the first of them,
            which may have been in a call about another row, in its call.
        failures: how many of the tries were no refusals.
    """

    id: int
    plugin: str
    event: FailureEvent | None
    tries: int
    event_id: str = ""
    unreadable: str = ""
    deaths: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class DueGroup:
    """A group of one plugin that is due: all that waits under its key, under one lease.

    Attributes:
        plugin: the plugin's name.
        key: the group's.
        rows: its events, oldest first; none where only its time has come again.
        remaining: how many more wait, because more than the limit do; the group is due again at
            once when this part is settled.
        tries: how often handing it over has failed since it last went well.
        note: what the plugin noted the last time.
        sent_at: when the last notification went out, UTC; None when there was none.
        owner: who claimed it.
        deaths: how many processes in a row ended while they held it.
        failures: how many of the tries were no refusals.
    """

    plugin: str
    key: str
    rows: Sequence[Delivery]
    remaining: int
    tries: int
    note: str
    sent_at: datetime | None
    owner: str = ""
    deaths: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for one plugin.

    Attributes:
        plugin: the plugin's name.
        count: how many events.
        error: why the newest of those that were tried was not taken; "" when none was tried.
        since: when the oldest of them was observed, UTC.
        grouped: how many of them wait for the time of their group.
        due_at: when the next of them is due, UTC; of one that is leased, when the lease ends.
        deaths: the most processes that ended in a row while they held one of them.
    """

    plugin: str
    count: int
    error: str
    since: datetime
    grouped: int = 0
    due_at: datetime | None = None
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that a plugin could not take for good.

    Attributes:
        id: the row.
        plugin: the plugin's name.
        event: what was not taken; None where it cannot be read.
        tries: how often it was tried.
        error: why it was given up, one line.
        died_at: when, UTC.
        event_id: of the event.
        task_key: the task that it is about.
    """

    id: int
    plugin: str
    event: FailureEvent | None
    tries: int
    error: str
    died_at: datetime
    event_id: str
    task_key: str


@dataclass(frozen=True, slots=True)
class HookCalls:
    """How one hook of one plugin fared on one host, in all processes there.

    Attributes:
        plugin: the plugin's name.
        hook: the hook's name.
        host: host name.
        pid: the process that called it last.
        called_at: when it was last called, UTC.
        delivered_at: when a call last ended well, UTC; None when none did.
        delivered: calls that ended well.
        undelivered: calls that the plugin itself said it could not deliver.
        failed: calls that raised, ran out of time or answered nonsense.
        slow: calls that ran past the time limit.
        error: the last failure, one line.
    """

    plugin: str
    hook: str
    host: str
    pid: int
    called_at: datetime
    delivered_at: datetime | None = None
    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    slow: int = 0
    error: str = ""


class Transaction(Ledger, Protocol):
    """One transaction: the ledger and the outbox change together or not at all."""

    def enqueue(self, event: FailureEvent, plugins: Sequence[str], due: datetime) -> None:
        """Put one row per plugin into the outbox; an event and plugin already there adds none.

        A live exception is not kept. What is beyond the bounds is dropped, see `Bounds`; a row that
        is leased just now is not.
        """
        ...


class Opening(AbstractContextManager[Transaction], Protocol):
    """A transaction for a ``with`` block."""

    def end(self) -> None:
        """Roll back unless the block has ended; see `failhook.outbox.within`."""
        ...


class Outbox(Protocol):
    """What the drainer needs. Each call is a transaction of its own.

    A lease belongs to an owner. What is done under a lease that has passed to another owner changes
    nothing, except that `done` and `settle` say what is true anyway: it was delivered.
    """

    def claim(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> Sequence[Delivery]:
        """Lease rows of one plugin that are due, in no group, and that nobody else holds.

        Of each task only the oldest undelivered row is handed out, so that a plugin hears of one
        task in order. Rows in a group hold nobody back, since their plugin has heard of them. A
        lease lasts `lease` seconds. A row that cannot be read comes too, and says so.

        One that another owner let run out has a death more. A row with deaths comes alone, first.
        """
        ...

    def claim_group(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> DueGroup | None:
        """Lease the group of one plugin that is due first, or `limit` rows of it; None without."""
        ...

    def renew(self, plugin: str, *, owner: str, until: datetime) -> None:
        """Prolong the leases that `owner` holds on rows and groups of a plugin."""
        ...

    def done(self, ids: Sequence[int]) -> None:
        """Remove delivered rows."""
        ...

    def retry(
        self,
        ids: Sequence[int],
        *,
        not_before: datetime,
        error: str,
        owner: str,
        refused: bool = False,
    ) -> None:
        """Give rows back, with one try more and no death, to be claimed again at `not_before`.

        The try is a failure more, unless it was `refused`.
        """
        ...

    def bury(self, ids: Sequence[int], *, error: str, now: datetime, owner: str) -> None:
        """Turn rows into dead letters; each has one try more, or as many as it had deaths."""
        ...

    def group(self, row: int, groups: Sequence[Group], *, owner: str) -> None:
        """Put a claimed row into one or more groups: one row for each.

        A group that waits already keeps its time, also where that is the time of another try; else
        it waits until the `not_before` that is given.
        """
        ...

    def settle(self, group: DueGroup, handled: Handled, *, now: datetime) -> None:
        """Remove the rows of a group that was handed over, and write the notification log.

        All in one transaction: what is said to be sent is sent. The group waits on where rows of it
        remain or the plugin wants it again, and ends else; its note stays. Whose lease has passed
        to another writes to the log only what no other has written since the group was claimed.
        """
        ...

    def retry_group(
        self,
        group: DueGroup,
        *,
        not_before: datetime,
        error: str,
        owner: str,
        refused: bool = False,
    ) -> None:
        """Give a group back, as `retry` does rows."""
        ...

    def bury_group(self, group: DueGroup, *, error: str, now: datetime, owner: str) -> None:
        """Turn the rows of a group into dead letters and let it end; its note stays."""
        ...

    def holders(self, plugin: str) -> Sequence[str]:
        """Return the owners of the leases on a plugin's rows and groups, the expired ones too."""
        ...

    def release(self, owner: str, plugin: str | None = None) -> None:
        """Give back all leases that `owner` holds, or those of one plugin: due at once, untried."""
        ...

    def lose(self, owner: str, plugin: str, *, not_before: datetime) -> None:
        """Give back what a dead owner held: one death more; due at once if that is its first."""
        ...

    def deaths(self, plugin: str) -> int:
        """Return the most deaths that any row or group has which waits for a plugin."""
        ...

    def next_due(self, plugins: Sequence[str], now: datetime) -> datetime | None:
        """Return when the next row or group of these plugins is due; `now` if one is waiting."""
        ...

    def pending(self, plugins: Sequence[str] | None = None) -> int:
        """Count rows that are not delivered and not dead, of some plugins or of all."""
        ...

    def waiting(self) -> Sequence[Waiting]:
        """Return what is not delivered and not dead, one entry per plugin that has any."""
        ...

    def given_up(self) -> Sequence[Waiting]:
        """Return what is dead, one entry per plugin that has any; none of it is in a group."""
        ...

    def dead_letters(
        self,
        plugin: str | None = None,
        *,
        ids: Sequence[int] | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[DeadLetter]:
        """Return the dead letters of a plugin or of all, in the order of their ids.

        Args:
            plugin: only this plugin's.
            ids: only these; others among them are left out.
            after: only greater ids, so that many can be read page by page.
            limit: this many at most, the first ones.
        """
        ...

    def revive(self, ids: Sequence[int], now: datetime) -> int:
        """Put dead letters back into the outbox, with their tries forgotten; return how many.

        Of an event that has several rows for a plugin, which were in groups, one is left.
        """
        ...

    def drop(self, ids: Sequence[int]) -> int:
        """Forget dead letters; return how many."""
        ...

    def drops(self) -> Sequence[DroppedEvents]:
        """Return what was dropped and not told yet, one entry per plugin that lost anything."""
        ...

    def told(self, dropped: DroppedEvents) -> None:
        """Take what a plugin has been told of off its count of drops."""
        ...

    def note_calls(self, calls: Sequence[HookCalls]) -> None:
        """Add to the counts of hooks."""
        ...

    def calls(self) -> Sequence[HookCalls]:
        """Return the counts of every hook that ever ran, by plugin, hook and host."""
        ...


class Store(Outbox, Protocol):
    """A ledger and an outbox in one place."""

    def transaction(self) -> Opening:
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

    def state_items(self, plugin: str, prefix: str) -> Mapping[str, str]:
        """Return the values of a plugin's own state whose keys begin so, by key."""
        ...

    def history(self, task: str, *, limit: int) -> Sequence[Attempt]:
        """Return the newest attempts of a task, oldest first.

        Args:
            task: a task's key (one run), its job key (all runs), or ``workflow/name`` in any
                namespace.
            limit: attempts, at most.
        """
        ...

    def failures(self, since: datetime, *, limit: int) -> Sequence[Attempt]:
        """Return so many of the newest attempts that failed since then, oldest first."""
        ...

    def jobs(self, *, limit: int) -> Sequence[str]:
        """Return so many job keys of the tasks that are known, those that began last first."""
        ...

    def tally(self, by: Side, since: datetime) -> Sequence[Tally]:
        """Count the attempts that failed since then, by one side, most failures first."""
        ...

    def forget(self, before: datetime) -> int:
        """Forget the tasks that ended before then and have nothing in the outbox; return how many.

        What is open, on hold or waits for a retry stays.
        """
        ...

    def examine(self, now: datetime) -> StoreReport:
        """Look for what is wrong with the store; it may take seconds where there is much in it."""
        ...

    def close(self) -> None:
        """Let go of files and connections; a closed store is not used again."""
        ...
