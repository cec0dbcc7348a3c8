"""Keeps what waits for each plugin within the bounds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from failhook.outbox.port import Bounds
from failhook.stores.records import to_json
from failhook.stores.sql.database import Cursor, Database
from failhook.stores.sql.line import remove

_CHUNK = 1_000


class Headroom:
    """Tells when this process has added so much that the bounds should be looked at.

    That is with its first event, and after each hundredth of the bounds. Threads may count at the
    same time; where one's count is lost, the next look comes that much later.

    Args:
        bounds: how much may wait for one plugin.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._events = 0
        self._bytes = 0

    def used(self, size: int) -> bool:
        """Count one event of `size` bytes; return whether it is time to look."""
        self._events -= 1
        self._bytes -= size
        if self._events > 0 and self._bytes > 0:
            return False
        self._events = self.bounds.events // 100
        self._bytes = self.bounds.bytes // 100
        return True


def keep_within(bounds: Bounds, database: Database, cursor: Cursor) -> None:
    """Drop what is beyond the bounds, and count it."""
    loads = cursor.execute(database.sql["loads"], ()).fetchall()
    for plugin, count, size in loads:
        over, heavy = count - bounds.events, size - bounds.bytes
        while over > 0 or heavy > 0:
            limit = _CHUNK if heavy > 0 else min(over, _CHUNK)
            victims: list[Any] = []
            for row in cursor.execute(database.sql["excess"], (plugin, limit)).fetchall():
                if over > 0 or heavy > 0:
                    victims.append(row)
                    over, heavy = over - 1, heavy - row[3]
            if not victims or not _drop(plugin, victims, database, cursor):
                break


def _drop(plugin: str, found: list[Any], database: Database, cursor: Cursor) -> int:
    """Remove rows whose tasks nobody else is changing just now; return how many."""
    free = database.hold_free(cursor, {row[2] for row in found})
    rows = to_json([row[0] for row in found if row[2] in free])
    unclaimed = {row[0] for row in cursor.execute(database.sql["unclaimed"], (rows,)).fetchall()}
    dropped = [row for row in found if row[0] in unclaimed]
    if not dropped:
        return 0
    remove(database, cursor, [row[0] for row in dropped], "done")
    counts: dict[str, list[Any]] = defaultdict(list)
    for row in dropped:
        counts[row[5]].append(row)
    cursor.executemany(
        database.sql["add_drops"],
        [
            (
                *(plugin, kind, len(rows), sum(row[4] for row in rows)),
                *(min(row[6] for row in rows), max(row[6] for row in rows)),
            )
            for kind, rows in counts.items()
        ],
    )
    return len(dropped)
