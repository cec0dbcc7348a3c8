"""The outbox in an SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from sqlite3 import Cursor

from failhook.outbox.port import DeadLetter, Delivery, Waiting
from failhook.stores.records import from_micros, read_event, to_json, to_micros
from failhook.stores.sqlite.database import Database
from failhook.text import clean


class SqliteOutbox:
    """An outbox that any number of processes on one machine may fill and empty."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.sql

    def claim(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> Sequence[Delivery]:
        sql, at = self._sql, to_micros(now)
        with self._database as cursor:
            rows = cursor.execute(sql["due"], (plugin, at, limit)).fetchall()
            if not rows:
                return ()
            group = rows[0][2]
            if group:
                rows = cursor.execute(sql["due_group"], (plugin, at, group)).fetchall()
            else:
                rows = list(takewhile(lambda row: not row[2], rows))
            until = to_micros(now + timedelta(seconds=lease))
            cursor.execute(sql["lease"], (owner, until, to_json([row[0] for row in rows])))
        return [
            Delivery(identity, plugin, read_event(body), tries, group_key)
            for identity, tries, group_key, body in rows
        ]

    def done(self, ids: Sequence[int]) -> None:
        self._remove("done", ids)

    def drop(self, ids: Sequence[int]) -> int:
        return self._remove("drop", ids)

    def _remove(self, query: str, ids: Sequence[int]) -> int:
        """Delete rows, and the events that no row refers to any more."""
        rows = to_json(list(ids))
        with self._database as cursor:
            touched = cursor.execute(self._sql["touched"], (rows,)).fetchall()
            removed = cursor.execute(self._sql[query], (rows,)).rowcount
            events = to_json([event for _, event in touched])
            cursor.execute(self._sql["forget_events"], (events,))
            self._advance(cursor, touched)
        return removed

    def retry(self, ids: Sequence[int], *, not_before: datetime, error: str) -> None:
        with self._database as cursor:
            cursor.execute(
                self._sql["retry"], (clean(error), to_micros(not_before), to_json(list(ids)))
            )

    def park(self, ids: Sequence[int], *, group_key: str, not_before: datetime) -> None:
        self._move("park", ids, clean(group_key), to_micros(not_before))

    def bury(self, ids: Sequence[int], *, error: str, now: datetime) -> None:
        self._move("bury", ids, clean(error), to_micros(now))

    def revive(self, ids: Sequence[int], now: datetime) -> int:
        return self._move("revive", ids, to_micros(now))

    def _move(self, query: str, ids: Sequence[int], *values: str | int) -> int:
        """Change where rows stand, and let the row of each task go that is the first one now."""
        rows = to_json(list(ids))
        with self._database as cursor:
            touched = cursor.execute(self._sql["touched"], (rows,)).fetchall()
            moved = cursor.execute(self._sql[query], (*values, rows)).rowcount
            self._advance(cursor, touched)
        return moved

    def _advance(self, cursor: Cursor, touched: Sequence[tuple[str, int]]) -> None:
        tasks = {task_key for task_key, _ in touched}
        cursor.execute(self._sql["advance"], (to_json(list(tasks)),))

    def holders(self, plugin: str) -> Sequence[str]:
        with self._database as cursor:
            return [row[0] for row in cursor.execute(self._sql["holders"], (plugin,))]

    def release(self, owner: str) -> None:
        with self._database as cursor:
            cursor.execute(self._sql["release"], (owner,))

    def next_due(self, plugins: Sequence[str], now: datetime) -> datetime | None:
        with self._database as cursor:
            found = [
                cursor.execute(self._sql["next_due"], (plugin,)).fetchone()[0] for plugin in plugins
            ]
        dues = [due for due in found if due is not None]
        return max(now, from_micros(min(dues))) if dues else None

    def pending(self, plugins: Sequence[str] | None = None) -> int:
        names = None if plugins is None else to_json(list(plugins))
        with self._database as cursor:
            (count,) = cursor.execute(self._sql["pending"], (names, names)).fetchone()
        return int(count)

    def waiting(self) -> Sequence[Waiting]:
        with self._database as cursor:
            rows = cursor.execute(self._sql["waiting"]).fetchall()
        return [Waiting(plugin, count, error) for plugin, count, error, _ in rows]

    def dead_letters(self) -> Sequence[DeadLetter]:
        with self._database as cursor:
            rows = cursor.execute(self._sql["dead_letters"]).fetchall()
        return [
            DeadLetter(identity, plugin, read_event(body), tries, error, from_micros(died_at))
            for identity, plugin, body, tries, error, died_at in rows
        ]
