"""A success that was reported although a kill was seen is told as suspect, and is no failure."""

from __future__ import annotations

import os
import signal
import sys

from failhook import Task
from failhook.executors.local import LocalExecutor, State
from failhook.pipeline import Pipeline
from tests.executors.local import tasks
from tests.executors.local.conftest import Fifo
from tests.executors.local.test_deaths import MIB, require_cgroup
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load")


def test_a_sigterm_that_is_swallowed_makes_a_success_suspect(
    executor: LocalExecutor, heard: Recorder, fifo: Fifo
) -> None:
    """SIGTERM came from outside, the task returned as if nothing had been: both are told."""
    future = executor.submit(TASK, tasks.say_and_swallow, fifo.path)
    os.kill(int(fifo.read()), signal.SIGTERM)
    assert "as if nothing had been" == future.result()
    assert ["suspect_success"] == heard.types
    assert signal.SIGTERM == heard.events[0].failure_details.signal
    assert future.outcome is not None
    assert (State.SUCCEEDED, True) == (future.outcome.state, future.outcome.suspect)


def test_a_child_that_was_killed_for_memory_makes_exit_0_suspect(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """The kernel killed a child of the command for memory, which itself exits 0."""
    require_cgroup()
    script = f"{sys.executable} -ISc 'b = b\"x\" * {48 * MIB}; import time; time.sleep(60)'"
    lines = f"{script} & {script} & {script} & wait -n; exit 0"
    outcome = executor.run(TASK, ["bash", "-c", lines], memory_limit=96 * MIB)
    assert (State.SUCCEEDED, True) == (outcome.state, outcome.suspect)
    assert ["suspect_success"] == heard.types
    assert "OutOfMemory" == heard.events[0].failure_details.reason


def test_a_callable_whose_child_was_killed_for_memory_is_suspect(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """The same for a callable that returns all the same."""
    require_cgroup()
    outcome = executor.run(TASK, tasks.eat_together, 3, 48 * MIB, memory_limit=128 * MIB)
    assert ("lost a child or two", True) == (outcome.value, outcome.suspect)
    assert ["suspect_success"] == heard.types


def test_an_exit_without_the_last_report_is_suspect(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """A callable that leaves by `os._exit(0)` never said that it was done."""
    outcome = executor.run(TASK, tasks.exit_at_once, 0)
    assert (State.SUCCEEDED, True) == (outcome.state, outcome.suspect)
    assert ["suspect_success"] == heard.types
    assert "StateMismatch" == heard.events[0].failure_details.reason


def test_a_death_after_the_result_is_suspect(executor: LocalExecutor, heard: Recorder) -> None:
    """A callable whose process is killed after it has returned keeps its result."""
    outcome = executor.run(TASK, tasks.return_then_die)
    assert ("done", True) == (outcome.value, outcome.suspect)
    assert ["suspect_success"] == heard.types
    assert signal.SIGKILL == heard.events[0].failure_details.signal


def test_a_clean_end_at_a_shutdown_is_suspect(
    pipeline: Pipeline, heard: Recorder, fifo: Fifo
) -> None:
    """Who ends cleanly because the executor shuts down may not have done all of its work."""
    executor = LocalExecutor(pipeline)
    future = executor.submit(TASK, tasks.stop_cleanly, fifo.path, grace=60)
    fifo.read()
    assert not executor.close(0)
    assert "saved" == future.result()
    assert ["suspect_success"] == heard.types
    assert "WorkerShutdown" == heard.events[0].failure_details.reason


def test_an_honest_success_is_not_suspect(executor: LocalExecutor, heard: Recorder) -> None:
    """Nobody hears of a task that just succeeds."""
    assert not executor.run(TASK, tasks.double, 1, memory_limit=1 << 30).suspect
    assert not executor.run(Task("nightly", "true"), ["true"], memory_limit=1 << 30).suspect
    assert [] == heard.events
