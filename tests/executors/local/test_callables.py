"""What crosses between the executor and a callable's process, and what cannot."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from failhook import StartRefused, Task
from failhook.executors.local import LocalExecutor, State, TaskFailed, launch
from failhook.policy import Policy
from tests.executors.local import hostile, tasks
from tests.executors.local.conftest import Fifo
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load")


def test_arguments_go_over_and_the_value_comes_back(executor: LocalExecutor) -> None:
    """A callable gets its arguments, and the future its return value, however large they are."""
    data = bytes(range(256)) * (1 << 14)  # 4 MiB: more than a socket holds
    assert 42 == executor.submit(Task("nightly", "double"), tasks.double, number=21).result()
    assert pickle.dumps(data) == executor.submit(Task("nightly", "big"), tasks.big, data).result()


def test_a_coroutine_function_is_awaited(executor: LocalExecutor) -> None:
    """An `async def` task runs to its end."""
    assert 4 == executor.submit(TASK, tasks.double_later, 2).result()


def test_a_callable_runs_in_the_folder_and_environment_that_are_asked_for(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    """`cwd` and `env` hold for callables as for commands."""
    future = executor.submit(TASK, tasks.environment, "COLOUR", cwd=tmp_path, env={"COLOUR": "red"})
    assert ("red", tmp_path.as_posix()) == future.result()


def test_the_exception_is_told_with_type_text_and_traceback(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """What the task raised reaches listeners, and whoever asks the future, in full."""
    with pytest.raises(TaskFailed, match="not like this") as caught:
        executor.submit(TASK, tasks.raise_value_error).result()
    error = heard.events[0].error
    assert error is not None
    assert ("builtins.ValueError", "not like this") == (error.type, error.message)
    assert 'raise ValueError("not like this")' in error.traceback
    assert "child.py" not in error.traceback
    assert caught.value.error is not None
    assert "ValueError" == caught.value.error.name


def test_a_mark_survives_the_way_between_processes(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """A `TaskError` below the exception decides the verdict, as it would in this process."""
    executor.run(TASK, tasks.raise_marked)
    error = heard.events[0].error
    assert error is not None
    assert error.mark is not None
    assert ("Quota", "infra") == (error.mark.code, error.mark.kind)


@pytest.mark.parametrize("name", hostile.NAMES)
def test_hostile_exceptions_are_told_with_their_own_type(
    name: str, executor: LocalExecutor, heard: Recorder
) -> None:
    """Whatever an exception does when it is looked at, its type and text arrive, once."""
    outcome = executor.run(TASK, hostile.throw, name)
    (event,) = heard.events
    assert State.FAILED is outcome.state
    assert event.error is not None
    assert hostile.EXPECTED[name][0] == event.error.name.rpartition(".")[2]
    assert hostile.EXPECTED[name][1] in event.error.message
    assert event == type(event).from_json(event.to_json())


def test_exit_0_is_a_success(executor: LocalExecutor, heard: Recorder) -> None:
    """`sys.exit(0)` in a callable ends it well, as it would end a script."""
    assert State.SUCCEEDED is executor.run(TASK, tasks.exit_with, 0).state
    assert State.SUCCEEDED is executor.run(Task("nightly", "none"), tasks.exit_with, None).state
    assert [] == heard.events


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (tasks.return_lock, "_thread.lock"),
        (tasks.return_unloadable, "cannot be unpickled here"),
    ],
)
def test_a_value_that_cannot_come_back_is_the_tasks_own_failure(
    work: object, text: str, executor: LocalExecutor, heard: Recorder
) -> None:
    """A return value that cannot be pickled is an application failure that names its type."""
    executor.run(TASK, work)  # type: ignore[arg-type] # a parametrised callable
    (event,) = heard.events
    details = event.failure_details
    assert ("application", "SerializationError", True, "yes") == (
        details.kind,
        details.reason,
        details.deterministic,
        details.started,
    )
    assert text in details.message


def test_what_cannot_be_sent_is_told_and_never_started(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """An argument that cannot be pickled is an application failure before the start."""
    with pytest.raises(TaskFailed, match=r"tasks.double cannot be sent to another process"):
        executor.submit(TASK, tasks.double, threading.Lock()).result()
    (event,) = heard.events
    details = event.failure_details
    assert ("application", "SerializationError", True, "no") == (
        details.kind,
        details.reason,
        details.deterministic,
        details.started,
    )


def test_a_lambda_runs_where_cloudpickle_is(executor: LocalExecutor) -> None:
    """A function that cannot be imported goes over by value."""
    pytest.importorskip("cloudpickle")
    number = 40
    assert 42 == executor.submit(TASK, lambda: number + 2).result()


def test_a_lambda_without_cloudpickle_is_told_what_it_needs(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where cloudpickle is not installed, the message names it, and nothing was started."""
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    outcome = executor.run(TASK, lambda: 42)
    assert outcome.details is not None
    assert "use a function of a module" in outcome.details.message
    assert "or install cloudpickle" in outcome.details.message
    assert "no" == outcome.details.started


def test_the_functions_of_a_session_have_no_file_to_come_from(tmp_path: Path) -> None:
    """What was typed in at a prompt cannot be imported elsewhere, and the message says so."""
    code = f"import sys; sys.modules['cloudpickle'] = None\n{textwrap.dedent(MAIN)}"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "the main module of this session is not a file" in told.stderr
    assert "application SerializationError: __main__.move cannot be sent" in told.stderr


MAIN = """
import sys
from failhook import Pipeline, Task
from failhook.executors.local import LocalExecutor

class Point:
    def __init__(self, x):
        self.x = x

def move(point):
    return Point(point.x + 1)

if __name__ == "__main__":
    with Pipeline() as pipeline, LocalExecutor(pipeline) as executor:
        future = executor.submit(Task("nightly", "move"), move, Point(1))
        print(future.result().x, len(sys.argv))
"""


@pytest.mark.parametrize("how", ["script", "module"])
def test_functions_of_the_main_module_can_be_sent(how: str, tmp_path: Path) -> None:
    """A script's own functions and classes go over, its guarded part is not run again."""
    (tmp_path / "script.py").write_text(textwrap.dedent(MAIN), encoding="utf-8")
    command = ["-m", "script"] if how == "module" else ["script.py"]
    told = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ("2 1\n", "") == (told.stdout, told.stderr)


def test_a_module_that_cannot_be_imported_there_is_told(
    executor: LocalExecutor, heard: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that the child cannot load is the task's failure, and may not have begun."""
    (tmp_path / "vanishing.py").write_text("def work():\n    pass\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import vanishing  # type: ignore[import-not-found] # it is written just above

    (tmp_path / "vanishing.py").write_text("raise ImportError('gone')\n", encoding="utf-8")
    executor.run(TASK, vanishing.work)
    (event,) = heard.events
    assert event.error is not None
    assert ("ImportError", "gone") == (event.error.name, event.error.message)
    assert "maybe" == event.failure_details.started


def test_a_deadline_ends_a_task_that_survives_exceptions(
    executor: LocalExecutor, heard: Recorder, fifo: Fifo
) -> None:
    """`TaskDeadline` is no `Exception`: a loop that survives every error ends, and says where."""
    future = executor.submit(TASK, tasks.survive_every_exception, fifo.path, timeout=0.5, grace=60)
    fifo.read()
    with pytest.raises(TaskFailed):
        future.result()
    (event,) = heard.events
    assert event.error is not None
    assert event.error.name.endswith("TaskDeadline")
    assert "survive_every_exception" in event.error.traceback
    assert 0.5 == event.failure_details.time_limit


def test_processes_that_a_task_forks_are_as_without_us(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """A pool that a task forks and ends with SIGTERM makes no success suspect."""
    outcome = executor.run(TASK, tasks.fork_pool)
    assert ([2, 4, 6], False) == (outcome.value, outcome.suspect)
    assert [] == heard.events


def test_a_thread_that_is_left_behind_does_not_hold_up_a_task(
    executor: LocalExecutor, heard: Recorder
) -> None:
    """A task that has reported its result gets the grace time to end, then it is ended."""
    outcome = executor.run(TASK, tasks.linger, grace=0.1)
    assert ("done", -signal.SIGKILL, False) == (outcome.value, outcome.exit_code, outcome.suspect)
    assert [] == heard.events


@pytest.mark.parametrize("heartbeat", [None, 0.3])
def test_a_task_that_closes_every_descriptor_lives_and_keeps_its_files(
    heartbeat: float | None, executor: LocalExecutor, tmp_path: Path
) -> None:
    """It cannot beat or report any more: that is no failure, and nothing goes to its own files."""
    outcome = executor.run(
        TASK, tasks.close_everything, str(tmp_path), 1, heartbeat_timeout=heartbeat
    )
    assert (State.SUCCEEDED, True, 0) == (outcome.state, outcome.suspect, outcome.exit_code)
    assert [0] * 5 == [path.stat().st_size for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    "junk",
    [
        b"R\xff\xff\xff\xff",
        b"words",
        launch.MARK[:3],
        launch.header(b"E", 1 << 40),
        launch.header(b"?", 1 << 40),
        launch.header(b"S", 500),
    ],
)
def test_junk_does_not_lose_the_result(junk: bytes, executor: LocalExecutor) -> None:
    """What a task writes to the executor's socket by mistake is passed over."""
    assert "done" == executor.submit(TASK, tasks.write_junk, junk).result()


def test_a_huge_error_is_told_coarsely(executor: LocalExecutor, heard: Recorder) -> None:
    """However many errors a group has, the report of them is bounded, and says what it is."""
    outcome = executor.run(TASK, tasks.raise_group, 200, 6000)
    assert outcome.error is not None
    assert len(json.dumps(outcome.error.to_dict())) <= launch.LONGEST_TEXT
    (event,) = heard.events
    assert event.error is not None
    assert "ExceptionGroup" == event.error.name
    assert "ValueError" == event.error.exceptions[0].name


def test_a_failed_task_is_closed_for_good(executor: LocalExecutor, heard: Recorder) -> None:
    """A key whose task has failed for good is refused, with the whole story, and nothing runs."""
    executor.run(TASK, tasks.raise_value_error)
    with pytest.raises(StartRefused, match=r"attempt 1: .*not like this"):
        executor.run(TASK, tasks.double, 1)
    assert 1 == len(heard.events)


def test_errors_of_the_future_can_be_sent_on(executor: LocalExecutor) -> None:
    """What a future raises can be pickled, so that a host may hand it to its own parent."""
    with pytest.raises(TaskFailed) as caught:
        executor.submit(TASK, tasks.raise_value_error).result()
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - made just here
    assert (str(caught.value), caught.value.details) == (str(copy), copy.details)


@pytest.mark.parametrize("policy", [Policy(retries=1)], indirect=True)
def test_each_attempt_gets_the_arguments_as_they_were(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    """Arguments are taken when the task is submitted; what happens to them later is not seen."""
    endings = ["raise", "kept"]
    future = executor.submit(TASK, tasks.count_then, str(tmp_path / "log"), *endings)
    endings.clear()
    assert "kept" == future.result()
