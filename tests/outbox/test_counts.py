"""failhook tells how its own deliveries fare: in the store, and to the host's metrics."""

from __future__ import annotations

import os
import threading
from collections import Counter

from failhook.errors import StoreError
from failhook.manager import Limits
from failhook.metrics import INSTRUMENTS
from failhook.plugin import FailureDetails, FailureEvent, Kind, Undelivered, hookimpl
from tests.outbox.world import Gathering, Good, fail, pipeline_on, until


class Mixed(Good):
    """Takes a, refuses b for good, breaks on c; and classifies."""

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        if event.task.name == "b":
            raise Undelivered("400", retryable=False)
        if event.task.name == "c":
            raise ValueError("broken")

    @hookimpl
    def classify_failure(self) -> FailureDetails:
        return FailureDetails(kind=Kind.INFRA, reason="Evicted")


class Kept:
    """Adds numbers up."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.records: list[tuple[str, float, tuple[str, ...]]] = []
        self.threads: set[str] = set()

    def count(self, name, value, attributes):
        self.threads.add(threading.current_thread().name)
        self.counts[name, *attributes.values()] += value

    def record(self, name, value, attributes):
        self.records.append((name, value, tuple(attributes.values())))


def test_the_store_knows_how_each_hook_fared_where_it_last_ran(store):
    """In all processes together: calls by how they ended, the last success, the last error."""
    pipeline = pipeline_on(store, Mixed())
    fail(pipeline, *"abc")
    assert until(lambda: pipeline.flush(20) and len(store.dead_letters()) == 2)
    pipeline.close()
    second = pipeline_on(store, Mixed())
    fail(second, "a2")
    second.close()

    calls = {each.hook: each for each in store.calls()}
    events = calls["on_task_failed"]
    assert ("mixed", os.uname().nodename, os.getpid()) == (events.plugin, events.host, events.pid)
    assert (2, 1, 5) == (events.delivered, events.undelivered, events.failed)
    assert events.error in {"ValueError: broken", "400"}
    assert events.called_at >= events.delivered_at
    assert (4, 0) == (calls["classify_failure"].delivered, calls["classify_failure"].failed)


def test_calls_past_their_time_limit_are_counted_as_slow(store):
    """One that hangs for a while is a failed call and a slow one; what comes after it is not."""
    over = threading.Event()

    class Slow(Good):
        """Waits with every event until the test says so."""

        @hookimpl
        def on_task_failed(self) -> None:
            over.wait(60)

    pipeline = pipeline_on(store, Slow(), manager=Limits(call=0.05, failures=1000))
    fail(pipeline, "a")
    assert until(lambda: "slow" in pipeline.manager.overdue())
    over.set()
    assert until(lambda: pipeline.flush(20) and not store.pending())
    pipeline.close()

    (calls,) = store.calls()
    assert 1 == calls.slow
    assert calls.delivered


def test_counts_are_kept_while_the_store_cannot_take_them(store):
    """Nothing is counted twice, and nothing is lost."""
    pipeline = pipeline_on(store, Good())
    note, broken = store.note_calls, [2]

    def failing(calls):
        if broken[0]:
            broken[0] -= 1
            raise StoreError("locked")
        note(calls)

    store.note_calls = failing
    fail(pipeline, "a", "b")
    assert pipeline.flush(20)
    fail(pipeline, "c")
    assert until(lambda: [each.delivered for each in store.calls()] == [3])
    assert pipeline.close()


def test_metrics_hear_of_attempts_durations_and_what_left_the_outbox(store):
    """With few attributes, under the names that the instruments have, off the executor's path."""
    kept = Kept()
    pipeline = pipeline_on(store, Mixed(), metrics=kept)
    fail(pipeline, *"abc")
    assert until(lambda: len(store.dead_letters()) == 2)
    pipeline.close()

    attempts, events = "failhook.delivery.attempts", "failhook.delivery.events"
    assert 1 == kept.counts[attempts, "mixed", "on_task_failed", "delivered"]
    assert 1 == kept.counts[attempts, "mixed", "on_task_failed", "undelivered"]
    assert 5 == kept.counts[attempts, "mixed", "on_task_failed", "failed"]
    assert 3 == kept.counts[attempts, "mixed", "classify_failure", "delivered"]
    assert 1 == kept.counts[events, "mixed", "delivered"]
    assert 2 == kept.counts[events, "mixed", "dead"]
    assert 10 == len(kept.records)
    assert {"failhook-metrics"} == kept.threads
    assert {name for name, *_ in kept.counts} | {"failhook.delivery.duration"} <= {
        instrument.name for instrument in INSTRUMENTS
    }


def test_metrics_tell_how_much_waits(store, clock):
    """As a sum of changes, so that a counter that goes up and down shows the depth."""
    kept = Kept()
    pipeline = pipeline_on(store, Gathering(clock), clock=clock, metrics=kept)
    fail(pipeline, "a", "b")
    assert pipeline.flush(20)
    clock.seconds = 16
    assert pipeline.flush(20)
    assert until(lambda: kept.counts["failhook.delivery.queue", "gathering"] == 2)
    clock.seconds = 60
    assert pipeline.flush(20)
    clock.seconds = 90
    assert pipeline.flush(20)
    assert until(lambda: kept.counts["failhook.delivery.queue", "gathering"] == 0)
    assert pipeline.close()


def test_metrics_that_raise_or_hang_harm_nobody(store, caplog):
    """The first error is logged once; what hangs holds one thread of its own."""

    class Raising(Kept):
        """Breaks each time."""

        def count(self, name, value, attributes):
            raise SystemExit(3)

    class Hanging(Kept):
        """Never comes back."""

        over = threading.Event()

        def count(self, name, value, attributes):
            self.threads.add(threading.current_thread().name)
            self.over.wait(60)

    hanging, heard = Hanging(), []
    for metrics in (Raising(), hanging):
        good = Good()
        pipeline = pipeline_on(store, good, metrics=metrics)
        for name in "abc":
            fail(pipeline, name, workflow=type(metrics).__name__)
            assert pipeline.flush(20)
        assert pipeline.close(20)
        heard.append(len(good.events))
    hanging.over.set()

    assert [3, 3] == heard
    assert 1 == sum("metrics object broke" in record.getMessage() for record in caplog.records)
    assert {"failhook-metrics"} == hanging.threads
