"""The groups of the outbox in memory, and the notification log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from failhook.groups import Group, Handled
from failhook.outbox.port import Bounds, DueGroup
from failhook.stores.memory.outbox import MemoryOutbox, delivery
from failhook.stores.memory.queue import Queue

_MOST: Final = 10_000
"""Entries of the notification log that are remembered; the oldest is forgotten first."""


class Logged(NamedTuple):
    """What the notification log says of a group."""

    note: str
    sent_at: datetime | None
    settled_at: datetime


class MemoryGroups(MemoryOutbox):
    """An outbox that coalesces."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds)
        self._log: dict[tuple[str, str], Logged] = {}

    def claim_group(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> DueGroup | None:
        with self.lock:
            queue = self._queues.get(plugin)
            key = None if queue is None else queue.first_group(now)
            if queue is None or key is None:
                return None
            group = queue.groups[key]
            group.deaths += group.owner not in ("", owner)
            group.owner = owner
            group.due = now + timedelta(seconds=lease)
            rows = [group.rows[identity] for identity in sorted(group.rows)]
            logged = self._log.get((plugin, key))
            return DueGroup(
                plugin=plugin,
                key=key,
                rows=[delivery(row) for row in rows[:limit]],
                remaining=max(0, len(rows) - limit),
                tries=group.tries,
                note="" if logged is None else logged.note,
                sent_at=None if logged is None else logged.sent_at,
                owner=owner,
                deaths=group.deaths,
                failures=group.failures,
            )

    def group(self, row: int, groups: Sequence[Group], *, owner: str) -> None:
        dues = {group.key: group.not_before for group in reversed(groups)}
        with self.lock:
            found = self._rows.get(row)
            if found is None or found.owner != owner or not dues:
                return
            queue = found.queue
            queue.detach(found)
            rows = [found, *(self._copy(found) for _ in range(1, len(dues)))]
            for each, (key, due) in zip(rows, dues.items(), strict=True):
                queue.join(each, key, due)

    def settle(self, group: DueGroup, handled: Handled, *, now: datetime) -> None:
        with self.lock:
            self.done([row.id for row in group.rows])
            queue = self._leased(group, group.owner)
            at = (group.plugin, group.key)
            before = self._log.get(at) or Logged("", None, now)
            if queue is not None or (group.note, group.sent_at) == (before.note, before.sent_at):
                self._log.pop(at, None)
                sent_at = now if handled.sent else before.sent_at
                self._log[at] = Logged(handled.note, sent_at, now)
            if len(self._log) > _MOST:
                del self._log[next(iter(self._log))]
            if queue is not None:
                _leave(queue, group, handled.again_at, now)

    def retry_group(
        self,
        group: DueGroup,
        *,
        not_before: datetime,
        error: str,
        owner: str,
        refused: bool = False,
    ) -> None:
        with self.lock:
            queue = self._leased(group, owner)
            if queue is not None:
                waiting = queue.groups[group.key]
                waiting.owner, waiting.due = "", not_before
                waiting.tries += 1
                waiting.failures += not refused
                waiting.deaths = 0
                for row in self._found([row.id for row in group.rows]):
                    row.error = error

    def bury_group(self, group: DueGroup, *, error: str, now: datetime, owner: str) -> None:
        with self.lock:
            queue = self._leased(group, owner)
            if queue is not None:
                for row in self._found([row.id for row in group.rows]):
                    self._bury(row, error, now, tries=group.tries + max(1, group.deaths))
                _leave(queue, group, None, now)

    def forget_log(self, before: datetime) -> None:
        """Forget what the notification log says of groups that ended before then."""
        for (plugin, key), logged in list(self._log.items()):
            queue = self._queues.get(plugin)
            if logged.settled_at < before and (queue is None or key not in queue.groups):
                del self._log[plugin, key]

    def _leased(self, group: DueGroup, owner: str) -> Queue | None:
        """Return the queue of a group, if that owner holds it."""
        queue = self._queues.get(group.plugin)
        waiting = None if queue is None else queue.groups.get(group.key)
        return None if waiting is None or waiting.owner != owner else queue


def _leave(queue: Queue, group: DueGroup, again_at: datetime | None, now: datetime) -> None:
    """Give a lease back: the group waits on for what is left of it, or it ends."""
    waiting = queue.groups[group.key]
    waiting.owner, waiting.tries, waiting.again = "", 0, again_at is not None
    waiting.deaths = waiting.failures = 0
    if waiting.rows and group.remaining:
        waiting.due = now
    elif again_at is not None:
        waiting.due = again_at
    elif waiting.rows:
        waiting.due = waiting.rows[min(waiting.rows)].due
    else:
        del queue.groups[group.key]
