"""What is claimed belongs to one drainer for as long as it works on it, and no longer."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace

import pytest

from failhook.errors import StoreError
from failhook.manager import Limits
from failhook.outbox.limits import DeliveryLimits
from failhook.plugin import FailureEvent, Undelivered, hookimpl
from failhook.stores import open_store
from tests.outbox.world import QUICK, Good, fail, pipeline_on, until

FAR = {"now": None, "lease": 60.0, "limit": 100, "owner": "another"}


class Held(Good):
    """Is held in its first call until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.over = threading.Event(), threading.Event()

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.entered.set()
        self.over.wait(60)
        self.events.append(event)


@pytest.fixture
def held():
    """Return a plugin that is let go at the end."""
    plugin = Held()
    yield plugin
    plugin.over.set()


def test_a_lease_is_prolonged_for_as_long_as_a_call_is_under_way(store, held):
    """A call that is within its limit keeps its row, however short the lease is."""
    limits = replace(QUICK, lease=0.3)
    pipeline = pipeline_on(store, held, limits=limits, manager=Limits(call=60))
    fail(pipeline, "a")
    assert held.entered.wait(20)
    threading.Event().wait(1.0)
    stolen = store.claim("held", **(FAR | {"now": pipeline.clock.now()}))
    held.over.set()
    assert until(lambda: store.pending() == 0)

    assert 0 == len(stolen)
    assert 1 == len(held.events)
    assert pipeline.close()


def test_a_call_past_its_limit_gives_back_all_that_was_claimed(store, held):
    """Others take the rest of the batch; the late answer still counts for what it was about."""
    pipeline = pipeline_on(store, held, manager=Limits(call=0.1))
    with pipeline_on(store, held, dispatch="none") as filling:
        fail(filling, "a", "b", "c")
        pipeline.flush(0)
        assert held.entered.wait(20)
        assert until(lambda: pipeline.manager.overdue() and not store.holders("held"))
        now = pipeline.clock.now()
        others = [row.event.task.name for row in store.claim("held", **(FAR | {"now": now}))]
        held.over.set()
        assert until(lambda: len(held.events) >= 1)
        store.release("another")
        assert pipeline.flush(20)

        assert ["a", "b", "c"] == sorted(others)
        assert 0 == store.pending()
        assert {"a", "b", "c"} == {event.task.name for event in held.events}
        assert pipeline.close()


def test_a_slow_plugin_does_not_hold_a_whole_batch(store, clock):
    """After its turn the rest of the batch is given back, and claimed anew."""

    class Slow(Good):
        """Takes three seconds for each event."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            clock.seconds += 3.0
            self.events.append(event)

    plugin, claim, sizes = Slow(), store.claim, []

    def counting(name, **options):
        rows = claim(name, **options)
        sizes.append(len(rows))
        return rows

    store.claim = counting
    filling = pipeline_on(store, plugin, clock=clock, dispatch="none")
    fail(filling, *"abcdef")
    pipeline = pipeline_on(store, plugin, clock=clock, limits=replace(QUICK, batch=4))
    assert pipeline.flush(20)

    assert [4, 4, 2] == sizes[:3]
    assert 6 == len(plugin.events)
    assert pipeline.close()


def test_a_row_that_cannot_be_read_is_buried_at_once(tmp_path, caplog):
    """It blocks nobody: its task's next event and other tasks go out; one line says why."""
    path, good = tmp_path / "failhook.db", Good()
    with pipeline_on(open_store(path), good, dispatch="none") as filling:
        fail(filling, "bad", "good")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET body = '{' WHERE body LIKE '%\"bad\"%'")
    connection.close()
    pipeline = pipeline_on(open_store(path), good)
    assert pipeline.flush(20)

    (letter,) = pipeline.store.dead_letters()
    assert ["good"] == [event.task.name for event in good.events]
    assert (1, None) == (letter.tries, letter.event)
    assert 1 == sum(letter.event_id in record.getMessage() for record in caplog.records)
    assert pipeline.close()


def test_what_could_not_be_marked_is_not_delivered_again(store, caplog):
    """A store that fails after a good send costs no duplicate; one line tells, and one its end."""
    good = Good()
    pipeline = pipeline_on(store, good)
    done, broken = store.done, [3]

    def failing(ids):
        if broken[0]:
            broken[0] -= 1
            raise StoreError("the disk is full")
        done(ids)

    store.done = failing
    fail(pipeline, "a", "b")
    assert until(lambda: store.pending() == 0)
    assert pipeline.flush(20)

    assert ["a", "b"] == [event.task.name for event in good.events]
    lines = [record.getMessage() for record in caplog.records if "outbox" in record.getMessage()]
    assert [
        "the outbox cannot be used, what waits is tried again later: the disk is full",
        "the outbox can be used again",
    ] == lines
    assert pipeline.close()


def test_a_flush_that_could_not_try_anything_says_so(store):
    """Where the store fails, not everything was offered."""
    pipeline = pipeline_on(store, Good())

    def failing(*_args, **_options):
        raise StoreError("gone")

    claim, store.claim = store.claim, failing
    assert not pipeline.flush(5)
    store.claim = claim

    assert pipeline.flush(20)
    assert pipeline.close()


def test_each_thread_that_dies_is_begun_again(store, monkeypatch):
    """A machine that had no thread to give delivers when it has one again."""
    good = Good()
    pipeline = pipeline_on(store, good)

    def start(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        fail(pipeline, "a")
    fail(pipeline, "b")
    assert until(lambda: len(good.events) == 2)
    assert pipeline.close()


@pytest.mark.parametrize("random", [1.0, 0.25])
def test_a_refusal_is_backed_off_with_full_jitter(random, store, clock):
    """The wait doubles with each try, and the random number says how much of it is waited."""

    class Refusing:
        """Takes nothing."""

        @hookimpl
        def on_task_failed(self) -> None:
            raise Undelivered("503")

    limits = DeliveryLimits(gather=0.0, poll=0.02)
    pipeline = pipeline_on(store, Refusing(), clock=clock, limits=limits, random=lambda: random)
    fail(pipeline, "a")
    waits = []
    for _ in range(4):
        assert pipeline.flush(20)
        due = store.next_due(["refusing"], clock.now())
        waits.append((due - clock.now()).total_seconds())
        clock.seconds += waits[-1]

    assert [random * 2**tries for tries in range(4)] == waits
    assert not pipeline.close()
