"""Everything that a host can hand over with text in it, each text with a secret."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from failhook import Evidence, Policy, Task, TaskError
from tests.model.planted import Planted


def live(plant: Planted, folder: Path) -> BaseException:
    """Return an exception with the text in all of its parts, the lines of its frames too."""
    line = plant.text.replace("\n", " ")
    source = folder / "task.py"
    source.write_text(f"def run(raising):\n    raise raising  # {line}\n")
    names: dict[str, Any] = {}
    exec(compile(source.read_text(), source, "exec"), names)  # noqa: S102 - the task's own code
    command = ["sh", "-c", plant.text]
    causes: tuple[BaseException, ...] = (
        subprocess.CalledProcessError(1, command, plant.text.encode(), plant.text.encode()),
        subprocess.TimeoutExpired(command, 1.0),
        FileNotFoundError(2, "No such file", plant.text),
        KeyError(plant.text),
        ValueError({"dsn": plant.text, "args": (plant.text,)}),
        TaskError(plant.text, code=plant.text, kind="infra"),
    )
    group = ExceptionGroup(plant.text, [*causes[:3], ExceptionGroup(plant.text, list(causes[3:]))])
    error = RuntimeError(plant.text, plant.text.encode())
    error.add_note(plant.text)
    error.reason = plant.text  # type: ignore[attr-defined] # as urllib's errors have it
    vars(error)[plant.text] = 1
    error.__context__ = OSError(plant.text)
    error.__cause__ = group
    try:
        names["run"](error)
    except RuntimeError as raised:
        return raised
    raise AssertionError("it was not raised")


def in_context(plant: Planted) -> BaseException:
    """Return an exception that only what was being handled when it was raised gives away."""
    error = ValueError("it failed")
    error.__context__ = OSError(plant.text)
    return error


def pod(text: str) -> dict[str, Any]:
    """Return a pod with the text wherever Kubernetes has one."""
    ended = {"exitCode": 1, "reason": "Error", "message": text, "signal": 0}
    return {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "annotations": {"note": text}},
        "spec": {"nodeName": text, "containers": [{"name": "main", "args": [text]}]},
        "status": {
            "phase": "Failed",
            "reason": "Evicted",
            "message": text,
            "conditions": [
                {"type": "DisruptionTarget", "status": "True", "reason": text, "message": text}
            ],
            "containerStatuses": [
                {"name": "main", "state": {"terminated": ended}, "lastState": {"terminated": ended}}
            ],
            "initContainerStatuses": [
                {"name": "init", "state": {"waiting": {"reason": "X", "message": text}}}
            ],
        },
    }


def evidence(plant: Planted, folder: Path) -> Iterator[Evidence]:
    """Yield evidence of every source, with the text in each of its texts."""
    text = plant.text
    yield Evidence.exception(live(plant, folder))
    yield Evidence.exception(in_context(plant))
    yield Evidence.exception(text)
    yield Evidence.exception({"type": "X", "message": text, "traceback": text, "notes": [text]})
    yield Evidence.not_started(OSError(2, text, text), command=text)
    yield Evidence.pod(pod(text), events=[{"reason": "FailedMount", "message": text}])
    yield Evidence.cancel(text)
    yield Evidence.mismatch(executor_state="failed", recorded_state="running", info=text)
    yield Evidence.plugin_error(text, code=text)
    yield Evidence.verdict("infra", text, message=text, node=text, code=text, started="yes")
    yield Evidence.verdict(failure_details={"kind": "infra", "reason": "X", "message": text})
    yield Evidence.record(
        "aws_batch", {"status": "FAILED", "statusReason": text, "container": {"reason": text}}
    )
    yield Evidence.record("slurm", {"JobState": "FAILED", "Comment": text, "log": text})


def task(plant: Planted, number: int) -> Task:
    """Return a task with the text in all that does not name it."""
    return Task(
        "planted",
        f"task-{number}",
        run_id="r",
        labels={"command": plant.text, "db_password": plant.secret[:200], plant.text: "name"},
        log_url=f"https://logs.example/?q={plant.text}",
        executor=plant.text,
        policy=Policy(retries=1, max_infra_refunds=1),
    )
