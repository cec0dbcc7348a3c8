"""Whatever one plugin does, decisions and the deliveries of the others are as without it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path

import pytest

from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.manager import Limits, Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.pipeline import Pipeline
from failhook.plugin import FailureEvent, Task, Undelivered, hookimpl
from failhook.policy import Backoff, Policy
from failhook.stores import open_store
from tests.delivery.clocks import SettableClock
from tests.delivery.plugins import until

CALL = 0.2
SOON = DeliveryLimits(gather=0.0, watch=0.05, poll=0.05, backoff=Backoff(initial=1.0))
STRANGE = [SystemExit(1), KeyboardInterrupt(), RecursionError(), MemoryError(), GeneratorExit()]


class Good:
    """Takes everything."""

    def __init__(self) -> None:
        self.events: list[FailureEvent] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        self.events.append(event)

    @property
    def heard(self) -> list[tuple[str, int, str]]:
        """What was heard, task by task, in order within each."""
        found = [(each.task.name, each.task.attempt, each.event_id) for each in self.events]
        return sorted(found, key=itemgetter(0))


class Hanging:
    """Comes back when the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.calls = 0

    @hookimpl
    def on_task_failed(self) -> None:
        self.calls += 1
        self.over.wait(120)


class Raising:
    """Raises what no handler of `Exception` catches."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    @hookimpl
    def on_task_failed(self) -> None:
        raise self.error


class Throttled(Good):
    """Answers 429 at first, and says when to come back."""

    def __init__(self) -> None:
        super().__init__()
        self.open = False
        self.refused = 0

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        if not self.open:
            self.refused += 1
            raise Undelivered("429 Too Many Requests", retry_after=30.0)
        self.events.append(event)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """Return a plugin that hangs until the test is over."""
    plugin = Hanging()
    yield plugin
    plugin.over.set()


Build = Callable[..., Pipeline]


@pytest.fixture
def build() -> Iterator[Build]:
    """Return a maker of pipelines; whatever is left of them is closed at the end."""
    made: list[Pipeline] = []

    def make(where: str, plugins: Mapping[str, object], clock: SettableClock | None = None):
        clock = clock or SettableClock()
        manager = Manager(clock=clock, limits=Limits(call=CALL))
        for name, plugin in plugins.items():
            manager.register(plugin, name)
        pipeline = Pipeline(
            open_store(where),
            manager=manager,
            policies=Policies(Policy(retries=2, max_infra_refunds=2)),
            delivery=SOON,
            clock=clock,
            random=lambda: 1.0,
        )
        made.append(pipeline)
        return pipeline

    yield make
    for pipeline in made:
        pipeline.close(0.1)


def a_bad_night(pipeline: Pipeline) -> bytes:
    """Report failures of several kinds, retries and a recovery; return the decisions."""
    decisions = []
    for number in range(8):
        task = Task("nightly", f"task-{number}", run_id="r")
        for evidence in (
            Evidence.returncode(-9, oom_host=0),
            Evidence.exception(ValueError("no such column: 'amount'")),
            Evidence.returncode(3),
            Evidence.deadline(30.0, elapsed=31.0),
        )[number % 3 :]:
            decisions.append(pipeline.failed(task, evidence).to_dict())
            task = task.next_attempt()
        pipeline.succeeded(task)
    return json.dumps(decisions).encode()


def test_bad_plugins_change_nothing_for_anybody_else(
    where: str, tmp_path: Path, build: Build, hanging: Hanging
) -> None:
    """One hangs, five raise what ends processes, one is throttled: nobody else can tell."""
    alone, first, last = Good(), Good(), Good()
    raising = {f"raising-{number}": Raising(error) for number, error in enumerate(STRANGE)}
    without = build(str(tmp_path / "without.db"), {"good": alone})
    beside = build(
        where, {"first": first, "hanging": hanging, **raising, "429": Throttled(), "last": last}
    )

    assert a_bad_night(without) == a_bad_night(beside)
    assert until(lambda: len(alone.events) == len(first.events) == len(last.events) > 20)
    assert alone.heard == first.heard == last.heard
    assert until(lambda: hanging.calls == 1)
    assert until(lambda: "hanging" in beside.manager.overdue())
    waiting = {"hanging", "429", *raising}
    assert until(lambda: waiting == {each.plugin for each in beside.store.waiting()})
    assert not beside.close(1.0)


def test_a_throttled_plugin_is_left_alone_for_as_long_as_it_asked(where: str, build: Build) -> None:
    """429 with Retry-After 30: not a call more for 30 s, then everything, in order, once."""
    throttled, good, clock = Throttled(), Good(), SettableClock()
    pipeline = build(where, {"429": throttled, "good": good}, clock)
    for attempt in (1, 2):
        for name in ("one", "two"):
            pipeline.failed(Task("w", name, run_id="r", attempt=attempt), Evidence.returncode(3))

    assert until(lambda: len(good.events) == 4)
    assert pipeline.flush(10.0)
    assert 2 == throttled.refused
    clock.pass_time(29.0)
    assert pipeline.flush(10.0)
    assert 2 == throttled.refused

    throttled.open = True
    clock.pass_time(2.0)
    assert until(lambda: len(throttled.events) == 4)
    assert [("one", 1), ("one", 2), ("two", 1), ("two", 2)] == [
        each[:2] for each in throttled.heard
    ]
    assert good.heard == throttled.heard
    assert pipeline.close(10.0)


def test_a_hung_plugin_costs_one_thread_however_much_is_reported(
    where: str, build: Build, hanging: Hanging
) -> None:
    """Threads do not pile up behind a call that never comes back."""
    good = Good()
    pipeline = build(where, {"hanging": hanging, "good": good})
    a_bad_night(pipeline)
    assert until(lambda: "hanging" in pipeline.manager.overdue())
    before = threading.active_count()

    for number in range(50):
        pipeline.failed(Task("later", f"task-{number}", run_id="r"), Evidence.returncode(3))

    assert until(lambda: len(good.events) > 70)
    assert (1, before) == (hanging.calls, threading.active_count())
