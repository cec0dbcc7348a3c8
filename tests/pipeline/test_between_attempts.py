"""A scheduler that is killed between a decision and the next start: another one goes on."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest

from failhook.errors import StartRefused
from failhook.evidence import Evidence
from failhook.pipeline import Pipeline
from failhook.policy import Backoff, Policy
from failhook.stores import open_store
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, SetClock

KILLED = """
import os, signal, sys
from failhook import Evidence, Pipeline, Policy, Task
from failhook.policy import Backoff
from failhook.stores import open_store

pipeline = Pipeline(open_store(sys.argv[1]), dispatch="none")
policy = Policy(retries=2, backoff=Backoff(initial=600.0, maximum=600.0, jitter=False))
task = pipeline.started(Task("nightly", "load", run_id="monday", policy=policy))
pipeline.failed(task, Evidence.returncode(3))
os.kill(os.getpid(), signal.SIGKILL)
"""

BACKOFF = Backoff(initial=600.0, factor=1.0, maximum=600.0, jitter=False)


def test_the_next_scheduler_starts_what_the_killed_one_was_granted(
    shared: str,
) -> None:
    """It finds the attempt, its decision and its time, and budgets count on."""
    run = [sys.executable, "-c", KILLED, shared]
    assert -9 == subprocess.run(run, check=False, timeout=60).returncode
    with Pipeline(open_store(shared), dispatch="none") as pipeline:
        (granted,) = pipeline.between_attempts()
        assert ("load", 2, 600.0) == (
            granted.task.name,
            granted.task.attempt,
            granted.decision.delay,
        )
        assert 0.0 < granted.delay <= 600.0
        task = pipeline.started(granted.task)
        assert [] == list(pipeline.between_attempts())
        decision = pipeline.failed(task, Evidence.returncode(3))
        assert "user 2/2, infra 0/0, system 0/3" == str(decision.after)


def test_what_is_due_first_comes_first_and_nothing_else_is_there(make: MakePipeline) -> None:
    """Only what is granted and has not begun: no open task, none that ended, none on hold."""
    clock = SetClock()
    pipeline = make(Policy(retries=1, backoff=BACKOFF), clock=clock)
    late, early, plain = (Task("nightly", name) for name in ("late", "early", "plain"))
    pipeline.failed(early, Evidence.returncode(3))
    clock.go_on(60)
    pipeline.failed(late, Evidence.returncode(3))
    pipeline.started(plain)
    pipeline.failed(Task("nightly", "failed"), Evidence.cancel("ann"))
    pipeline.failed(Task("nightly", "held", idempotent=False), Evidence.returncode(-9))
    pipeline.succeeded(Task("nightly", "done"))

    first, second = pipeline.between_attempts()
    assert (early.key, late.key) == (first.task.key, second.task.key)
    assert (540.0, 600.0) == (first.delay, second.delay)
    assert clock.now() + timedelta(seconds=540) == first.due
    clock.go_on(900)
    assert [0.0, 0.0] == [granted.delay for granted in pipeline.between_attempts()]


def test_a_hold_that_was_released_waits_for_a_scheduler_too(make: MakePipeline) -> None:
    """Whoever released it need not be who runs it."""
    pipeline = make(Policy(retries=1, backoff=BACKOFF))
    task = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.failed(task, Evidence.returncode(-9))
    pipeline.resolve(task, "retry", actor="ann")

    (granted,) = pipeline.between_attempts()
    assert (2, 0.0) == (granted.task.attempt, granted.delay)
    assert 2 == pipeline.started(granted.task).attempt


def test_a_task_that_succeeded_after_all_waits_for_nothing(make: MakePipeline) -> None:
    """Its retry is not needed, so no scheduler finds it."""
    pipeline = make(Policy(retries=1))
    task = pipeline.started(Task("nightly", "load"))
    pipeline.failed(task, Evidence.heartbeat(timeout=30))
    (granted,) = pipeline.between_attempts()
    pipeline.succeeded(task)

    assert [] == list(pipeline.between_attempts())
    with pytest.raises(StartRefused):
        pipeline.started(granted.task)
