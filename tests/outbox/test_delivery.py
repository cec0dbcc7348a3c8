"""Every event reaches every plugin, whatever another plugin does."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from failhook.decision import Decision
from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.manager import Limits, Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Store
from failhook.pipeline import Dispatch, Pipeline
from failhook.plugin import (
    ErrorInfo,
    FailureEvent,
    SystemClock,
    Task,
    Undelivered,
    hookimpl,
)
from failhook.policy import Backoff, Policy
from failhook.stores import open_store
from tests.outbox.world import until

AT_ONCE = DeliveryLimits(backoff=Backoff(initial=0.0), gather=0.0, watch=0.05)


class Good:
    """Takes everything."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.dead: list[tuple[str, str]] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event.event_id)

    @hookimpl
    def on_delivery_failed(self, plugin: str, error: str) -> None:
        self.dead.append((plugin, error))


class Raising:
    """Breaks on every event."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.calls = 0

    @hookimpl
    def on_task_failed(self) -> None:
        self.calls += 1
        raise self.error


class Sleeping:
    """Hangs until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.threads: set[str] = set()

    @hookimpl
    def on_task_failed(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.over.wait(60)


class Nonsense:
    """Answers what nobody asked for."""

    @hookimpl
    def on_task_failed(self) -> object:
        return object()


class Async:
    """Is a coroutine function."""

    def __init__(self) -> None:
        self.calls = 0

    @hookimpl
    async def on_task_failed(self) -> None:
        await asyncio.sleep(0)
        self.calls += 1


@pytest.fixture
def sleeping() -> Iterator[Sleeping]:
    """Return a plugin that hangs; it is let go at the end."""
    plugin = Sleeping()
    yield plugin
    plugin.over.set()


def pipeline_on(
    store: Store, *plugins: object, limits: DeliveryLimits = AT_ONCE, call: float = 5.0
) -> Pipeline:
    """Return a pipeline whose plugins are named by their class and place."""
    manager = Manager(limits=Limits(call=call, failures=1000))
    for number, plugin in enumerate(plugins):
        manager.register(plugin, f"{type(plugin).__name__.lower()}-{number}")
    return Pipeline(
        store,
        manager=manager,
        policies=Policies(Policy(retries=3, max_infra_refunds=2)),
        delivery=limits,
        random=lambda: 1.0,
    )


def ten_failures(pipeline: Pipeline) -> list[Decision]:
    """Report ten failures of five tasks; return the decisions."""
    return [
        pipeline.failed(
            Task("nightly", f"task-{number}", run_id="r", attempt=attempt),
            Evidence.returncode(code),
        )
        for number in range(5)
        for attempt, code in ((1, -9), (2, 3))
    ]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(lambda: Raising(ValueError("broken")), id="raises"),
        pytest.param(lambda: Raising(SystemExit(1)), id="exits"),
        pytest.param(lambda: Raising(KeyboardInterrupt()), id="interrupts"),
        pytest.param(lambda: Raising(RecursionError()), id="recursion"),
        pytest.param(Nonsense, id="nonsense"),
        pytest.param(Async, id="async"),
    ],
)
def test_a_bad_plugin_beside_nine_good_ones_changes_nothing(
    store: Store, bad: Callable[[], object], tmp_path: Path
) -> None:
    """The nine hear every event, and the decisions are byte for byte as without it."""
    good = [Good() for _ in range(9)]
    pipeline = pipeline_on(store, *good[:5], bad(), *good[5:])
    decisions = ten_failures(pipeline)
    heard = until(lambda: all(len(each.events) == 10 for each in good))
    pipeline.close(10)
    without = pipeline_on(open_store(str(tmp_path / "without.db")), Good())

    assert heard
    assert _bytes(ten_failures(without)) == _bytes(decisions)
    without.close()


def _bytes(decisions: list[Decision]) -> bytes:
    return json.dumps([decision.to_dict() for decision in decisions]).encode()


def test_a_plugin_that_hangs_holds_one_thread_and_nobody_else(
    store: Store, sleeping: Sleeping
) -> None:
    """Nine others hear everything; the close is bounded and says that not all went out."""
    good = [Good() for _ in range(9)]
    pipeline = pipeline_on(store, sleeping, *good, call=0.2)
    ten_failures(pipeline)

    assert until(lambda: all(len(each.events) == 10 for each in good))
    assert until(lambda: "sleeping-0" in pipeline.manager.overdue())
    assert 1 == len(sleeping.threads)
    assert not pipeline.close(0.5)


def test_a_plain_exception_is_tried_five_times_then_it_is_a_dead_letter(store: Store) -> None:
    """The others hear of it, and the letter can be read and sent again."""
    good, bad = Good(), Raising(ValueError("broken"))
    pipeline = pipeline_on(store, good, bad)
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))

    assert until(lambda: bool(good.dead))
    assert 5 == bad.calls
    assert [("raising-1", "given up after 5 tries: ValueError: broken")] == good.dead
    (letter,) = store.dead_letters()
    assert ("raising-1", 5) == (letter.plugin, letter.tries)
    assert 1 == store.revive([letter.id], pipeline.clock.now())
    pipeline.flush()
    assert until(lambda: bad.calls == 10)
    pipeline.close()


def test_refusals_use_up_no_try_of_a_plain_exception(store: Store) -> None:
    """After ten refusals an event has its five plain exceptions still, and the other way round."""
    errors = [*[Undelivered("busy")] * 10, *[ConnectionResetError("reset")] * 4]

    class Moody(Raising):
        """Refuses, breaks, refuses again, and breaks once more."""

        @hookimpl
        def on_task_failed(self) -> None:
            self.calls += 1
            raise [*errors, *errors[:9], self.error][self.calls - 1]

    bad = Moody(ValueError("broken"))
    pipeline = pipeline_on(store, bad)
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))

    assert until(lambda: bool(store.dead_letters()))
    (letter,) = store.dead_letters()
    assert (24, 24) == (bad.calls, letter.tries)
    assert "given up after 24 tries: ValueError: broken" == letter.error
    pipeline.close()


def test_undelivered_for_good_is_a_dead_letter_at_once(store: Store) -> None:
    """What the receiver refuses is not offered again."""
    bad = Raising(Undelivered("400 bad request", retryable=False))
    pipeline = pipeline_on(store, bad)
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))

    assert until(lambda: bool(store.dead_letters()))
    assert 1 == bad.calls
    pipeline.close()


def test_retry_after_is_waited_for_and_nobody_else_waits(store: Store) -> None:
    """A 429 puts the row off, not the plugin's other tasks and not other plugins."""
    good, bad = Good(), Raising(Undelivered("429", retry_after=3600.0))
    pipeline = pipeline_on(store, bad, good)
    before = pipeline.clock.now()
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))
    assert pipeline.flush(10)

    due = store.next_due(["raising-0"], before)
    assert due is not None
    assert (due - before).total_seconds() >= 3600
    assert 1 == len(good.events)
    assert not pipeline.close()


def test_one_task_is_heard_in_order_although_its_first_event_fails_at_first(store: Store) -> None:
    """A later event of a task waits for the earlier one."""

    class Once:
        """Fails at the first call only."""

        def __init__(self) -> None:
            self.attempts: list[int] = []
            self.failed = False

        @hookimpl
        def on_task_failed(self, task: Task) -> None:
            if not self.failed:
                self.failed = True
                raise Undelivered("not yet")
            self.attempts.append(task.attempt)

    plugin = Once()
    pipeline = pipeline_on(store, plugin)
    task = Task("nightly", "load")
    for number in (1, 2, 3):
        pipeline.failed(task.at_attempt(number), Evidence.returncode(3))

    assert until(lambda: len(plugin.attempts) == 3)
    assert [1, 2, 3] == plugin.attempts
    pipeline.close()


def test_the_live_exception_comes_with_the_first_delivery_only(store: Store) -> None:
    """A redelivery has the texts, and no live object."""

    class Twice:
        """Refuses the first time."""

        def __init__(self) -> None:
            self.seen: list[tuple[str, BaseException | None]] = []

        @hookimpl
        def on_task_failed(self, error: ErrorInfo) -> None:
            self.seen.append((error.message, error.exception))
            if len(self.seen) == 1:
                raise Undelivered("not yet")

    plugin = Twice()
    pipeline = pipeline_on(store, plugin)
    exception = ValueError("no such column")
    pipeline.failed(Task("nightly", "load"), Evidence.exception(exception))

    assert until(lambda: len(plugin.seen) == 2)
    assert [("no such column", exception), ("no such column", None)] == plugin.seen
    pipeline.close()


def test_a_plugin_that_is_not_held_here_keeps_its_rows(store: Store) -> None:
    """A drainer takes only rows of plugins it holds."""
    first = pipeline_on(store, Raising(Undelivered("later", retry_after=60.0)))
    first.failed(Task("nightly", "load"), Evidence.returncode(3))
    good = Good()
    second = pipeline_on(store, good)
    second.flush()

    assert [] == good.events
    assert 1 == store.pending(["raising-0"])
    first.close()


REPORT_AND_DIE = """
import os, signal, sys
from failhook import Evidence, Pipeline, Task
from failhook.manager import Manager
from failhook.plugin import hookimpl
from failhook.stores import open_store
from tests.outbox.world import until

class Good:
    @hookimpl
    def on_task_failed(self, task):
        raise AssertionError("delivered by the wrong process")

manager = Manager()
manager.register(Good, "good-0")
pipeline = Pipeline(open_store(sys.argv[1]), manager=manager, dispatch="none")
pipeline.failed(Task("nightly", "load"), Evidence.exception(ValueError("no such column")))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_failed_returned_for_survives_the_process(tmp_path: Path) -> None:
    """The next process on the same store delivers it, without a live exception."""
    path = tmp_path / "failhook.db"
    killed = subprocess.run(
        [sys.executable, "-c", REPORT_AND_DIE, str(path)], check=False, timeout=60
    )
    seen: list[FailureEvent] = []

    class Later:
        """Listens in the process that comes after."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            seen.append(event)

    manager = Manager()
    manager.register(Later(), "good-0")
    with Pipeline(open_store(str(path)), manager=manager) as pipeline:
        assert pipeline.flush(10)

    assert -9 == killed.returncode
    (event,) = seen
    assert event.error is not None
    assert ("no such column", None) == (event.error.message, event.error.exception)


def test_inline_dispatch_delivers_before_it_returns(store: Store) -> None:
    """Short-lived workers and tests need no close to be heard."""
    good = Good()
    manager = Manager()
    manager.register(good)
    pipeline = Pipeline(store, manager=manager, dispatch="inline")
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))

    assert 1 == len(good.events)
    pipeline.close()


def test_a_plugin_in_quarantine_burns_no_further_tries(store: Store) -> None:
    """After two failures in a row the other events of the batch wait, untried."""
    bad = Raising(ValueError("broken"))
    manager = Manager(limits=Limits(failures=2, probe=3600.0))
    manager.register(bad, "bad")
    pipeline = Pipeline(store, manager=manager, delivery=AT_ONCE, dispatch="none")
    for number in range(10):
        pipeline.failed(Task("nightly", f"task-{number}"), Evidence.returncode(3))
    second = Pipeline(store, manager=manager, delivery=AT_ONCE, random=lambda: 1.0)
    second.flush(10)

    assert 2 == bad.calls
    assert 10 == store.pending(["bad"])
    second.close()


def test_what_a_dead_process_had_claimed_goes_out_at_once(tmp_path: Path) -> None:
    """The next process does not wait for the lease of one that is gone."""
    path = tmp_path / "failhook.db"
    killed = subprocess.run(
        [sys.executable, "-c", CLAIM_AND_DIE, str(path)], check=False, timeout=60
    )
    good = Good()
    pipeline = pipeline_on(open_store(path), good)
    assert pipeline.flush(10)
    pipeline.close()

    assert -9 == killed.returncode
    assert 1 == len(good.events)


CLAIM_AND_DIE = """
import os, signal, sys
from failhook import Evidence, Manager, Pipeline, Task, hookimpl
from failhook.stores import open_store
from tests.outbox.world import until

class Good:
    @hookimpl
    def on_task_failed(self, task):
        os.kill(os.getpid(), signal.SIGKILL)

manager = Manager()
manager.register(Good, "good-0")
pipeline = Pipeline(open_store(sys.argv[1]), manager=manager, dispatch="inline")
pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))
"""


def test_two_slow_drainers_share_a_backlog_without_duplicates(tmp_path: Path) -> None:
    """A batch that takes longer than its lease is renewed, or given back before others take it."""
    path = tmp_path / "failhook.db"
    limits = DeliveryLimits(lease=0.6, mark=0.05, gather=0.0, poll=0.05)
    filling = pipeline_on(open_store(path), Good())
    filling.close()
    heard: list[str] = []

    class Slow(Good):
        """Takes its time."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            threading.Event().wait(0.05)
            heard.append(event.event_id)

    def named(dispatch: Dispatch) -> Pipeline:
        manager = Manager()
        manager.register(Slow(), "slow")
        return Pipeline(open_store(path), manager=manager, delivery=limits, dispatch=dispatch)

    with named("none") as filling:
        for number in range(30):
            filling.failed(Task("nightly", f"task-{number}"), Evidence.returncode(3))
    with named("thread") as first, named("thread") as second:
        for drainer in (first, second):
            drainer.started(Task("nightly", "wake"))
            drainer.failed(Task("nightly", f"wake-{id(drainer)}"), Evidence.returncode(3))
        assert until(lambda: len(set(heard)) == 32)

    assert 32 == len(heard)


def test_a_clock_that_steps_back_puts_nothing_off(store: Store) -> None:
    """What is new is due at once, whatever the clock says."""

    class Stepping(SystemClock):
        """An hour behind after the first look."""

        step = timedelta(0)

        def now(self) -> datetime:
            return super().now() - self.step

    good, clock = Good(), Stepping()
    manager = Manager()
    manager.register(good)
    pipeline = Pipeline(store, manager=manager, clock=clock, dispatch="none")
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))
    clock.step = timedelta(hours=1)
    second = Pipeline(store, manager=manager, clock=clock)
    second.flush(10)

    assert 1 == len(good.events)
    second.close()


def test_a_handler_that_raises_ends_no_lane_and_reaches_no_executor(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logging may fail in every way: the others are heard, and the decision is given."""

    class Broken(logging.Handler):
        """Raises on every record."""

        def handle(self, record: logging.LogRecord) -> bool:
            raise ValueError("I/O operation on closed file")

    monkeypatch.setattr(logging.getLogger("failhook"), "handlers", [Broken()])
    good, bad = Good(), Raising(ValueError("broken"))
    pipeline = pipeline_on(store, bad, good)
    decisions = ten_failures(pipeline)

    assert 10 == len(decisions)
    assert until(lambda: len(good.events) == 10 and len(store.dead_letters()) == 10)
    pipeline.close()


def test_failed_inside_a_hook_does_not_wait_for_itself(store: Store) -> None:
    """Inline delivery skips the lane that asks."""

    class Chaining:
        """Reports a failure of its own from within its hook."""

        pipeline: Pipeline
        heard = 0

        @hookimpl
        def on_task_failed(self, task: Task) -> None:
            self.heard += 1
            if task.name == "load":
                self.pipeline.failed(Task("nightly", "after"), Evidence.returncode(4))

    plugin = Chaining()
    manager = Manager()
    manager.register(plugin)
    pipeline = Pipeline(store, manager=manager, dispatch="inline", inline_timeout=60.0)
    plugin.pipeline = pipeline
    pipeline.failed(Task("nightly", "load"), Evidence.returncode(3))
    pipeline.flush(10)

    assert 2 == plugin.heard
    pipeline.close()
