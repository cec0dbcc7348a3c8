"""What people ask a store: the history of a task, counts, and how it fares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import unquote

from failhook.errors import StoreError
from failhook.gate.ledger import Attempt
from failhook.outbox.reading import Side, StoreReport, Tally
from failhook.stores.records import Texts, from_micros, to_json, to_micros
from failhook.stores.rows import attempt_from
from failhook.stores.sql.groups import SqlGroups
from failhook.stores.sql.read_rows import unreadable
from failhook.stores.tallies import clock_problems, sorted_tallies

_AT_ONCE: Final = 1_000
"""Tasks that are forgotten in one transaction, so that nobody who reports waits for long."""


class SqlReading(SqlGroups):
    """A store that can be asked."""

    def history(self, task: str, *, limit: int) -> Sequence[Attempt]:
        query = {1: "history_of_name", 2: "history_of_job"}.get(task.count("/"), "history_of_run")
        return self._attempts(f"task {task}", query, task, limit)

    def failures(self, since: datetime, *, limit: int) -> Sequence[Attempt]:
        return self._attempts("what failed", "failures", to_micros(since), limit)

    def _attempts(self, what: str, query: str, *values: str | int) -> Sequence[Attempt]:
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql[query], values).fetchall()
        texts = Texts()
        try:
            return [attempt_from(row, texts) for row in reversed(rows)]
        except Exception as error:
            raise unreadable(self._database.where, what, error) from error

    def jobs(self, *, limit: int) -> Sequence[str]:
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql["jobs"], (limit,)).fetchall()
        return [row[0] for row in rows]

    def tally(self, by: Side, since: datetime) -> Sequence[Tally]:
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql["tally"], (by, to_micros(since))).fetchall()
        return _tallies(_by_workflow(rows) if by == "workflow" else rows)

    def forget(self, before: datetime) -> int:
        at, last, forgotten = to_micros(before), "", 0
        while True:
            with self._database.transaction() as cursor:
                found = cursor.execute(self._sql["forgettable"], (last, at, _AT_ONCE)).fetchall()
                if not found:
                    cursor.execute(self._sql["forget_groups"], (at,))
                    cursor.execute(self._sql["forget_last_failures"], (at,))
                    return forgotten
                keys = [row[0] for row in found]
                last = keys[-1]
                free = to_json(list(self._database.hold_free(cursor, keys)))
                cursor.execute(self._sql["forget_attempts"], (free,))
                forgotten += cursor.execute(self._sql["forget_accounts"], (free,)).rowcount

    def examine(self, now: datetime) -> StoreReport:
        health = self._database.health(now)
        problems, tasks = list(health.problems), 0
        try:
            with self._database.reading() as cursor:
                tasks, opened, closed = cursor.execute(self._sql["extent"], ()).fetchone()
            problems += clock_problems(from_micros(max(opened or 0, closed or 0)), now)
        except StoreError as error:
            problems.append(str(error))
        return StoreReport(self._database.where, health.schema, health.bytes, tasks, problems)


def _by_workflow(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Add up what was counted per job: namespace/workflow/name, each with its slashes escaped."""
    sums: dict[str, list[Any]] = {}
    for job_key, *counts in rows:
        workflow = unquote(job_key.split("/")[1])
        before = sums.get(workflow, [0] * len(counts))
        sums[workflow] = [one + more for one, more in zip(before, counts, strict=True)]
    return [(workflow, *counts) for workflow, counts in sums.items()]


def _tallies(rows: Iterable[Any]) -> list[Tally]:
    return sorted_tallies(
        Tally(value or "", failures, tasks, infra, micros / 1_000_000, refunds)
        for value, failures, tasks, infra, micros, refunds in rows
    )
