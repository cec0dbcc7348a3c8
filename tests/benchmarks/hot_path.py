"""What one report and one verdict cost, beside the bare pluggy call that hosts make today."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pluggy

from failhook.capture import capture
from failhook.classify import Classifier
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.outbox.port import Store
from failhook.pipeline import Dispatch, Pipeline
from failhook.plugin import FailureDetails, FailureEvent, Task, Undelivered, hookimpl
from failhook.stores import open_store
from tests.benchmarks.measure import Ratio, interleaved

CALLS = 4_000
POD = {
    "kind": "Pod",
    "metadata": {"name": "load-1", "namespace": "batch"},
    "spec": {"nodeName": "node-1", "containers": [{"name": "main"}]},
    "status": {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory.",
        "conditions": [
            {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
        ],
        "containerStatuses": [
            {"name": "main", "state": {"terminated": {"exitCode": 137, "reason": "Error"}}}
        ],
    },
}
_spec = pluggy.HookspecMarker("bare")
_impl = pluggy.HookimplMarker("bare")


class Spec:
    """The hook as a bare pluggy host has it."""

    @_spec
    def on_task_failed(self, task, error, failure_details, decision, event):
        """Hear of a failure."""


class First:
    """Listens, under both managers."""

    @_impl
    @hookimpl
    def on_task_failed(self, task: Task, failure_details: FailureDetails) -> None:
        """Do nothing."""


class Second:
    """Listens to other arguments."""

    @_impl
    @hookimpl
    def on_task_failed(self, task: Task, event: FailureEvent) -> None:
        """Do nothing."""


class Third:
    """Listens too."""

    @hookimpl
    def on_task_failed(self, task: Task) -> None:
        """Do nothing."""


class Raising:
    """Breaks on each event."""

    @hookimpl
    def on_task_failed(self) -> None:
        raise ValueError("broken")


class Throttled:
    """Answers 429 to each event."""

    @hookimpl
    def on_task_failed(self) -> None:
        raise Undelivered("429 Too Many Requests", retry_after=30.0)


class Hanging:
    """Never comes back by itself."""

    def __init__(self) -> None:
        self.over = threading.Event()

    @hookimpl
    def on_task_failed(self) -> None:
        self.over.wait()


def bare() -> pluggy.PluginManager:
    """Return a bare pluggy manager with two plugins."""
    manager = pluggy.PluginManager("bare")
    manager.add_hookspecs(Spec)
    manager.register(First())
    manager.register(Second())
    return manager


def pipeline(
    *plugins: object, store: Store | None = None, dispatch: Dispatch = "thread"
) -> Pipeline:
    """Return a pipeline with these plugins, delivering in the background unless told otherwise."""
    manager = Manager()
    for number, plugin in enumerate(plugins):
        manager.register(plugin, f"plugin-{number}")
    return Pipeline(store, manager=manager, dispatch=dispatch)


def tasks(name: str, calls: int = CALLS) -> list[Task]:
    """Return as many tasks as there are calls."""
    return [Task(name, f"task-{number}", run_id="r") for number in range(calls)]


def importing() -> Ratio:
    """Measure the import of failhook beside that of pluggy, each in a fresh process."""
    code = "import time; b = time.process_time(); import {0}; print(time.process_time() - b)"

    def seconds(module: str) -> float:
        run = [sys.executable, "-c", code.format(module)]
        return float(subprocess.run(run, capture_output=True, check=True, text=True).stdout)

    pairs = sorted((seconds("failhook"), seconds("pluggy")) for _ in range(15))
    ours = sorted(pair[0] for pair in pairs)[7]
    theirs = sorted(pair[1] for pair in pairs)[7]
    return Ratio("import failhook (CPU)", "import pluggy", ours, theirs, 2.0)


def reports() -> Iterator[Ratio]:
    """Measure `failed()` on the memory store."""
    hook = bare().hook.on_task_failed
    with pipeline(First(), Second()) as ours:
        yield Ratio(
            "failed(), memory, exit status",
            "bare pluggy call, two plugins",
            *interleaved(
                lambda task: ours.failed(task, Evidence.returncode(3)),
                lambda task: hook(
                    task=task, error=None, failure_details=None, decision=None, event=None
                ),
                tasks("exit"),
            ),
            12.0,
        )
        errors = [(task, _raised()) for task in tasks("raised")]
        yield Ratio(
            "failed(), memory, live exception",
            "traceback.format_exception",
            *interleaved(
                lambda pair: ours.failed(pair[0], Evidence.exception(pair[1])),
                lambda pair: traceback.format_exception(pair[1]),
                errors,
            ),
            2.0,
        )


def verdicts() -> Iterator[Ratio]:
    """Measure one verdict of each kind."""
    hook = bare().hook.on_task_failed
    classifier = Classifier()
    recorded = Evidence.exception(capture(_raised()).to_dict())
    cases = (
        ("wait status", Evidence.returncode(-9, oom_host=0), 3.0),
        ("exception record", recorded, 10.0),
        ("pod", Evidence.pod(POD), 15.0),
    )
    for name, evidence, limit in cases:
        yield Ratio(
            f"one verdict: {name}",
            "bare pluggy call, two plugins",
            *interleaved(
                lambda task, evidence=evidence: classifier.classify(task, evidence),
                lambda task: hook(
                    task=task, error=None, failure_details=None, decision=None, event=None
                ),
                tasks(name),
            ),
            limit,
        )


def on_sqlite(folder: Path) -> Ratio:
    """Measure `failed()` on SQLite beside the same rows in one bare transaction."""
    path = folder / "bare.db"
    sample = Task("sqlite", "sample", run_id="r")
    with pipeline(First(), Second(), Third(), store=open_store(path), dispatch="none") as once:
        once.failed(sample, Evidence.returncode(3))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    rows = _rows_of(connection, sample)

    def theirs(task: Task) -> None:
        connection.execute("BEGIN IMMEDIATE")
        event = None
        for table, statement, values in rows:
            changed = [renamed(task, sample, value) for value in values]
            if table == "outbox":
                changed[0] = event
            cursor = connection.execute(statement, changed)
            event = cursor.lastrowid if table == "events" else event
        connection.execute("COMMIT")

    store = open_store(folder / "ours.db")
    with pipeline(First(), Second(), Third(), store=store, dispatch="none") as ours:
        measured = interleaved(
            lambda task: ours.failed(task, Evidence.returncode(3)), theirs, tasks("sqlite", 2_000)
        )
    connection.close()
    return Ratio("failed(), SQLite, three plugins", "the same rows, bare", *measured, 1.6)


def _rows_of(connection: sqlite3.Connection, sample: Task) -> list[tuple[str, str, list[Any]]]:
    """Return the rows that one report wrote, as statements that write them again."""
    found: list[tuple[str, str, list[Any]]] = []
    for table in ("accounts", "attempts", "events", "outbox"):
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        names = [name for name in names if name != "id"]
        if table == "outbox":
            names = ["event", *(name for name in names if name != "event")]
        key = "task_key" if "task_key" in names else "key"
        columns = ", ".join(names)
        places = ", ".join("?" * len(names))
        query = f"SELECT {columns} FROM {table} WHERE {key} = ?"  # noqa: S608 - names of our own tables
        statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608 - as above
        found += [(table, statement, list(row)) for row in connection.execute(query, [sample.key])]
    return found


def renamed(task: Task, sample: Task, value: Any) -> Any:
    """Return a value of the sample's row as it is in the row of another task."""
    return value.replace(sample.name, task.name) if isinstance(value, str) else value


def beside_bad_plugins() -> Ratio:
    """Measure `failed()` with a hung, a raising and a 429 plugin beside two good ones.

    The other side has three more good ones, since each plugin costs a row, good or bad.
    """
    hanging = Hanging()
    with (
        pipeline(First(), Second(), Third(), First(), Second()) as good,
        pipeline(First(), Second(), Raising(), Throttled(), hanging) as bad,
    ):
        measured = interleaved(
            lambda task: bad.failed(task, Evidence.returncode(3)),
            lambda task: good.failed(task, Evidence.returncode(3)),
            tasks("bad"),
        )
        hanging.over.set()
    return Ratio("failed(), two good, three bad plugins", "five good ones", *measured, 1.1)


def _raised() -> ValueError:
    def inner(depth: int) -> None:
        if depth:
            inner(depth - 1)
        raise ValueError("no such column: 'amount'")

    try:
        inner(5)
    except ValueError as error:
        return error
    raise AssertionError
