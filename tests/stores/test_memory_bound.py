"""A memory store in a process that lives for years."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failhook.details import Fact
from failhook.error_info import ErrorInfo
from failhook.errors import StartRefused
from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.groups import Handled
from failhook.outbox.port import Bounds, DueGroup
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.stores.memory import MemoryStore
from failhook.task import Task
from tests.stores.samples import DETAILS, NOW, a_task, an_event

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


def test_a_task_with_many_attempts_counts_for_each_of_them():
    """A storm of retries takes no more memory than one of tasks that fail once."""
    store = MemoryStore(keep=10)
    pipeline = Pipeline(store, policies=Policies(Policy(retries=4)), dispatch="none")
    for number in range(20):
        task = Task("nightly", f"task-{number}", run_id="r")
        while pipeline.failed(task, BUG).retry:
            task = task.next_attempt()

    assert {f"task-{number}" for number in (18, 19)} == {
        attempt.task.name for attempts in store.attempts.values() for attempt in attempts.values()
    }
    assert 10 == sum(map(len, store.attempts.values()))


def test_a_queue_that_nobody_empties_stays_small():
    """However many events pass through a full queue, nothing of the dropped ones is kept."""
    store = MemoryStore(Bounds(events=10))
    for number in range(5_000):
        with store.transaction() as transaction:
            transaction.enqueue(an_event(a_task(f"t{number}")), ["dead"], NOW)

    (queue,) = store._queues.values()
    assert 10 == store.pending() == len(queue.lines) == len(queue.known)
    assert len(queue.heap) < 1_100
    assert 4_990 == sum(each.events for each in store.drops())


def test_the_notification_log_is_bounded():
    """A plugin that never uses a key twice leaves a bounded number of notes."""
    store = MemoryStore()
    for number in range(10_100):
        group = DueGroup("log", f"g{number}", (), 0, 0, "", None)
        store.settle(group, Handled(note="n"), now=NOW)

    assert 10_000 == len(store._log)


LONG = "x y " * 5_000
FAILED = an_event(a_task())


@pytest.mark.parametrize(
    "heavy",
    [
        pytest.param(replace(FAILED, task=a_task(labels={"a": LONG})), id="labels"),
        pytest.param(replace(FAILED, failure_details=replace(DETAILS, message=LONG)), id="message"),
        pytest.param(
            replace(FAILED, first_failure=replace(DETAILS, evidence=(Fact("log", LONG),))),
            id="evidence",
        ),
        pytest.param(replace(FAILED, error=ErrorInfo(type="E", notes=(LONG,))), id="notes"),
        pytest.param(
            replace(FAILED, error=ErrorInfo(type="E", attributes={"a": LONG})), id="attributes"
        ),
        pytest.param(
            replace(FAILED, error=ErrorInfo(type="E", context=ErrorInfo(type="F", message=LONG))),
            id="context",
        ),
        pytest.param(replace(FAILED, first_error=LONG), id="first error"),
    ],
)
def test_whatever_is_long_in_an_event_counts_for_its_bound(heavy):
    """No part of an event goes unseen by the bound in bytes."""
    bound = 5 * len(LONG)
    store = MemoryStore(Bounds(bytes=bound))
    for number in range(20):
        with store.transaction() as transaction:
            transaction.enqueue(replace(heavy, event_id=f"e{number}"), ["dead"], NOW)

    assert 3 <= store.pending() <= 4
