"""A memory store in a process that lives for years."""

from __future__ import annotations

import pytest

from failhook.errors import StartRefused
from failhook.evidence import Evidence
from failhook.pipeline import Pipeline
from failhook.stores.memory import MemoryStore
from failhook.task import Task

BUG = Evidence.exception(ValueError("no such column"))


def test_only_the_newest_ended_tasks_are_remembered():
    """A bounded number stays; what is on hold or open is never forgotten."""
    store = MemoryStore(keep=10)
    pipeline = Pipeline(store, dispatch="none")
    held = pipeline.started(Task("nightly", "pay", idempotent=False))
    pipeline.failed(held, Evidence.returncode(-9))
    opened = pipeline.started(Task("nightly", "running"))
    for number in range(100):
        pipeline.failed(pipeline.started(Task("nightly", f"task-{number}")), BUG)
    newest = Task("nightly", "task", run_id="r")
    pipeline.failed(pipeline.started(newest), BUG)

    assert 12 == len(store.accounts) == len(store.attempts)
    assert [opened.attempt_key] == list(store.open)
    assert pipeline.resolve(held, "fail").final
    with pytest.raises(StartRefused):
        pipeline.started(newest)
