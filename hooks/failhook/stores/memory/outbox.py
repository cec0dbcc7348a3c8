"""The outbox in memory: per plugin a heap of what is due, and per task a line in order."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from threading import RLock
from typing import Final

from failhook.event import FailureEvent
from failhook.outbox.port import DeadLetter, Delivery, Waiting
from failhook.stores.forks import watch_forks

LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, eq=False)
class _Row:
    """One event for one plugin; while it is leased, `due` is when the lease ends."""

    id: int
    queue: _Queue
    event: FailureEvent
    due: datetime
    tries: int = 0
    group_key: str = ""
    owner: str = ""
    error: str = ""
    died_at: datetime | None = None


@dataclass(slots=True)
class _Queue:
    """What waits for one plugin.

    Attributes:
        plugin: its name.
        heap: (due, id) of rows that may be claimed; entries that no longer hold are skipped.
        lines: the rows of each task without a group key, oldest first; only the first is claimed.
        groups: the rows that wait under each group key.
        leased: the rows that somebody holds.
        known: the ids of all events here, dead letters included.
    """

    plugin: str
    heap: list[tuple[datetime, int]] = field(default_factory=list[tuple[datetime, int]])
    lines: dict[str, list[_Row]] = field(default_factory=dict[str, list[_Row]])
    groups: dict[str, list[_Row]] = field(default_factory=dict[str, list[_Row]])
    leased: dict[int, _Row] = field(default_factory=dict[int, _Row])
    known: set[str] = field(default_factory=set[str])

    def attach(self, row: _Row) -> None:
        """Put a row where it waits: under its group key, or into the line of its task."""
        if row.group_key:
            self.groups.setdefault(row.group_key, []).append(row)
            heappush(self.heap, (row.due, row.id))
            return
        line = self.lines.get(row.event.task.key)
        if line is None:
            self.lines[row.event.task.key] = [row]
        else:
            insort(line, row, key=lambda waiting: waiting.id)
            if line[0] is not row:
                return
        heappush(self.heap, (row.due, row.id))

    def detach(self, row: _Row) -> None:
        """Take a row out; the next one of its task may then be claimed."""
        self.leased.pop(row.id, None)
        where, key = (
            (self.groups, row.group_key) if row.group_key else (self.lines, row.event.task.key)
        )
        rows = where[key]
        rows.remove(row)
        if not rows:
            del where[key]
        elif not row.group_key:
            heappush(self.heap, (rows[0].due, rows[0].id))

    def give_back(self, row: _Row, due: datetime) -> None:
        """End a lease; the row is due again at `due`."""
        self.leased.pop(row.id, None)
        row.owner = ""
        row.due = due
        heappush(self.heap, (due, row.id))

    def first(self, rows: dict[int, _Row]) -> _Row | None:
        """Return the row that is due first of those that may be claimed and that nobody holds."""
        heap = self.heap
        while heap:
            due, identity = heap[0]
            row = rows.get(identity)
            if (
                row is not None
                and row.due == due
                and row.died_at is None
                and not row.owner
                and (row.group_key or self.lines[row.event.task.key][0] is row)
            ):
                return row
            heappop(heap)
        return None


class MemoryOutbox:
    """An outbox that lives and dies with its process."""

    def __init__(self) -> None:
        self.lock = RLock()
        self._rows: dict[int, _Row] = {}
        self._queues: dict[str, _Queue] = {}
        self._last_id = 0
        watch_forks(self)

    def before_fork(self) -> None:
        """Nothing is to be done: the lock is held, so the child's copy is whole."""

    def after_fork_in_child(self) -> None:
        """Start empty: what waits is the parent's to deliver."""
        self._rows = {}
        self._queues = {}

    def add(self, event: FailureEvent, plugins: Iterable[str], now: datetime) -> None:
        """Add rows; the caller holds the lock."""
        event = event.without_exception()
        event_id = event.event_id
        for plugin in plugins:
            queue = self._queues.get(plugin)
            if queue is None:
                queue = self._queues[plugin] = _Queue(plugin)
            if event_id in queue.known:
                continue
            queue.known.add(event_id)
            self._last_id += 1
            row = self._rows[self._last_id] = _Row(self._last_id, queue, event, now)
            queue.attach(row)

    def claim(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> Sequence[Delivery]:
        with self.lock:
            queue = self._queues.get(plugin)
            if queue is None:
                return ()
            for expired in [row for row in queue.leased.values() if row.due <= now]:
                queue.give_back(expired, expired.due)
            until = now + timedelta(seconds=lease)
            claimed: list[_Row] = []
            while len(claimed) < limit:
                row = queue.first(self._rows)
                if row is None or row.due > now or (claimed and row.group_key):
                    break
                for taken in self._together(row, now):
                    taken.owner = owner
                    taken.due = until
                    queue.leased[taken.id] = taken
                    claimed.append(taken)
                if row.group_key:
                    break
        return [Delivery(row.id, plugin, row.event, row.tries, row.group_key) for row in claimed]

    def _together(self, row: _Row, now: datetime) -> Sequence[_Row]:
        if not row.group_key:
            return (row,)
        group = row.queue.groups[row.group_key]
        return sorted((r for r in group if r.due <= now and not r.owner), key=lambda r: r.id)

    def done(self, ids: Sequence[int]) -> None:
        with self.lock:
            for row in self._living(ids):
                row.queue.detach(row)
                self._forget(row)

    def retry(self, ids: Sequence[int], *, not_before: datetime, error: str) -> None:
        with self.lock:
            for row in self._living(ids):
                row.tries += 1
                row.error = error
                row.queue.give_back(row, not_before)

    def park(self, ids: Sequence[int], *, group_key: str, not_before: datetime) -> None:
        with self.lock:
            for row in self._living(ids):
                row.queue.detach(row)
                row.group_key = group_key
                row.owner = ""
                row.due = not_before
                row.queue.attach(row)

    def bury(self, ids: Sequence[int], *, error: str, now: datetime) -> None:
        with self.lock:
            for row in self._living(ids):
                row.queue.detach(row)
                row.tries += 1
                row.error = error
                row.group_key = row.owner = ""
                row.died_at = now

    def holders(self, plugin: str) -> Sequence[str]:
        with self.lock:
            queue = self._queues.get(plugin)
            return () if queue is None else sorted({row.owner for row in queue.leased.values()})

    def release(self, owner: str) -> None:
        with self.lock:
            for queue in self._queues.values():
                for row in [row for row in queue.leased.values() if row.owner == owner]:
                    queue.give_back(row, LONG_AGO)

    def next_due(self, plugins: Sequence[str], now: datetime) -> datetime | None:
        with self.lock:
            dues = [due for plugin in plugins for due in self._dues(plugin)]
        return max(now, min(dues)) if dues else None

    def _dues(self, plugin: str) -> Iterator[datetime]:
        queue = self._queues.get(plugin)
        if queue is not None:
            yield from (row.due for row in queue.leased.values())
            row = queue.first(self._rows)
            if row is not None:
                yield row.due

    def pending(self, plugins: Sequence[str] | None = None) -> int:
        with self.lock:
            return sum(
                row.died_at is None and (plugins is None or row.queue.plugin in plugins)
                for row in self._rows.values()
            )

    def waiting(self) -> Sequence[Waiting]:
        with self.lock:
            living = [row for row in self._rows.values() if row.died_at is None]
            found: dict[str, Waiting] = {}
            for row in living:
                plugin = row.queue.plugin
                before = found.get(plugin, Waiting(plugin, 0, ""))
                found[plugin] = Waiting(plugin, before.count + 1, row.error or before.error)
        return [found[plugin] for plugin in sorted(found)]

    def dead_letters(self) -> Sequence[DeadLetter]:
        with self.lock:
            letters = [
                DeadLetter(row.id, row.queue.plugin, row.event, row.tries, row.error, row.died_at)
                for row in self._rows.values()
                if row.died_at is not None
            ]
        return sorted(letters, key=lambda letter: (letter.died_at, letter.id))

    def revive(self, ids: Sequence[int], now: datetime) -> int:
        with self.lock:
            rows = self._dead(ids)
            for row in rows:
                row.died_at = None
                row.tries = 0
                row.error = ""
                row.due = now
                row.queue.attach(row)
        return len(rows)

    def drop(self, ids: Sequence[int]) -> int:
        with self.lock:
            rows = self._dead(ids)
            for row in rows:
                self._forget(row)
        return len(rows)

    def _living(self, ids: Sequence[int]) -> list[_Row]:
        found = (self._rows.get(identity) for identity in dict.fromkeys(ids))
        return [row for row in found if row is not None and row.died_at is None]

    def _dead(self, ids: Sequence[int]) -> list[_Row]:
        found = (self._rows.get(identity) for identity in dict.fromkeys(ids))
        return [row for row in found if row is not None and row.died_at is not None]

    def _forget(self, row: _Row) -> None:
        del self._rows[row.id]
        row.queue.known.discard(row.event.event_id)
