"""A supervisor that is gone: seen by the next start of the same key, or by a reaper."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from failhook import host
from failhook.clock import SystemClock
from failhook.decision import Action
from failhook.details import FailureDetails, Kind
from failhook.errors import NothingToResolveError, StartRefused
from failhook.evidence import Evidence
from failhook.gate.ledger import AttemptState
from failhook.gate.overrides import Policies
from failhook.manager import Manager, Provisions
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from failhook.pipeline.configured import StoredState
from failhook.pipeline.records import Resolution
from failhook.plugin import PluginState, hookimpl
from failhook.policy import Policy
from failhook.stores import open_store
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder

START_AND_DIE = """
import os, signal, sys
from failhook import Pipeline, Policy, StartRefused, Task
from failhook.gate.overrides import Policies
from failhook.stores import open_store

policy = Policy(max_infra_refunds=int(sys.argv[2]))
pipeline = Pipeline(open_store(sys.argv[1]), policies=Policies(policy), dispatch="none")
try:
    task = pipeline.started(Task("nightly", "load", run_id="r1", idempotent=sys.argv[3] == "1"))
except StartRefused as refused:
    print(refused)
    sys.exit(3)
print(task.attempt, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def start_and_die(
    path: Path, refunds: int = 0, *, idempotent: bool = True
) -> subprocess.CompletedProcess[str]:
    """Start the task in a process of its own that is killed at once."""
    arguments = [str(path), str(refunds), str(int(idempotent))]
    return subprocess.run(
        [sys.executable, "-c", START_AND_DIE, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_task_that_takes_its_executor_with_it_runs_three_times_with_cap_2(
    tmp_path: Path,
) -> None:
    """The fourth start is refused with the whole story: redelivery loops end at the cap."""
    runs = [start_and_die(tmp_path / "failhook.db", refunds=2) for _ in range(4)]

    assert ["1\n", "2\n", "3\n"] == [run.stdout for run in runs[:3]]
    assert 3 == runs[3].returncode
    story = runs[3].stdout.splitlines()
    assert "all 2 infra refunds are used" in story[0]
    assert 3 == sum(line.startswith("attempt ") for line in story)
    assert all("WorkerLost" in line for line in story if line.startswith("attempt "))


def test_the_refusal_stands_for_every_later_start(tmp_path: Path) -> None:
    """No restart resets a counter."""
    runs = [start_and_die(tmp_path / "failhook.db") for _ in range(3)]

    assert [-9, 3, 3] == [run.returncode for run in runs]


def test_what_is_not_idempotent_is_held_after_its_supervisor_died(tmp_path: Path) -> None:
    """Nobody knows whether it was done, so nobody runs it again unasked."""
    path = tmp_path / "failhook.db"
    start_and_die(path, refunds=5, idempotent=False)
    again = start_and_die(path, refunds=5, idempotent=False)

    assert 3 == again.returncode
    assert "somebody must say" in again.stdout


def test_a_reaper_reports_each_lost_attempt_once(tmp_path: Path) -> None:
    """A restarted executor finds what was in flight; a second look finds nothing."""
    path = tmp_path / "failhook.db"
    start_and_die(path)
    with Pipeline(open_store(str(path)), dispatch="none") as pipeline:
        (reaped,) = pipeline.reap()

        task, decision = reaped
        assert ("load", 1, "RetriesExhausted") == (task.name, task.attempt, decision.code)
        assert [] == pipeline.reap()


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize(
    ("resolution", "action", "kind"),
    [("retry", Action.RETRY, Kind.INFRA), ("fail", Action.FAIL, Kind.MANUAL)],
)
def test_a_person_may_close_what_was_left_open(
    tmp_path: Path, resolution: Resolution, action: Action, kind: Kind, idempotent: bool
) -> None:
    """It is counted once, a retry may start, and what is closed by hand stays closed."""
    path = str(tmp_path / "failhook.db")
    start_and_die(Path(path), refunds=1, idempotent=idempotent)
    policies = Policies(Policy(max_infra_refunds=1))
    with Pipeline(open_store(path), policies=policies, dispatch="none") as pipeline:
        (left,) = pipeline.orphans()
        decision = pipeline.resolve(left.task, resolution, actor="ann")
        with pytest.raises(NothingToResolveError, match="on hold or lost"):
            pipeline.resolve(left.task, resolution)
        with pipeline.store.transaction() as ledger:
            (counted,) = ledger.attempts(left.task.key)
            account = ledger.account(left.task.key)

    assert action is decision.action
    assert account is not None
    assert (1, "" if decision.retry else "failed") == (account.failures, account.closed)
    assert counted.details is not None
    assert kind is counted.details.kind
    assert [] == pipeline.orphans()


def test_what_was_left_open_has_succeeded_if_a_person_says_so(tmp_path: Path) -> None:
    """Nobody hears of a failure that there was not."""
    path = str(tmp_path / "failhook.db")
    start_and_die(Path(path))
    with Pipeline(open_store(path), dispatch="none") as pipeline:
        (left,) = pipeline.orphans()
        assert (
            "ann had it closed as succeeded"
            in pipeline.resolve(left.task.key, "succeeded", actor="ann").message
        )
        with pipeline.store.transaction() as ledger:
            (counted,) = ledger.attempts(left.task.key)

    assert AttemptState.SUCCEEDED is counted.state


def test_what_another_host_left_open_is_closed_by_who_knows(
    make: MakePipeline, store: Store
) -> None:
    """From here nobody can tell, so it is asked for; what runs here is left alone."""
    pipeline = make(Policy(max_infra_refunds=1))
    task = pipeline.started(Task("nightly", "load"))
    with pytest.raises(NothingToResolveError, match=r"attempt 1 is supervised by process .* lives"):
        pipeline.resolve(task, "retry")
    with store.transaction() as ledger:
        attempt = ledger.attempt(task.attempt_key)
        assert attempt is not None
        assert attempt.owner is not None
        ledger.save_attempt(attempt._replace(owner=replace(attempt.owner, host="gone")))

    assert pipeline.resolve(task, "retry").retry


def test_a_task_that_was_only_queued_is_charged_nothing(make: MakePipeline) -> None:
    """What never called started() was never open."""
    pipeline = make()

    assert [] == pipeline.reap()
    assert 1 == pipeline.started(Task("nightly", "load")).attempt


def test_the_same_attempt_is_not_run_twice_at_once(
    make: MakePipeline, store: Store, heard: Recorder
) -> None:
    """A second delivery while the first runs is refused and costs nothing."""
    pipeline = make(Policy(retries=5))
    task = pipeline.started(Task("nightly", "load"))
    other = subprocess.Popen(["sleep", "60"])
    try:
        with store.transaction() as ledger:
            attempt = ledger.attempt(task.attempt_key)
            assert attempt is not None
            assert attempt.owner is not None
            owner = replace(attempt.owner, pid=other.pid, started=host.process_started(other.pid))
            ledger.save_attempt(attempt._replace(owner=owner))
        with pytest.raises(StartRefused) as refused:
            pipeline.started(task)
    finally:
        other.kill()
        other.wait()

    assert "DuplicateExecution" == refused.value.decision.code
    assert [] == heard.types
    assert 2 == pipeline.started(task).attempt


def test_one_process_does_not_run_an_attempt_twice_either(make: MakePipeline) -> None:
    """Two executors of one process are two supervisors: only one of them gets the attempt."""
    pipeline = make(Policy(retries=2))
    task = pipeline.started(Task("nightly", "load"))

    with pytest.raises(StartRefused) as refused:
        pipeline.started(task)
    assert "DuplicateExecution" == refused.value.decision.code


def test_an_attempt_whose_end_was_never_told_is_charged_and_not_refunded(
    make: MakePipeline, heard: Recorder
) -> None:
    """A host that goes on to the next attempt without a report does not earn a refund by it."""
    pipeline = make(Policy(retries=1, max_infra_refunds=5))
    task = pipeline.started(Task("nightly", "load"))
    second = pipeline.started(task.next_attempt())

    assert 2 == second.attempt
    (event,) = heard.events
    assert ("unknown", "StateMismatch") == (
        event.failure_details.kind,
        event.failure_details.reason,
    )
    assert event.decision is not None
    assert "user 1/1, infra 0/5, system 0/3" == str(event.decision.after)


class Asking:
    """Uses its own state in the store to classify."""

    def __init__(self, state: PluginState) -> None:
        self.state = state

    @hookimpl
    def classify_failure(self) -> FailureDetails:
        self.state.put("asked", "yes")
        return FailureDetails(kind=Kind.INFRA, reason=self.state.get("asked") or "no")


def test_a_plugin_that_needs_the_store_may_judge_a_lost_attempt(tmp_path: Path) -> None:
    """It is asked outside the transaction that adopts."""
    path = tmp_path / "failhook.db"
    start_and_die(path)
    store = open_store(path)
    manager = Manager(lambda _: Provisions({}, StoredState(store, "asking"), SystemClock()))
    manager.register(Asking, "asking")
    policies = Policies(Policy(max_infra_refunds=1))
    with Pipeline(store, manager=manager, policies=policies, dispatch="none") as pipeline:
        task = pipeline.started(Task("nightly", "load", run_id="r1"))
        with store.transaction() as ledger:
            lost = ledger.attempts(task.key)[0]

    assert lost.details is not None
    assert "yes" == lost.details.reason


def bug(message: str) -> Evidence:
    """Return the evidence of a plain bug."""
    return Evidence.exception(ValueError(message))


def test_a_host_that_counts_from_one_again_is_understood(make: MakePipeline) -> None:
    """Attempt numbers come from the ledger: the host's attempt 1 is attempt 2 after a restart."""
    pipeline = make(Policy(retries=1))
    task = Task("nightly", "load")
    pipeline.failed(pipeline.started(task), bug("first"))
    pipeline.started(task)
    decision = pipeline.failed(task, bug("second"))

    assert (2, False) == (decision.attempt, decision.retry)


def test_a_host_that_mixes_its_own_numbers_with_the_ledgers_is_understood(
    make: MakePipeline, store: Store
) -> None:
    """What started() returned means what it says, also where the host counts that number itself."""
    pipeline = make(Policy(retries=9))
    mine = Task("nightly", "load")
    pipeline.failed(pipeline.started(mine), bug("before the restart"))
    second = pipeline.started(mine)
    pipeline.failed(second, bug("by the number that was returned"))
    third = pipeline.started(mine.next_attempt())
    again = pipeline.failed(second, bug("told twice"))
    with store.transaction() as ledger:
        states = [attempt.state.value for attempt in ledger.attempts(mine.key)]

    assert (2, 3) == (second.attempt, third.attempt)
    assert (2, ["failed", "failed", "open"]) == (again.attempt, states)
    assert 3 == pipeline.failed(mine.next_attempt(), bug("by the host's own number")).attempt
