"""The store is away for a while: what runs goes on, and what it came to is recorded later."""

from __future__ import annotations

import logging
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from failhook import Policy, Task
from failhook.errors import StoreError
from failhook.executors.local import LocalExecutor, State
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.stores import open_store
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load", run_id="monday")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of the store."""
    return tmp_path / "failhook.db"


def open_impatient(path: Path, heard: Recorder, policy: Policy | None = None) -> Pipeline:
    """Return a pipeline on a store that waits for a lock for a moment only."""
    manager = Manager()
    manager.register(heard, "heard")
    store = open_store(f"sqlite:///{path}?busy_timeout=0.05")
    return Pipeline(store, manager=manager, policies=Policies(policy or Policy()), dispatch="none")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep the store locked, as another process would that hangs in the middle of a write."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()


class Held:
    """A command that says when it runs, and ends when and as it is told."""

    def __init__(self, path: Path) -> None:
        self._running, self._code = Path(f"{path}.running"), Path(f"{path}.code")
        os.mkfifo(self._running)
        os.mkfifo(self._code)
        script = 'echo > "$1"; read code < "$2"; exit "$code"'
        self.command = ["sh", "-c", script, "sh", str(self._running), str(self._code)]

    def runs(self) -> None:
        """Wait until it does."""
        self._running.read_text("ascii")

    def end(self, code: int) -> None:
        """Let it end."""
        self._code.write_text(f"{code}\n", "ascii")


def told(caplog: pytest.LogCaptureFixture, text: str) -> int:
    """Return how many lines of the log have this text."""
    return sum(text in record.getMessage() for record in caplog.records)


def until_waiting(executor: LocalExecutor, count: int) -> None:
    """Wait until so many attempts wait for the store."""
    scheduler = executor._scheduler
    with scheduler._changed:
        assert scheduler._changed.wait_for(lambda: scheduler._outage.waiting >= count, 60)


def ledger_states(path: Path, task: Task) -> list[str]:
    """Return the states of a task's attempts."""
    store = open_store(path)
    with store.transaction() as ledger:
        states = [attempt.state.value for attempt in ledger.attempts(task.key)]
    store.close()
    return states


def test_outcomes_are_kept_until_the_store_is_back(
    path: Path, heard: Recorder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A failure and a success are recorded then, the failed task is retried, nothing is lost.

    One line tells that the store is away, and one that it is back, however many wait for it.
    """
    other = Task("nightly", "other", run_id="monday")
    with (
        caplog.at_level(logging.WARNING, "failhook"),
        open_impatient(path, heard, Policy(retries=1)) as pipeline,
        LocalExecutor(pipeline, workers=2) as executor,
    ):
        first, second = Held(tmp_path / "one"), Held(tmp_path / "two")
        failing = executor.submit(TASK, first.command)
        fine = executor.submit(other, second.command)
        first.runs()
        second.runs()
        with locked(path):
            first.end(3)
            second.end(0)
            until_waiting(executor, 2)
            queued = executor.submit(Task("nightly", "queued", run_id="monday"), ["true"])
            until_waiting(executor, 3)
            assert not any(future.done() for future in (failing, fine, queued))
        fine.result(60)
        queued.result(60)
        first.runs()
        first.end(0)
        failing.result(60)
    assert ["failed", "succeeded"] == ledger_states(path, TASK)
    assert ["succeeded"] == ledger_states(path, other)
    assert 1 == told(caplog, "is locked")
    assert 1 == told(caplog, "the store works again")
    assert 0 == told(caplog, "not recorded")


@pytest.mark.parametrize("code", [0, 3])
def test_what_was_never_recorded_is_said_at_the_end(
    code: int, path: Path, heard: Recorder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller has the outcome, and one line says that the next start takes it for lost."""
    caplog.set_level(logging.WARNING, "failhook")
    with open_impatient(path, heard) as pipeline:
        executor = LocalExecutor(pipeline, workers=1)
        held = Held(tmp_path / "held")
        future = executor.submit(TASK, held.command)
        held.runs()
        with locked(path):
            held.end(code)
            until_waiting(executor, 1)
            assert not executor.close(0.0)
        outcome = future.outcome
        assert outcome is not None
        assert (State.INTERRUPTED if code else State.SUCCEEDED) is outcome.state
        assert (code, None, None) == (outcome.exit_code, outcome.details, outcome.decision)
        if code:
            with pytest.raises(StoreError, match="locked"):
                future.result()
        assert 1 == told(caplog, f"exit status {code}, which is not recorded: its next start")
        assert ["open"] == ledger_states(path, TASK)


def test_a_start_that_the_store_does_not_take_runs_nothing(
    path: Path, heard: Recorder, tmp_path: Path
) -> None:
    """Whoever cancels it meanwhile gets the store's error; nothing ran that nobody knows of."""
    mark = tmp_path / "ran"
    with open_impatient(path, heard) as pipeline, LocalExecutor(pipeline) as executor:
        with locked(path):
            future = executor.submit(TASK, ["touch", str(mark)])
            until_waiting(executor, 1)
            future.cancel("ann")
            with pytest.raises(StoreError, match="locked"):
                future.result(60)
        assert not mark.exists()
        assert [] == ledger_states(path, TASK)


def test_a_closed_pipeline_is_not_waited_for(path: Path, heard: Recorder, tmp_path: Path) -> None:
    """It never comes back, so the outcome is said to be unrecorded at once."""
    pipeline = open_impatient(path, heard)
    with LocalExecutor(pipeline) as executor:
        held = Held(tmp_path / "held")
        future = executor.submit(TASK, held.command)
        held.runs()
        pipeline.close()
        held.end(0)
    assert future.outcome is not None
    assert State.SUCCEEDED is future.outcome.state


def test_failhook_run_waits_for_the_store_and_says_so(path: Path, tmp_path: Path) -> None:
    """The command's exit code is its own, its outcome is recorded, and two lines tell of it."""
    held = Held(tmp_path / "held")
    store = f"sqlite:///{path}?busy_timeout=0.05"
    name = ["--name", "load", "--run-id", "monday", "--retries", "0"]
    command = [sys.executable, "-m", "failhook", "run", "--store", store, *name, "--"]
    with subprocess.Popen([*command, *held.command], stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        held.runs()
        with locked(path):
            held.end(0)
            first = run.stderr.readline()
        rest = run.stderr.read()
    assert (0, "failhook: the store works again; what was kept is recorded\n") == (
        run.wait(),
        rest,
    )
    assert re.fullmatch(r"failhook: store .*locked.*recorded when it works again\n", first)
    assert ["succeeded"] == ledger_states(path, Task("run", "load", run_id="monday"))


class Forgetful(Pipeline):
    """A pipeline whose store goes away right after a commit, once: nobody can say if it is done."""

    forgets = ""

    def started(self, task: Task) -> Task:
        return self._unsure("started", super().started(task))

    def attach(self, task: Task, pid: int) -> None:
        self._unsure("attach", super().attach(task, pid))

    def succeeded(self, *args: object) -> None:
        self._unsure("succeeded", super().succeeded(*args))  # type: ignore[arg-type]  # passed on

    def _unsure(self, call, answer):
        if call == self.forgets:
            self.forgets = ""
            raise StoreError("the connection was lost")
        return answer


@pytest.mark.parametrize("call", ["started", "attach", "succeeded"])
def test_a_commit_that_nobody_can_tell_of_is_not_done_twice(call: str, heard: Recorder) -> None:
    """Told again, the store answers as if nothing had happened, and the task runs once."""
    with Forgetful(dispatch="none") as pipeline, LocalExecutor(pipeline) as executor:
        pipeline.forgets = call
        outcome = executor.run(TASK, ["true"])
        with pipeline.store.transaction() as ledger:
            attempts = ledger.attempts(TASK.key)
    assert State.SUCCEEDED is outcome.state
    assert ["succeeded"] == [attempt.state.value for attempt in attempts]
    assert "" == pipeline.forgets


KILLED = """
import os, signal, sys
from failhook import Evidence, Pipeline, Policy, Task
from failhook.policy import Backoff
from failhook.stores import open_store

policy = Policy(max_system_failures=3, system_backoff=Backoff(initial=0.3, jitter=False))
task = Task("nightly", "load", run_id="monday", policy=policy)
pipeline = Pipeline(open_store(sys.argv[1]), dispatch="none")
task = pipeline.started(task)
pipeline.failed(task, Evidence.verdict("infra", "SubmitFailure", started="no", cleanup=True))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_executor_goes_on_where_a_killed_one_had_a_decision(path: Path) -> None:
    """It cleans up what the decision asked for, waits until the retry is due, and counts on."""
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert -signal.SIGKILL == killed.returncode
    cleaned: list[tuple[int, list[str]]] = []
    with Pipeline(open_store(path), dispatch="none") as pipeline:
        (granted,) = pipeline.between_attempts()
        with LocalExecutor(pipeline) as executor:
            outcome = executor.run(
                TASK,
                ["true"],
                cleanup=lambda task: cleaned.append((task.attempt, ledger_states(path, task))),
            )
        with pipeline.store.transaction() as ledger:
            last = ledger.attempts(TASK.key)[-1]
    assert 2 == outcome.task.attempt
    assert [(1, ["failed"])] == cleaned
    assert last.opened_at is not None
    assert granted.due <= last.opened_at
