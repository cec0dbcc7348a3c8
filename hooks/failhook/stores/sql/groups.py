"""The groups of the outbox in a database, and the notification log.

Whoever changes a group holds the tasks of its rows first and the group then, so that no two wait
for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from failhook.groups import Group, Handled
from failhook.outbox.port import DueGroup
from failhook.stores.records import micros_if_set, moment_if_set, to_json, to_micros
from failhook.stores.sql.database import Cursor
from failhook.stores.sql.line import hold_rows, remove
from failhook.stores.sql.outbox import SqlOutbox
from failhook.stores.sql.read_rows import delivery
from failhook.text import clean


class SqlGroups(SqlOutbox):
    """An outbox that coalesces."""

    def claim_group(
        self, plugin: str, *, now: datetime, lease: float, limit: int, owner: str
    ) -> DueGroup | None:
        sql, at = self._sql, to_micros(now)
        with self._database.transaction() as cursor:
            while True:
                found = cursor.execute(sql["due_group"], (plugin, at, owner)).fetchone()
                if found is None:
                    return None
                key, again, tries, note, sent_at, deaths, failures = found
                rows = cursor.execute(sql["group_rows"], (plugin, key, limit)).fetchall()
                if rows or again:
                    break
                cursor.execute(sql["leave_group"], (None, 0, plugin, key))  # all of it was dropped
            count, _ = cursor.execute(sql["group_size"], (plugin, key)).fetchone()
            until = to_micros(now + timedelta(seconds=lease))
            cursor.execute(sql["lease_group"], (owner, until, plugin, key))
        return DueGroup(
            plugin=plugin,
            key=key,
            rows=[delivery(plugin, row) for row in rows],
            remaining=count - len(rows),
            tries=tries,
            note=note,
            sent_at=moment_if_set(sent_at),
            owner=owner,
            deaths=deaths,
            failures=failures,
        )

    def group(self, row: int, groups: Sequence[Group], *, owner: str) -> None:
        dues = {clean(group.key): to_micros(group.not_before) for group in reversed(groups)}
        if not dues:
            return
        with self._database.transaction() as cursor:
            _, keys = self._held(cursor, [row])
            claimed = cursor.execute(self._sql["claimed"], (row, owner)).fetchone()
            if claimed is None:
                return
            (plugin,) = claimed
            for key in sorted(dues):
                cursor.execute(self._sql["begin_group"], (plugin, key, dues[key]))
            first, *others = dues
            for key in others:
                cursor.execute(self._sql["join_group_too"], (key, dues[key], row))
            cursor.execute(self._sql["join_group"], (first, dues[first], row))
            cursor.execute(self._sql["advance"], (keys,))

    def settle(self, group: DueGroup, handled: Handled, *, now: datetime) -> None:
        ids = [row.id for row in group.rows]
        sent_at = to_micros(now) if handled.sent else None
        log = (
            *(clean(handled.note), sent_at, to_micros(now), group.plugin, group.key),
            *(group.owner, clean(group.note), micros_if_set(group.sent_at)),
        )
        with self._database.transaction() as cursor:
            remove(self._database, cursor, ids, "done")
            holder = self._holder(cursor, group)
            cursor.execute(self._sql["log_group"], log)
            if holder == group.owner:
                self._leave(cursor, group, handled.again_at, now)

    def retry_group(
        self,
        group: DueGroup,
        *,
        not_before: datetime,
        error: str,
        owner: str,
        refused: bool = False,
    ) -> None:
        values = (int(not refused), to_micros(not_before), group.plugin, group.key, owner)
        ids = to_json([row.id for row in group.rows])
        with self._database.transaction() as cursor:
            if cursor.execute(self._sql["retry_group"], values).rowcount:
                cursor.execute(self._sql["note_error"], (clean(error), ids))

    def bury_group(self, group: DueGroup, *, error: str, now: datetime, owner: str) -> None:
        ids = [row.id for row in group.rows]
        tries = group.tries + max(1, group.deaths)
        values = (clean(error), to_micros(now), tries, group.plugin, group.key)
        with self._database.transaction() as cursor:
            rows, _ = self._held(cursor, ids)
            if self._holder(cursor, group) != owner:
                return
            cursor.execute(self._sql["bury_grouped"], (*values, rows))
            self._leave(cursor, group, None, now)

    def _held(self, cursor: Cursor, ids: Sequence[int]) -> tuple[str, str]:
        rows = to_json(list(ids))
        keys, _ = hold_rows(self._database, cursor, rows)
        return rows, keys

    def _holder(self, cursor: Cursor, group: DueGroup) -> str | None:
        found = cursor.execute(self._sql["group_owner"], (group.plugin, group.key)).fetchone()
        return None if found is None else found[0]

    def _leave(
        self, cursor: Cursor, group: DueGroup, again_at: datetime | None, now: datetime
    ) -> None:
        """Give a lease back: the group waits on for what is left of it, or it ends."""
        at = (group.plugin, group.key)
        count, wanted = cursor.execute(self._sql["group_size"], at).fetchone()
        due = micros_if_set(again_at)
        if count and group.remaining:
            due = to_micros(now)
        elif count and due is None:
            due = wanted
        cursor.execute(self._sql["leave_group"], (due, int(again_at is not None), *at))
