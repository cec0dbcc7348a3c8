"""One of several processes that report the same attempts to one store, all at once.

    python -m tests.concurrency.reporter STORE NUMBER REPORTS

It waits for a line on standard input, and then writes what it was answered, as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator

from failhook.errors import StartRefused
from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.plugin import hookimpl
from failhook.policy import Policy
from failhook.stores import open_store
from failhook.task import Task

POLICY = Policy(retries=1, max_infra_refunds=3, max_system_failures=2)
ATTEMPTS = 8
"""Of each task; one more than it could ever be granted."""

KILLED = Evidence.returncode(-9, oom_host=0)
GUESSED = Evidence.returncode(-9)
EVICTED = Evidence.verdict("infra", "Evicted", confidence="confirmed", started="yes")
BUG = Evidence.exception(ValueError("no such column"))
NO_QUOTA = Evidence.plugin_error("no quota")
SILENT = Evidence.mismatch(executor_state="failed", recorded_state="running", can_report=False)
SEEN = {
    "bugs": (BUG,),
    "kills": (KILLED, EVICTED),
    "submissions": (NO_QUOTA,),
    "doubts": (SILENT, GUESSED, EVICTED, BUG),
    "everything": (BUG, KILLED, NO_QUOTA, SILENT, EVICTED, GUESSED),
    "well": (KILLED, BUG),
}
"""What the reporters of a task see, each something else; of `well`, one sees a success."""


class Listener:
    """Takes every event, so that each is in the outbox."""

    @hookimpl
    def on_task_failed(self) -> None:
        """Hear of a failure."""

    @hookimpl
    def on_failure_amended(self) -> None:
        """Hear of better evidence."""

    @hookimpl
    def on_task_recovered(self) -> None:
        """Hear of a recovery."""


def raced(reports: int) -> list[tuple[str, Task]]:
    """Return the tasks that so many reports are about, with what is seen of each."""
    names = list(SEEN)
    return [
        (names[number % len(names)], Task("storm", f"task-{number}", run_id="r"))
        for number in range(reports // ATTEMPTS)
    ]


def queued() -> list[Task]:
    """Return the tasks that every process wants to run."""
    return [Task("queue", f"task-{number}", run_id="r") for number in range(6)]


def race(pipeline: Pipeline, me: int, reports: int) -> Iterator[tuple[str, str]]:
    """Report attempts that every other process reports too, at about the same time.

    Returns:
        each attempt, and the decision on it.
    """
    pairs = [
        (seen, task.at_attempt(attempt))
        for seen, task in raced(reports)
        for attempt in range(1, ATTEMPTS + 1)
    ]
    order = random.Random(me)
    for begin in range(0, len(pairs), ATTEMPTS):
        block = pairs[begin : begin + ATTEMPTS]
        if order.random() < 0.5:  # the others hear of the attempts one after the other
            order.shuffle(block)
        for seen, task in block:
            if seen == "well" and task.attempt == 2 and me % 4 == 3:
                pipeline.succeeded(task)
                continue
            evidence = SEEN[seen][(me + task.attempt) % len(SEEN[seen])]
            decision = pipeline.failed(task, evidence)
            yield task.attempt_key, json.dumps(decision.to_dict(), sort_keys=True)


def queue(pipeline: Pipeline) -> Iterator[str]:
    """Start what every other process wants to start, until the gate refuses it for good.

    Returns:
        the attempts that were begun here.
    """
    for task in queued():
        while True:
            try:
                opened = pipeline.started(task)
            except StartRefused as refused:
                if refused.decision.code == "DuplicateExecution":
                    time.sleep(0.005)
                    continue
                break
            yield opened.attempt_key
            pipeline.failed(opened, KILLED)


def main(where: str, number: str, reports: str) -> None:
    """Report and run, and tell what was answered."""
    manager = Manager()
    manager.register(Listener(), "listener")
    with Pipeline(
        open_store(where),
        manager=manager,
        policies=Policies(POLICY),
        dispatch="none",
        random=lambda: 1.0,
    ) as pipeline:
        print("ready", flush=True)
        sys.stdin.readline()
        decisions = list(race(pipeline, int(number), int(reports)))
        begun = list(queue(pipeline))
    print(json.dumps({"decisions": decisions, "begun": begun}))


if __name__ == "__main__":
    main(*sys.argv[1:])
