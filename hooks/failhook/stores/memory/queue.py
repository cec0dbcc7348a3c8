"""What waits for one plugin in memory: a heap of what is due, a line per task, and groups."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Final

from failhook.event import FailureEvent
from failhook.outbox.port import Bounds

LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)

_STALE: Final = 1_000
"""Entries of a heap that may be out of date before it is made anew."""


@dataclass(slots=True, eq=False)
class Row:
    """One event for one plugin; while it is leased, `due` is when the lease ends.

    In a group, `due` is when it wanted to be handed over.
    """

    id: int
    queue: Queue
    event: FailureEvent
    size: int
    due: datetime
    tries: int = 0
    group_key: str = ""
    owner: str = ""
    deaths: int = 0
    failures: int = 0
    error: str = ""
    died_at: datetime | None = None


@dataclass(slots=True, eq=False)
class WaitingGroup:
    """A group that waits; while it is leased, `due` is when the lease ends.

    Attributes:
        due: when it is to be handed over.
        rows: its rows, oldest first.
        again: whether its plugin wants it also when no event waits in it.
        tries: how often handing it over failed.
        owner: who holds it.
        deaths: how many owners in a row have lost it.
        failures: how many of the tries were no refusals.
    """

    due: datetime
    rows: dict[int, Row] = field(default_factory=dict[int, Row])
    again: bool = False
    tries: int = 0
    owner: str = ""
    deaths: int = 0
    failures: int = 0


@dataclass(slots=True, eq=False)
class Queue:
    """What waits for one plugin.

    Attributes:
        plugin: its name.
        heap: (due, id) of rows that may be claimed; entries that no longer hold are skipped.
        lines: the rows of each task that are in no group, oldest first; only the first is claimed.
        groups: those that wait, by key.
        leased: the rows that somebody holds.
        known: how many rows each event has here, dead letters included; by its id.
        passing: all rows of events that are not final, oldest first, dead letters included.
        final: all rows of final ones.
        bytes: the size of all of them.
    """

    plugin: str
    heap: list[tuple[datetime, int]] = field(default_factory=list[tuple[datetime, int]])
    lines: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])
    groups: dict[str, WaitingGroup] = field(default_factory=dict[str, WaitingGroup])
    leased: dict[int, Row] = field(default_factory=dict[int, Row])
    known: dict[str, int] = field(default_factory=dict[str, int])
    passing: dict[int, Row] = field(default_factory=dict[int, Row])
    final: dict[int, Row] = field(default_factory=dict[int, Row])
    bytes: int = 0

    def derive(self, rows: Sequence[Row]) -> None:
        """Make everything but the groups' times anew from the rows, oldest first."""
        self.passing = {row.id: row for row in rows if not row.event.final}
        self.final = {row.id: row for row in rows if row.event.final}
        self.known = dict(Counter(row.event.event_id for row in rows))
        self.bytes = sum(row.size for row in rows)
        living = [row for row in rows if row.died_at is None]
        self.leased = {row.id: row for row in living if row.owner}
        for group in self.groups.values():
            group.rows = {}
        self.heap, self.lines = [], {}
        for row in living:
            if row.group_key:
                self.groups[row.group_key].rows[row.id] = row
            else:
                self.attach(row)
        self.heap = [entry for entry in self.heap if entry[1] not in self.leased]
        heapify(self.heap)

    def lose(self, row: Row) -> None:
        """Count a row no more."""
        if self.passing.pop(row.id, None) is None:
            del self.final[row.id]
        self.bytes -= row.size
        event_id = row.event.event_id
        left = self.known.pop(event_id) - 1
        if left:
            self.known[event_id] = left
        if len(self.heap) > _STALE + 2 * len(self.lines):
            first = [line[0] for line in self.lines.values()]
            self.heap = [(row.due, row.id) for row in first if not row.owner]
            heapify(self.heap)

    def attach(self, row: Row) -> None:
        """Put a row into the line of its task."""
        line = self.lines.get(row.event.task.key)
        if line is None:
            self.lines[row.event.task.key] = [row]
        else:
            insort(line, row, key=lambda waiting: waiting.id)
            if line[0] is not row:
                return
        heappush(self.heap, (row.due, row.id))

    def detach(self, row: Row) -> None:
        """Take a row out of its group or line; the next one of its task may then be claimed."""
        self.leased.pop(row.id, None)
        row.owner = ""
        if row.died_at is not None:
            return
        if row.group_key:
            del self.groups[row.group_key].rows[row.id]
            row.group_key = ""
            return
        line = self.lines[row.event.task.key]
        line.remove(row)
        if line:
            heappush(self.heap, (line[0].due, line[0].id))
        else:
            del self.lines[row.event.task.key]

    def join(self, row: Row, key: str, due: datetime) -> None:
        """Put a row into a group, which keeps its time where it waits already."""
        row.group_key, row.due, row.deaths = key, due, 0
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = WaitingGroup(due)
        group.rows[row.id] = row

    def held(self) -> list[Row | WaitingGroup]:
        """Return all that somebody holds."""
        groups = [group for group in self.groups.values() if group.owner]
        return [*self.leased.values(), *groups]

    def lost(self) -> int:
        """Return the most deaths of anything that waits."""
        rows = (row.deaths for line in self.lines.values() for row in line)
        groups = (group.deaths for group in self.groups.values())
        return max(chain(rows, groups), default=0)

    def suspect(self, now: datetime) -> Row | None:
        """Return the row with deaths that is due first; it goes before others."""
        first = (line[0] for line in self.lines.values())
        due = [row for row in first if row.deaths and row.due <= now]
        return min(due, key=lambda row: (row.due, row.id), default=None)

    def give_back(self, row: Row, due: datetime) -> None:
        """End a lease; the row is due again at `due`."""
        self.leased.pop(row.id, None)
        row.owner = ""
        row.due = due
        heappush(self.heap, (due, row.id))

    def expire(self, now: datetime) -> None:
        """Let rows be claimed whose lease is over; they belong to their owner until they are."""
        for row in self.leased.values():
            if row.due <= now:
                heappush(self.heap, (row.due, row.id))

    def first(self, rows: dict[int, Row], now: datetime = LONG_AGO) -> Row | None:
        """Return the row that is due first of those that nobody holds.

        Args:
            rows: all of them.
            now: also those whose lease is over by then, once `expire` was called.
        """
        heap = self.heap
        while heap:
            due, identity = heap[0]
            row = rows.get(identity)
            if (
                row is not None
                and row.due == due
                and row.died_at is None
                and (not row.owner or due <= now)
                and not row.group_key
                and self.lines[row.event.task.key][0] is row
            ):
                return row
            heappop(heap)
        return None

    def first_group(self, now: datetime) -> str | None:
        """Return the key of the group that has been due longest; those that lost all rows end."""
        due = [(group.due, key) for key, group in self.groups.items() if group.due <= now]
        for _, key in sorted(due):
            group = self.groups[key]
            if group.rows or group.again:
                return key
            del self.groups[key]
        return None

    def dues(self, rows: dict[int, Row]) -> Iterator[datetime]:
        """Return when anything here is due."""
        yield from (row.due for row in self.leased.values())
        yield from (group.due for group in self.groups.values())
        row = self.first(rows)
        if row is not None:
            yield row.due

    def free_copies(self, row: Row) -> list[Row]:
        """Return the other rows of an event that nobody holds."""
        event_id = row.event.event_id
        if self.known[event_id] == 1:
            return []
        return [
            copy
            for copy in chain(self.passing.values(), self.final.values())
            if copy.event.event_id == event_id and copy is not row and not self._is_held(copy)
        ]

    def _is_held(self, row: Row) -> bool:
        return bool(row.owner or (row.group_key and self.groups[row.group_key].owner))

    def beyond(self, bounds: Bounds) -> list[Row]:
        """Return the rows that are to be dropped, without those that are leased."""
        over = len(self.passing) + len(self.final) - bounds.events
        heavy = self.bytes - bounds.bytes
        found: list[Row] = []
        for row in chain(self.passing.values(), self.final.values()):
            if over <= 0 and heavy <= 0:
                break
            if self._is_held(row):
                continue
            found.append(row)
            over, heavy = over - 1, heavy - row.size
        return found
