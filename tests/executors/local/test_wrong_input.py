"""What is not allowed is refused when it is submitted, and nothing is begun."""

from __future__ import annotations

import subprocess

import pytest

from failhook import Task
from failhook.errors import ConfigError
from failhook.executors.local import LocalExecutor
from failhook.pipeline import Pipeline
from tests.pipeline.conftest import Recorder

TASK = Task("nightly", "load")

WRONG = [
    ("echo hello", {}, "must be a list of words"),
    ([], {}, "the command is empty"),
    (None, {}, "the work is None; it must be a callable, or a command"),
    (["a\0b"], {}, "an argument of the command is .*; it must be a string without NUL"),
    ([1], {}, "an argument of the command is 1; it must be a string"),
    (["\ud800"], {}, r"'\\ud800', which cannot be written in utf-8"),
    (["true"], {"timeout": 0}, "timeout is 0; it must be a number, 0.001 or more"),
    (["true"], {"timeout": "5"}, "timeout is '5'"),
    (["true"], {"grace": -1}, "grace is -1"),
    (["true"], {"memory_limit": 1.5e9}, "memory_limit is 1500000000.0; it must be a whole number"),
    (["true"], {"memory_limit": 1024}, "memory_limit is 1024; .* 16777216 or more"),
    (["true"], {"heartbeat_timeout": float("nan")}, "heartbeat_timeout is nan"),
    (["true"], {"capture_tail": -1}, "capture_tail is -1"),
    (["true"], {"env": {"A=B": ""}}, "environment variable 'A=B'"),
    (["true"], {"env": {"A": 1}}, "the environment variable 'A' is 1; it must be a string"),
    (["true"], {"env": {1: "a"}}, "the name of an environment variable is 1"),
    (["true"], {"env": "A=B"}, "env is 'A=B'; it must map names to strings"),
    (["true"], {"cwd": "a\0b"}, "cwd is .*; it must be a string without NUL"),
    (["true"], {"cwd": 5}, "cwd is 5; it must be a path"),
    (["true"], {"stdin": "x"}, "stdin is 'x'; it must be None, subprocess.DEVNULL, or"),
    (["true"], {"stdin": subprocess.PIPE}, "stdin is -1; it must be"),
    (["true"], {"stdin": 1 << 30}, "no such descriptor is open"),
    (["true"], {"cleanup": 5}, "cleanup is 5; it must be a callable or None"),
    (["true"], {"more": 1}, "a command takes no further arguments"),
]


@pytest.mark.parametrize(("work", "options", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_wrong_input_is_one_clear_error(
    work: object, options: dict[str, object], text: str, executor: LocalExecutor, heard: Recorder
) -> None:
    """What is not allowed is refused when it is submitted, by name and with what is allowed."""
    with pytest.raises(ConfigError, match=text):
        executor.submit(TASK, work, **options)  # type: ignore[call-overload] # wrong on purpose
    assert [] == heard.events


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True])
def test_an_executor_needs_a_worker(workers: object, pipeline: Pipeline) -> None:
    """What is no number of workers is refused, by name."""
    with pytest.raises(ConfigError, match=f"workers is {workers!r}; it must be a whole number"):
        LocalExecutor(pipeline, workers=workers)  # type: ignore[arg-type] # wrong on purpose


def test_an_executor_needs_a_pipeline_and_tasks(executor: LocalExecutor) -> None:
    """What is no pipeline, or no task, is refused, by name."""
    with pytest.raises(ConfigError, match=r"pipeline is 'x'; it must be a failhook\.Pipeline"):
        LocalExecutor("x")  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(ConfigError, match=r"task is 'load'; it must be a failhook\.Task"):
        executor.submit("load", ["true"])  # type: ignore[arg-type] # wrong on purpose
