"""What failhook adds to PostgreSQL: the same rows through it, and through the bare driver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from failhook.evidence import Evidence
from failhook.plugin import Task
from failhook.stores import open_store
from tests.benchmarks.drain import EVENTS, events_per_second
from tests.benchmarks.hot_path import First, Second, Third, pipeline, renamed, tasks
from tests.benchmarks.measure import Ratio, interleaved
from tests.postgres import Server

BATCH = 100
"""Rows that the bare side claims at once."""


def on_postgres(server: Server) -> Ratio:
    """Measure `failed()` beside the same rows in one bare transaction."""
    sample = Task("postgres", "sample", run_id="r")
    plugins = First(), Second(), Third()
    first = open_store(_schema(server, "bare"))
    with pipeline(*plugins, store=first, dispatch="none") as once:
        once.failed(sample, Evidence.returncode(3))

    with closing(_connection(server, "bare")) as connection:
        rows = list(_rows_of(connection, sample))

        def theirs(task: Task) -> None:
            event = None
            with connection.transaction():
                for table, statement, values in rows:
                    changed = [renamed(task, sample, value) for value in values]
                    if table == "outbox":
                        changed[0] = event
                    cursor = connection.execute(statement, changed)
                    event = cursor.fetchone()[0] if table == "events" else event

        store = open_store(_schema(server, "ours"))
        with pipeline(*plugins, store=store, dispatch="none") as ours:
            measured = interleaved(
                lambda task: ours.failed(task, Evidence.returncode(3)),
                theirs,
                tasks("postgres", 2_000),
            )
    return Ratio("failed(), PostgreSQL, three plugins", "the same rows, bare", *measured)


def _rows_of(connection: Any, sample: Task) -> Iterator[tuple[str, str, list[Any]]]:
    """Return the rows that one report wrote, as statements that write them again."""
    for table in ("accounts", "attempts", "events", "outbox"):
        key = "task_key" if table in {"events", "outbox"} else "key"
        query = f"SELECT * FROM {table} WHERE {key} = %s"  # noqa: S608 - names of our own tables
        cursor = connection.execute(query, [sample.key])
        names = [column.name for column in cursor.description]
        first = 0 if table == "accounts" else 1  # the others have an id, which the server gives
        columns = ", ".join(f'"{name}"' for name in names[first:])
        places = ", ".join(["%s"] * len(names[first:]))
        end = " RETURNING id" if table == "events" else ""
        statement = f"INSERT INTO {table} ({columns}) VALUES ({places}){end}"  # noqa: S608 - as above
        for row in cursor.fetchall():
            yield table, statement, list(row[first:])


def draining(server: Server) -> tuple[float, float]:
    """Return the events a second of one drainer with a no-op plugin, and of a bare loop."""
    where = _schema(server, "drained")
    ours = events_per_second(where)
    with pipeline(First(), store=open_store(where), dispatch="none") as filling:
        for task in tasks("bare", EVENTS):
            filling.failed(task, Evidence.returncode(3))
    with closing(_connection(server, "drained")) as connection:
        begun = time.perf_counter()
        while _claim_and_remove(connection):
            pass
        return ours, EVENTS / (time.perf_counter() - begun)


def _claim_and_remove(connection: Any) -> int:
    with connection.transaction():
        rows = connection.execute(
            "SELECT outbox.id, events.id, body FROM outbox JOIN events ON events.id = event "
            "WHERE plugin = 'plugin-0' AND ready = 1 AND due_at <= 0 ORDER BY due_at, outbox.id "
            "LIMIT %s FOR UPDATE OF outbox SKIP LOCKED",
            [BATCH],
        ).fetchall()
        ids = [row[0] for row in rows]
        connection.execute("UPDATE outbox SET owner = 'o', due_at = 9 WHERE id = ANY(%s)", [ids])
    with connection.transaction():
        connection.execute("DELETE FROM outbox WHERE id = ANY(%s)", [ids])
        connection.execute("DELETE FROM events WHERE id = ANY(%s)", [[row[1] for row in rows]])
    return len(rows)


def _schema(server: Server, schema: str) -> str:
    return f"{server.url}&schema={schema}"


def _connection(server: Server, schema: str) -> Any:
    import psycopg

    options = f"-c search_path={schema}"
    return psycopg.connect(server.url, autocommit=True, options=options)
