"""Whole programs that use the executor: their main module, guarded or not, and their modules."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HEAD = """
import sys
from failhook import Pipeline, Task
from failhook.executors.local import LocalExecutor

def work():
    return 42

def told(outcome):
    verdict = "" if outcome.details is None else (
        f"{outcome.details.reason} {outcome.details.started}: {outcome.details.message}"
    )
    print(outcome.state, outcome.value, outcome.suspect, verdict, flush=True)
"""


def run(folder: Path, body: str, **modules: str) -> list[str]:
    """Run a program, and return the lines that it prints."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    (folder / "program.py").write_text(HEAD + textwrap.dedent(body), encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "" == told.stderr
    return told.stdout.splitlines()


def test_a_program_without_a_guard_is_told_so_and_succeeds_in_nothing(tmp_path: Path) -> None:
    """A task that never ran is a failure, although its process would have ended with status 0."""
    body = """
    told(LocalExecutor(Pipeline()).run(Task("nightly", "load"), work))
    sys.exit(0)
    """
    (line,) = run(tmp_path, body)
    assert line.startswith("failed None False CodeLoadError maybe: ")
    assert "if __name__ == '__main__':" in line


def test_a_program_without_a_guard_runs_nothing_twice(tmp_path: Path) -> None:
    """What it submits before is not submitted again by the process that loads it."""
    body = """
    executor = LocalExecutor(Pipeline())
    told(executor.run(Task("nightly", "pay"), ["sh", "-c", "echo paid"]))
    told(executor.run(Task("nightly", "load"), work))
    """
    lines = run(tmp_path, body)
    assert ["paid", "succeeded None False "] == lines[:2]
    assert 3 == len(lines)


@pytest.mark.parametrize("status", ["", "0", "3"])
def test_a_module_that_ends_the_process_is_never_a_success(status: str, tmp_path: Path) -> None:
    """`sys.exit` while code is loaded is an error of that code, whatever the status is."""
    body = """
    if __name__ == "__main__":
        import ending
        task = Task("nightly", "load")
        told(LocalExecutor(Pipeline()).run(task, ending.work, env={"CHILD": "yes"}))
    """
    module = f"""
    import os, sys
    if os.environ.get("CHILD"):
        sys.exit({status})
    def work():
        return 42
    """
    (line,) = run(tmp_path, body, ending=module)
    assert line.startswith("failed None False CodeLoadError maybe: ")
    assert "calls sys.exit(" in line


def test_a_module_that_leaves_at_once_is_never_a_success(tmp_path: Path) -> None:
    """`os._exit(0)` while code is loaded says nothing of the task, which did not run."""
    body = """
    if __name__ == "__main__":
        import ending
        task = Task("nightly", "load")
        told(LocalExecutor(Pipeline()).run(task, ending.work, env={"CHILD": "yes"}))
    """
    module = """
    import os
    if os.environ.get("CHILD"):
        os._exit(0)
    def work():
        return 42
    """
    (line,) = run(tmp_path, body, ending=module)
    assert line.startswith("failed None False StateMismatch maybe: ")


def test_a_task_may_run_tasks_of_its_own_main_module(tmp_path: Path) -> None:
    """A function of a guarded script runs another one of it, in a process of a process."""
    body = """
    def outer():
        with Pipeline() as pipeline, LocalExecutor(pipeline) as executor:
            return executor.run(Task("nightly", "inner"), work).value

    if __name__ == "__main__":
        with Pipeline() as pipeline, LocalExecutor(pipeline) as executor:
            told(executor.run(Task("nightly", "outer"), outer))
    """
    assert ["succeeded 42 False "] == run(tmp_path, body)
