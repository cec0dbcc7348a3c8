"""The outbox in memory, but for its groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import heappop
from threading import RLock

from failhook.event import FailureEvent
from failhook.groups import DroppedEvents
from failhook.outbox.port import AT_ONCE, ENDED, Bounds, DeadLetter, Delivery, HookCalls, Waiting
from failhook.stores.drops import Drop, gathered, told_of
from failhook.stores.forks import watch_forks
from failhook.stores.memory.queue import LONG_AGO, Queue, Row
from failhook.stores.memory.weight import weight_of


class MemoryOutbox:
    """An outbox that lives and dies with its process.

    Args:
        bounds: how much may wait for one plugin.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.lock = RLock()
        self._bounds = bounds
        self._rows: dict[int, Row] = {}
        self._queues: dict[str, Queue] = {}
        self._drops: dict[tuple[str, str, int], Drop] = {}
        self._calls: dict[tuple[str, str, str], HookCalls] = {}
        self._last_id = 0
        watch_forks(self)

    def before_fork(self) -> None:
        """Nothing is to be done: the lock is held, so the child's copy is whole."""

    def after_fork_in_child(self) -> None:
        """Start empty: what waits, and what was dropped, is the parent's to tell."""
        self._rows = {}
        self._queues = {}
        self._drops = {}

    def add(self, event: FailureEvent, plugins: Iterable[str], now: datetime) -> None:
        """Add rows; the caller holds the lock."""
        event = event.without_exception()
        event_id = event.event_id
        size = weight_of(event)
        final = event.final
        bounds = self._bounds
        for plugin in plugins:
            queue = self._queues.get(plugin)
            if queue is None:
                queue = self._queues[plugin] = Queue(plugin)
            if event_id in queue.known:
                continue
            queue.known[event_id] = 1
            self._last_id += 1
            row = self._rows[self._last_id] = Row(self._last_id, queue, event, size, now)
            (queue.final if final else queue.passing)[row.id] = row
            queue.bytes += size
            queue.attach(row)
            if queue.bytes > bounds.bytes or len(queue.passing) + len(queue.final) > bounds.events:
                self._drop_beyond(queue)

    def mend(self) -> None:
        """Derive the queues anew from the rows, of which each is there or is not."""
        for queue in self._queues.values():
            queue.derive([row for row in self._rows.values() if row.queue is queue])

    def _copy(self, row: Row) -> Row:
        """Add a row of the same event for the same plugin."""
        queue = row.queue
        self._last_id += 1
        copy = self._rows[self._last_id] = replace(row, id=self._last_id)
        queue.known[row.event.event_id] += 1
        (queue.final if row.id in queue.final else queue.passing)[copy.id] = copy
        queue.bytes += copy.size
        return copy

    def _drop_beyond(self, queue: Queue) -> None:
        for row in queue.beyond(self._bounds):
            event = row.event
            key = (queue.plugin, str(event.failure_details.kind), 0)
            seen = event.observed_at
            before = self._drops.get(key) or Drop(*key, 0, 0, seen, seen)
            after = before._replace(
                events=before.events + 1,
                final=before.final + event.final,
                since=min(before.since, seen),
                until=max(before.until, seen),
            )
            queue.detach(row)
            self._drops[key] = after  # no call between these two: no signal is heard there
            del self._rows[row.id]
            queue.lose(row)

    def claim(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> Sequence[Delivery]:
        with self.lock:
            queue = self._queues.get(plugin)
            if queue is None:
                return ()
            queue.expire(now)
            until = now + timedelta(seconds=lease)
            claimed: dict[int, Row] = {}
            suspect = queue.suspect(now)
            while len(claimed) < limit:
                row = suspect or queue.first(self._rows, now)
                if row is None or row.due > now:
                    break
                deaths = row.deaths + (row.owner not in ("", owner))
                if deaths and claimed:
                    break
                if queue.heap and queue.heap[0][1] == row.id:
                    heappop(queue.heap)
                if deaths > max(1, row.deaths):
                    row.error = ENDED
                claimed[row.id] = row
                row.owner = owner
                row.due = until
                row.deaths = deaths
                if deaths:
                    break
            queue.leased |= claimed
        return [delivery(row) for row in claimed.values()]

    def renew(self, plugin: str, *, owner: str, until: datetime) -> None:
        with self.lock:
            queue = self._queues.get(plugin)
            if queue is not None:
                for held in queue.held():
                    if held.owner == owner:
                        held.due = until

    def done(self, ids: Sequence[int]) -> None:
        with self.lock:
            for row in self._found(ids):
                row.queue.detach(row)
                self._forget(row)

    def retry(
        self,
        ids: Sequence[int],
        *,
        not_before: datetime,
        error: str,
        owner: str,
        refused: bool = False,
    ) -> None:
        with self.lock:
            for row in self._found(ids):
                if row.owner == owner:
                    row.tries += 1
                    row.failures += not refused
                    row.deaths = 0
                    row.error = error
                    row.queue.give_back(row, not_before)

    def bury(self, ids: Sequence[int], *, error: str, now: datetime, owner: str) -> None:
        with self.lock:
            for row in self._found(ids):
                if row.owner == owner:
                    self._bury(row, error, now, tries=max(1, row.deaths))

    def _bury(self, row: Row, error: str, now: datetime, *, tries: int) -> None:
        row.queue.detach(row)
        row.tries += tries
        row.deaths = 0
        row.error = error
        row.died_at = now

    def holders(self, plugin: str) -> Sequence[str]:
        with self.lock:
            queue = self._queues.get(plugin)
            return () if queue is None else sorted({held.owner for held in queue.held()})

    def release(self, owner: str, plugin: str | None = None) -> None:
        with self.lock:
            for queue in self._queues.values():
                if plugin is not None and queue.plugin != plugin:
                    continue
                for row in [row for row in queue.leased.values() if row.owner == owner]:
                    queue.give_back(row, LONG_AGO)
                for group in queue.groups.values():
                    if group.owner == owner:
                        group.owner, group.due = "", LONG_AGO

    def lose(self, owner: str, plugin: str, *, not_before: datetime) -> None:
        with self.lock:
            queue = self._queues.get(plugin)
            for held in () if queue is None else queue.held():
                if held.owner != owner:
                    continue
                due = not_before if held.deaths else LONG_AGO
                held.deaths += 1
                if isinstance(held, Row):
                    held.error = ENDED if held.deaths > 1 else held.error
                    held.queue.give_back(held, due)
                else:
                    held.owner, held.due = "", due

    def deaths(self, plugin: str) -> int:
        with self.lock:
            queue = self._queues.get(plugin)
            return 0 if queue is None else queue.lost()

    def next_due(self, plugins: Sequence[str], now: datetime) -> datetime | None:
        with self.lock:
            queues = [self._queues[plugin] for plugin in plugins if plugin in self._queues]
            dues = [due for queue in queues for due in queue.dues(self._rows)]
        return max(now, min(dues)) if dues else None

    def pending(self, plugins: Sequence[str] | None = None) -> int:
        with self.lock:
            return sum(
                row.died_at is None and (plugins is None or row.queue.plugin in plugins)
                for row in self._rows.values()
            )

    def waiting(self) -> Sequence[Waiting]:
        with self.lock:
            found = _counted(row for row in self._rows.values() if row.died_at is None)
            return [self._with_next(each) for each in found]

    def _with_next(self, waiting: Waiting) -> Waiting:
        queue = self._queues[waiting.plugin]
        due = min(queue.dues(self._rows), default=None)
        if due is not None:
            due = max(due, AT_ONCE)
        return replace(waiting, due_at=due, deaths=queue.lost())

    def given_up(self) -> Sequence[Waiting]:
        with self.lock:
            return _counted(row for row in self._rows.values() if row.died_at is not None)

    def dead_letters(
        self,
        plugin: str | None = None,
        *,
        ids: Sequence[int] | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[DeadLetter]:
        with self.lock:
            rows = self._rows.values() if ids is None else self._found(ids)
            letters = [
                DeadLetter(
                    id=row.id,
                    plugin=row.queue.plugin,
                    event=row.event,
                    tries=row.tries,
                    error=row.error,
                    died_at=row.died_at,
                    event_id=row.event.event_id,
                    task_key=row.event.task.key,
                )
                for row in rows
                if row.died_at is not None
                and row.id > after
                and (plugin is None or row.queue.plugin == plugin)
            ]
        return sorted(letters, key=lambda letter: letter.id)[:limit]

    def revive(self, ids: Sequence[int], now: datetime) -> int:
        with self.lock:
            revived = 0
            for row in sorted(self._found(ids), key=lambda row: row.id):
                if row.died_at is None or row.id not in self._rows:  # a copy of one before
                    continue
                for copy in row.queue.free_copies(row):
                    copy.queue.detach(copy)
                    self._forget(copy)
                row.died_at = None
                row.tries = row.failures = 0
                row.error = ""
                row.due = now
                row.queue.attach(row)
                revived += 1
        return revived

    def drop(self, ids: Sequence[int]) -> int:
        with self.lock:
            rows = [row for row in self._found(ids) if row.died_at is not None]
            for row in rows:
                self._forget(row)
        return len(rows)

    def drops(self) -> Sequence[DroppedEvents]:
        with self.lock:
            seal = 1 + max((drop.seal for drop in self._drops.values()), default=0)
            fresh = [drop for drop in self._drops.values() if not drop.seal]
            for drop in fresh:
                del self._drops[drop.plugin, drop.kind, 0]
                self._drops[drop.plugin, drop.kind, seal] = drop._replace(seal=seal)
            return gathered(self._sealed())

    def told(self, dropped: DroppedEvents) -> None:
        with self.lock:
            last = told_of(self._sealed(), dropped)
            for drop in self._sealed():
                if drop.plugin == dropped.plugin and drop.seal <= last:
                    del self._drops[drop.plugin, drop.kind, drop.seal]

    def _sealed(self) -> list[Drop]:
        found = [drop for drop in self._drops.values() if drop.seal]
        return sorted(found, key=lambda drop: (drop.plugin, drop.seal))

    def note_calls(self, calls: Sequence[HookCalls]) -> None:
        with self.lock:
            for each in calls:
                key = (each.plugin, each.hook, each.host)
                before = self._calls.get(key)
                self._calls[key] = each if before is None else _added(before, each)

    def calls(self) -> Sequence[HookCalls]:
        with self.lock:
            return [self._calls[key] for key in sorted(self._calls)]

    def _found(self, ids: Sequence[int]) -> list[Row]:
        found = (self._rows.get(identity) for identity in dict.fromkeys(ids))
        return [row for row in found if row is not None]

    def _forget(self, row: Row) -> None:
        del self._rows[row.id]
        row.queue.lose(row)


def delivery(row: Row) -> Delivery:
    """Return a row as the port shows it."""
    return Delivery(
        id=row.id,
        plugin=row.queue.plugin,
        event=row.event,
        tries=row.tries,
        event_id=row.event.event_id,
        deaths=row.deaths,
        failures=row.failures,
    )


def _counted(rows: Iterable[Row]) -> list[Waiting]:
    """Count rows per plugin; they come oldest first."""
    found: dict[str, Waiting] = {}
    for row in rows:
        plugin, seen = row.queue.plugin, row.event.observed_at
        before = found.get(plugin) or Waiting(plugin, 0, "", seen)
        found[plugin] = Waiting(
            plugin=plugin,
            count=before.count + 1,
            error=row.error or before.error,
            since=min(before.since, seen),
            grouped=before.grouped + bool(row.group_key),
        )
    return [found[plugin] for plugin in sorted(found)]


def _added(before: HookCalls, more: HookCalls) -> HookCalls:
    moments = [each for each in (before.delivered_at, more.delivered_at) if each is not None]
    return HookCalls(
        plugin=before.plugin,
        hook=before.hook,
        host=before.host,
        pid=more.pid if more.called_at >= before.called_at else before.pid,
        called_at=max(before.called_at, more.called_at),
        delivered_at=max(moments, default=None),
        delivered=before.delivered + more.delivered,
        undelivered=before.undelivered + more.undelivered,
        failed=before.failed + more.failed,
        slow=before.slow + more.slow,
        error=more.error or before.error,
    )
