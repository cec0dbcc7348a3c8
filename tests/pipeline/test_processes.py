"""One pipeline, several processes: forks, and the end of the interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PRINTING = """
import os, sys, time
from failhook import Evidence, Manager, Pipeline, Task, hookimpl
from failhook.stores import open_store

class Printing:
    @hookimpl
    def on_task_failed(self, task):
        who = "parent" if os.getpid() == parent else "child"
        os.write(1, f"{task.name} heard by {who}\\n".encode())

class Hanging:
    @hookimpl
    def on_task_failed(self):
        time.sleep(600)

parent = os.getpid()
manager = Manager()
manager.register(Printing)
pipeline = Pipeline(open_store(sys.argv[1]), manager=manager)
"""


def run(code: str, store: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program with a printing plugin."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PRINTING + code, str(store)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_what_is_due_goes_out_before_the_interpreter_ends() -> None:
    """Also from a memory store, and without a close."""
    ended = run("pipeline.failed(Task('w', 'one'), Evidence.returncode(3))", "memory")

    assert ("one heard by parent\n", "", 0) == (ended.stdout, ended.stderr, ended.returncode)


def test_a_closed_pipeline_keeps_nothing_from_ending() -> None:
    """After a close nothing is left for the interpreter's end to wait for."""
    ended = run(
        "from failhook.outbox.limits import DeliveryLimits\n"
        "pipeline = Pipeline(manager=manager, delivery=DeliveryLimits(at_exit=600.0))\n"
        "pipeline.close()",
        "memory",
    )

    assert ("", "", 0) == (ended.stdout, ended.stderr, ended.returncode)


def test_a_plugin_that_hangs_does_not_keep_the_interpreter_from_ending() -> None:
    """The flush at exit is bounded; the others are heard."""
    ended = run(
        "manager.register(Hanging)\npipeline.failed(Task('w', 'one'), Evidence.returncode(3))",
        "memory",
    )

    assert ("one heard by parent\n", 0) == (ended.stdout, ended.returncode)


LATE = "pipeline.failed(Task('w', 'late'), Evidence.returncode(3))"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"import atexit\natexit.register(lambda: {LATE})", id="registered later"),
        pytest.param(
            "import atexit\nothers = []\natexit.register(lambda: others.pop()())\n"
            "pipeline = Pipeline(manager=manager)\n"
            "pipeline.failed(Task('w', 'one'), Evidence.returncode(3))\n"
            f"others.append(lambda: {LATE})",
            id="registered before",
        ),
    ],
)
def test_what_a_hosts_own_exit_handler_reports_goes_out_or_is_told(code: str) -> None:
    """Its event is delivered; where Python begins no thread any more, a log line says it is not."""
    ended = run(code, "memory")

    assert 0 == ended.returncode
    if sys.version_info[:2] == (3, 12):
        assert "late heard" in ended.stdout or "can't create new thread" in ended.stderr
    else:
        assert "late heard by parent" in ended.stdout.splitlines()
        assert "" == ended.stderr


FORKED = """
pipeline.failed(Task('w', 'before'), Evidence.returncode(3))
pipeline.flush(10)
child = os.fork()
name = 'child' if child == 0 else 'parent'
opened = pipeline.started(Task('w', name))
pipeline.failed(opened, Evidence.returncode(3))
if child:
    os.waitpid(child, 0)
pipeline.close(10)
sys.stdout.flush()
os._exit(0) if child == 0 else None
"""


def test_each_side_of_a_fork_is_heard_once(tmp_path: Path) -> None:
    """Nothing is lost and nothing comes twice; memory is not shared, a file is."""
    apart = run(FORKED, "memory")
    shared = run(FORKED, tmp_path / "failhook.db")

    assert ("", "") == (apart.stderr, shared.stderr)
    assert [
        "before heard by parent",
        "child heard by child",
        "parent heard by parent",
    ] == sorted(apart.stdout.splitlines())
    assert ["before", "child", "parent"] == sorted(
        line.split()[0] for line in shared.stdout.splitlines()
    )
