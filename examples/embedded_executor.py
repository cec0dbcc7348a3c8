"""An executor of your own, in the three calls that failhook asks for.

Run it: ``python examples/embedded_executor.py``. It runs a command that is killed twice from
outside and then has a bug, with one retry of the user's own and refunds for what the platform ends.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

from failhook import (
    Decision,
    Evidence,
    FailureDetails,
    Manager,
    Pipeline,
    Policy,
    StartRefused,
    Task,
    hookimpl,
)

FLAKY = """
import os, pathlib, signal, sys
runs = pathlib.Path(sys.argv[1])
number = int(runs.read_text() or 0) + 1 if runs.exists() else 1
runs.write_text(str(number))
if number < 3:
    os.kill(os.getpid(), signal.SIGKILL)
raise ValueError("no such column: amount")
"""


class Console:
    """A listener: it names only the arguments that it wants."""

    @hookimpl
    def on_task_failed(
        self, task: Task, failure_details: FailureDetails, decision: Decision
    ) -> None:
        print(f"attempt {task.attempt}: {failure_details.kind} {failure_details.reason}")
        print(f"  {decision.message}")


def run(pipeline: Pipeline, task: Task, argv: Sequence[str]) -> Decision | None:
    """Run a command until it succeeds or the gate says no; return the last decision, None if well.

    Raises:
        StartRefused: the task must not run: another process runs it, or its budgets are used up.
    """
    while True:
        task = pipeline.started(task)
        code = subprocess.run(argv, stderr=subprocess.DEVNULL, check=False).returncode
        if code == 0:
            pipeline.succeeded(task)
            return None
        decision = pipeline.failed(task, Evidence.returncode(code))
        if not decision.retry:
            return decision
        time.sleep(decision.delay)
        task = task.next_attempt()


def main(runs: str) -> int:
    """Run the flaky command; return the exit status."""
    manager = Manager()
    manager.register(Console)
    task = Task("nightly", "load", policy=Policy(retries=1, max_infra_refunds=3))
    with Pipeline(manager=manager) as pipeline:
        try:
            decision = run(pipeline, task, [sys.executable, "-c", FLAKY, runs])
        except StartRefused as refused:
            print(refused)
            return 2
    return 0 if decision is None else 1


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(f"{folder}/runs"))
