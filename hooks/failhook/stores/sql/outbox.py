"""The outbox in a database, but for its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from failhook.groups import DroppedEvents
from failhook.outbox.port import ENDED, DeadLetter, Delivery, HookCalls, Waiting
from failhook.stores.drops import Drop, gathered, told_of
from failhook.stores.records import (
    from_micros,
    micros_if_set,
    moment_if_set,
    to_json,
    to_micros,
)
from failhook.stores.sql.database import Cursor, Database
from failhook.stores.sql.line import in_parts, move, remove, revive
from failhook.stores.sql.read_rows import delivery, readable, together
from failhook.text import clean

_DROPS: Final = "drops"
"""Held while drops are read or told; no task has such a key."""


class SqlOutbox:
    """An outbox that any number of processes may fill and empty."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.sql

    def claim(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> Sequence[Delivery]:
        with self._database.transaction() as cursor:
            at = to_micros(now)
            rows = cursor.execute(self._sql["suspect"], (plugin, at, owner)).fetchall()
            if not rows:
                values = (plugin, at, limit, owner)
                rows = together(cursor.execute(self._sql["due"], values).fetchall())
            if not rows:
                return ()
            until = to_micros(now + timedelta(seconds=lease))
            ids = to_json([row[0] for row in rows])
            cursor.execute(self._sql["lease"], (owner, until, ids, ENDED))
        return [delivery(plugin, row) for row in rows]

    def renew(self, plugin: str, *, owner: str, until: datetime) -> None:
        values = (to_micros(until), plugin, owner)
        with self._database.transaction() as cursor:
            cursor.execute(self._sql["renew_rows"], values)
            cursor.execute(self._sql["renew_groups"], values)

    def done(self, ids: Sequence[int]) -> None:
        with self._database.transaction() as cursor:
            remove(self._database, cursor, ids, "done")

    def drop(self, ids: Sequence[int]) -> int:
        dropped = 0
        for some in in_parts(ids):
            with self._database.transaction() as cursor:
                dropped += remove(self._database, cursor, some, "drop")
        return dropped

    def retry(
        self,
        ids: Sequence[int],
        *,
        not_before: datetime,
        error: str,
        owner: str,
        refused: bool = False,
    ) -> None:
        failure = int(not refused)
        values = (failure, clean(error), to_micros(not_before), owner, to_json(list(ids)))
        with self._database.transaction() as cursor:
            cursor.execute(self._sql["retry"], values)

    def bury(self, ids: Sequence[int], *, error: str, now: datetime, owner: str) -> None:
        values = (clean(error), to_micros(now), owner)
        with self._database.transaction() as cursor:
            move(self._database, cursor, ids, "bury", values)

    def revive(self, ids: Sequence[int], now: datetime) -> int:
        revived = 0
        for some in in_parts(ids):
            with self._database.transaction() as cursor:
                revived += revive(self._database, cursor, some, to_micros(now))
        return revived

    def holders(self, plugin: str) -> Sequence[str]:
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql["holders"], (plugin,)).fetchall()
        return [row[0] for row in rows]

    def release(self, owner: str, plugin: str | None = None) -> None:
        with self._database.transaction() as cursor:
            cursor.execute(self._sql["release_rows"], (owner, plugin))
            cursor.execute(self._sql["release_groups"], (owner, plugin))

    def lose(self, owner: str, plugin: str, *, not_before: datetime) -> None:
        values = (owner, plugin, to_micros(not_before))
        with self._database.transaction() as cursor:
            cursor.execute(self._sql["lose_rows"], (*values, ENDED))
            cursor.execute(self._sql["lose_groups"], values)

    def deaths(self, plugin: str) -> int:
        with self._database.reading() as cursor:
            return self._deaths(cursor, plugin)

    def _deaths(self, cursor: Cursor, plugin: str) -> int:
        (deaths,) = cursor.execute(self._sql["deaths"], (plugin,)).fetchone()
        return int(deaths)

    def next_due(self, plugins: Sequence[str], now: datetime) -> datetime | None:
        with self._database.reading() as cursor:
            found = [
                cursor.execute(self._sql["next_due"], (plugin,)).fetchone()[0] for plugin in plugins
            ]
        dues = [due for due in found if due is not None]
        return max(now, from_micros(min(dues))) if dues else None

    def pending(self, plugins: Sequence[str] | None = None) -> int:
        names = None if plugins is None else to_json(list(plugins))
        with self._database.reading() as cursor:
            (count,) = cursor.execute(self._sql["pending"], (names,)).fetchone()
        return int(count)

    def waiting(self) -> Sequence[Waiting]:
        return self._counted(dead=False)

    def given_up(self) -> Sequence[Waiting]:
        return self._counted(dead=True)

    def _counted(self, *, dead: bool) -> Sequence[Waiting]:
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql["waiting"], (int(dead),)).fetchall()
            found = [
                Waiting(plugin, count, error, from_micros(since), grouped)
                for plugin, count, grouped, since, error in rows
            ]
            return found if dead else [self._with_next(cursor, each) for each in found]

    def _with_next(self, cursor: Cursor, waiting: Waiting) -> Waiting:
        (due,) = cursor.execute(self._sql["next_due"], (waiting.plugin,)).fetchone()
        deaths = self._deaths(cursor, waiting.plugin)
        return replace(waiting, due_at=moment_if_set(due), deaths=deaths)

    def dead_letters(
        self,
        plugin: str | None = None,
        *,
        ids: Sequence[int] | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[DeadLetter]:
        only = None if ids is None else to_json(list(ids))
        with self._database.reading() as cursor:
            rows = cursor.execute(
                self._sql["dead_letters"], (plugin, only, after, limit)
            ).fetchall()
        return [
            DeadLetter(
                id=identity,
                plugin=name,
                event=readable(body)[0],
                tries=tries,
                error=error,
                died_at=from_micros(died_at),
                event_id=event_id or "",
                task_key=task_key,
            )
            for identity, name, tries, error, died_at, task_key, event_id, body in rows
        ]

    def drops(self) -> Sequence[DroppedEvents]:
        with self._database.reading() as cursor:
            if not cursor.execute(self._sql["drops"], ()).fetchone():
                return ()
        with self._database.transaction() as cursor:
            self._database.hold(cursor, (_DROPS,))
            cursor.execute(self._sql["seal_drops"], ())
            return gathered(self._drops(cursor))

    def told(self, dropped: DroppedEvents) -> None:
        with self._database.transaction() as cursor:
            self._database.hold(cursor, (_DROPS,))
            seal = told_of(self._drops(cursor), dropped)
            cursor.execute(self._sql["forget_drops"], (dropped.plugin, seal))

    def _drops(self, cursor: Cursor) -> list[Drop]:
        return [
            Drop(plugin, kind, seal, events, final, from_micros(since), from_micros(until))
            for plugin, kind, seal, events, final, since, until in cursor.execute(
                self._sql["drops"], ()
            ).fetchall()
        ]

    def note_calls(self, calls: Sequence[HookCalls]) -> None:
        rows = [
            (
                *(each.plugin, each.hook, each.host, each.pid, to_micros(each.called_at)),
                *(micros_if_set(each.delivered_at), each.delivered, each.undelivered),
                *(each.failed, each.slow, clean(each.error)),
            )
            for each in calls
        ]
        with self._database.transaction() as cursor:
            cursor.executemany(self._sql["note_call"], rows)

    def calls(self) -> Sequence[HookCalls]:
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql["calls"], ()).fetchall()
        return [
            HookCalls(
                plugin=plugin,
                hook=hook,
                host=host,
                pid=pid,
                called_at=from_micros(called_at),
                delivered_at=moment_if_set(delivered_at),
                delivered=delivered,
                undelivered=undelivered,
                failed=failed,
                slow=slow,
                error=error,
            )
            for (plugin, hook, host, pid, called_at, delivered_at, *counts, error) in rows
            for delivered, undelivered, failed, slow in (counts,)
        ]
