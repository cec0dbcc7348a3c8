"""Stores as a day of work leaves them, for the commands that look at one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from failhook import Evidence, Pipeline, Policy, Task
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.plugin import Undelivered, hookimpl
from failhook.stores import open_store


class Refusing:
    """A plugin whose receiver will never take the event."""

    @hookimpl
    def on_task_failed(self, event):
        raise Undelivered("413 too large", retryable=False)


def dead_letters(path: Path, count: int = 3) -> list[str]:
    """Leave some dead letters of plugin refusing; return their tasks' attempt keys."""
    manager = Manager()
    manager.register(Refusing(), "refusing")
    tasks = [Task("nightly", f"load-{number}", run_id="r1") for number in range(count)]
    with Pipeline(open_store(path), manager=manager) as pipeline:
        for task in tasks:
            pipeline.failed(task, Evidence.returncode(1))
        pipeline.flush(10)
    return [task.attempt_key for task in tasks]


def ended_by_nodes(path: Path) -> None:
    """Leave failures of three nodes: one kills twice, one once, one has a bug of the task's own."""
    policies = Policies(Policy(retries=3, max_infra_refunds=5))
    with Pipeline(open_store(path), policies=policies) as pipeline:
        for node, kind, reason in (
            ("node-7", "infra", "NodeLost"),
            ("node-7", "infra", "NodeLost"),
            ("node-8", "infra", "NodeLost"),
            ("node-9", "application", "UserException"),
        ):
            task = Task("nightly", "load", run_id=f"{node}-{len(node)}-{reason}", owner="data")
            opened = pipeline.started(task)
            evidence = Evidence.verdict(kind, reason, started="yes", node=node)
            pipeline.failed(opened, evidence)


def multiplied(path: Path, count: int) -> None:
    """Make `count` dead letters, each of an event of its own, out of the one that is in a store."""
    with closing(sqlite3.connect(path)) as connection, connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(outbox)")][1:]
        columns = ", ".join(names)
        copied = ", ".join("n.i" if name == "event" else f"outbox.{name}" for name in names)
        numbers = "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        copies = f"INSERT INTO outbox ({columns}) SELECT {copied} FROM outbox, n"  # noqa: S608 - names of columns
        connection.execute(f"{numbers} {copies}", (count,))
        events = (
            "INSERT INTO events (id, event_id, task_key, body, kind, observed_at)"
            " SELECT n.i, event_id || n.i, task_key, body, kind, observed_at FROM events, n"
        )
        connection.execute(f"{numbers} {events}", (count,))
