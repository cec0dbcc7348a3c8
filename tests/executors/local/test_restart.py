"""An executor that is killed: its attempts are found and counted once, and nothing lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from failhook import Policy, Task
from failhook.executors.local import LocalExecutor, State
from failhook.executors.local.cgroup import MemoryCgroup
from failhook.executors.local.cgroup import _bases as bases
from failhook.gate.ledger import AttemptState
from failhook.pipeline import Pipeline
from failhook.stores import open_store
from tests.executors.local.conftest import Fifo, open_pipeline
from tests.executors.local.test_deaths import MIB, require_cgroup
from tests.executors.local.test_retries import await_death
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load", run_id="monday")
QUEUED = Task("nightly", "queued", run_id="monday")
REFUNDS = Policy(max_infra_refunds=2)

SUPERVISOR = """
import sys
from failhook import Pipeline, Policy, StartRefused, Task
from failhook.executors.local import LocalExecutor
from failhook.gate.overrides import Policies
from failhook.stores import open_store
from tests.executors.local import tasks

store, fifo, what = sys.argv[1:]
work = {
    "callable": (tasks.say_and_wait, fifo),
    "command": (["sh", "-c", f"echo $$ > {fifo}; exec sleep 3600"],),
    "children of a callable": (tasks.leave_a_child_and_wait, fifo),
    "children of a command": (["sh", "-c", f"sleep 3600 & echo $! > {fifo}; wait"],),
    "children that left": (["sh", "-c", f"setsid sh -c 'echo $$ > {fifo}; exec sleep 3600'"],),
}[what]
policies = Policies(Policy(max_infra_refunds=2))
pipeline = Pipeline(open_store(store), policies=policies, dispatch="none")
executor = LocalExecutor(pipeline, workers=1)
limit = None if what == "children that left" else 1 << 30
future = executor.submit(Task("nightly", "load", run_id="monday"), *work, memory_limit=limit)
executor.submit(Task("nightly", "queued", run_id="monday"), ["true"])
try:
    future.result()
except StartRefused as refusal:
    open(fifo, "w").write("refused: " + str(refusal))
"""


class Supervisor:
    """A program that runs the task on the store, until it is killed."""

    def __init__(self, store: Path, fifo: Fifo) -> None:
        self.store = store
        self.fifo = fifo
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, what: str) -> str:
        """Start it, and return what its task says."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR, str(self.store), self.fifo.path, what],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        return self.fifo.read()

    def kill(self) -> None:
        """Kill it with SIGKILL, and nothing else."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def supervisor(tmp_path: Path, fifo: Fifo) -> Iterator[Supervisor]:
    """Return a supervisor on an SQLite store."""
    supervisor = Supervisor(tmp_path / "failhook.db", fifo)
    yield supervisor
    supervisor.kill()


@pytest.mark.parametrize(
    "what",
    [
        "callable",
        "command",
        "children of a callable",
        "children of a command",
        "children that left",
    ],
)
def test_a_killed_executor_is_found_at_its_restart(
    what: str, supervisor: Supervisor, heard: Recorder
) -> None:
    """Its attempt is reported once, what it started is gone, and the queue is charged nothing."""
    pid = int(supervisor.start(what))
    supervisor.kill()
    if not what.startswith("children"):
        await_death(pid)  # it goes with the executor, before anybody comes back
    for restart in range(2):
        store = open_store(str(supervisor.store))
        with open_pipeline(store, heard, REFUNDS) as pipeline:
            executor = LocalExecutor(pipeline)
            assert [] == [
                each for base in bases() for each in base.glob(f"failhook-*-{dead(supervisor)}-*")
            ]
            await_death(pid)
            assert [TASK.key][restart:] == [task.key for task, _ in executor.reaped]
            executor.close()
    (event,) = heard.events
    details = event.failure_details
    assert ("infra", "WorkerLost", "yes", "likely", "process.lost") == (
        details.kind,
        details.reason,
        details.started,
        details.confidence,
        details.rule,
    )
    assert (TASK.key, "infra") == (event.task.key, event.decision.charge)


def dead(supervisor: Supervisor) -> int:
    """Return the process id that the supervisor had."""
    assert supervisor.process is not None
    return supervisor.process.pid


def test_a_task_that_kills_its_executor_each_time_is_stopped_at_the_cap(
    supervisor: Supervisor,
) -> None:
    """With two refunds and no retries it runs three times; the fourth start tells the story."""
    for _ in range(3):
        pid = int(supervisor.start("command"))
        supervisor.kill()
        await_death(pid)
    told = supervisor.start("command")
    assert told.startswith("refused: fail: ")
    for attempt in (1, 2, 3):
        assert f"attempt {attempt}: infra WorkerLost" in told
    assert "attempt 4" not in told


def opened_by_another(store: Path, child: int) -> None:
    """Have a process open an attempt, attach a child to it unless that is 0, and vanish."""
    code = (
        "import os, sys; from failhook import Pipeline, Task;"
        "from failhook.stores import open_store;"
        "pipeline = Pipeline(open_store(sys.argv[1]), dispatch='none');"
        "task = pipeline.started(Task('nightly', 'load', run_id='monday'));"
        "child = int(sys.argv[2]); child and pipeline.attach(task, child); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(store), str(child)], check=True)


def test_an_orphan_that_still_runs_is_killed_first(tmp_path: Path, heard: Recorder) -> None:
    """A child that outlived its executor is ended before its attempt is given up."""
    path = tmp_path / "failhook.db"
    orphan = subprocess.Popen(["sleep", "3600"])
    opened_by_another(path, orphan.pid)
    with (
        open_pipeline(open_store(str(path)), heard, REFUNDS) as pipeline,
        LocalExecutor(pipeline) as executor,
    ):
        assert -signal.SIGKILL == orphan.wait()
        assert [TASK.key] == [task.key for task, _ in executor.reaped]


def test_a_stranger_who_got_the_number_is_left_alone(
    request: pytest.FixtureRequest, tmp_path: Path, heard: Recorder
) -> None:
    """A process with the same id that began at another time is not the task's."""
    path = tmp_path / "failhook.db"
    stranger = subprocess.Popen(["sleep", "3600"])
    request.addfinalizer(stranger.wait)
    request.addfinalizer(stranger.kill)
    opened_by_another(path, stranger.pid)
    store = open_store(str(path))
    with store.transaction() as ledger:
        (attempt,) = ledger.open_attempts()
        assert attempt.owner is not None
        owner = replace(attempt.owner, child_started=attempt.owner.child_started + 1)
        ledger.save_attempt(attempt._replace(owner=owner))
    with (
        open_pipeline(store, heard, REFUNDS) as pipeline,
        LocalExecutor(pipeline) as executor,
    ):
        assert 1 == len(executor.reaped)
        assert stranger.poll() is None


def test_a_key_that_comes_back_goes_on_as_its_next_attempt(
    supervisor: Supervisor, heard: Recorder
) -> None:
    """The task that was lost with its executor runs again under its key, and recovers."""
    supervisor.start("callable")
    supervisor.kill()
    store = open_store(str(supervisor.store))
    with open_pipeline(store, heard, REFUNDS) as pipeline, LocalExecutor(pipeline) as executor:
        outcome = executor.run(TASK, ["true"])
        assert (2, State.SUCCEEDED) == (outcome.task.attempt, outcome.state)
        assert State.SUCCEEDED is executor.run(QUEUED, ["true"]).state
        with store.transaction() as ledger:
            states = [each.state for each in ledger.attempts(TASK.key)]
    assert [AttemptState.FAILED, AttemptState.SUCCEEDED] == states
    assert ["failed", "recovered"] == heard.types


@pytest.mark.parametrize("what", ["children of a command", "children that left"])
def test_adoption_ends_what_the_lost_attempt_left(
    what: str, supervisor: Supervisor, heard: Recorder
) -> None:
    """An executor that was there before the other one died ends its processes before it adopts."""
    store = open_store(str(supervisor.store))
    with open_pipeline(store, heard, REFUNDS) as pipeline, LocalExecutor(pipeline) as executor:
        pid = int(supervisor.start(what))
        supervisor.kill()
        assert Path(f"/proc/{pid}").exists()
        gone = f"! grep -q sleep /proc/{pid}/cmdline 2>/dev/null"  # when the next attempt begins
        outcome = executor.run(TASK, ["sh", "-c", gone])
        assert (2, State.SUCCEEDED) == (outcome.task.attempt, outcome.state)


def test_the_same_key_on_another_store_is_left_alone(
    supervisor: Supervisor, heard: Recorder, tmp_path: Path
) -> None:
    """Two stores may know a task by one name; an executor ends only what its own store lost."""
    pid = int(supervisor.start("children that left"))
    other = tmp_path / "other.db"
    opened_by_another(other, child=0)
    with (
        open_pipeline(open_store(str(other)), heard, REFUNDS) as pipeline,
        LocalExecutor(pipeline) as executor,
    ):
        assert [TASK.key] == [task.key for task, _ in executor.reaped]
        assert State.SUCCEEDED is executor.run(TASK, ["true"]).state
        assert Path(f"/proc/{pid}").exists()


def test_the_cgroup_of_a_living_executor_is_left_alone(pipeline: Pipeline) -> None:
    """A second executor on the machine does not sweep away what another one uses."""
    require_cgroup()
    group = MemoryCgroup.make(64 * MIB)
    assert group is not None
    LocalExecutor(pipeline).close()
    assert {"oom_own": 0} == group.oom_kills()
    group.remove()
    assert {} == group.oom_kills()
