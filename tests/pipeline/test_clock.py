"""The wall clock is set, by an hour, at any moment: durations and deadlines do not notice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.errors import StartRefused
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.policy import MAX_DELAY, Backoff, Policy
from failhook.stores.memory import MemoryStore
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder, SetClock, told

HOUR = 3600.0
BUG = Evidence.exception(ValueError("no such column"))


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_an_attempt_lasted_as_long_as_it_ran(
    make: MakePipeline, heard: Recorder, step: float
) -> None:
    """The event has the start, and the end as long after it; and the observer's own time."""
    clock = SetClock()
    pipeline = make(clock=clock)
    task = pipeline.started(Task("nightly", "load"))
    began = clock.now()
    clock.go_on(60)
    clock.set(step)
    clock.go_on(60)
    pipeline.failed(task, BUG)

    (event,) = heard.events
    assert (began, began + timedelta(seconds=120), began + timedelta(seconds=120 + step)) == (
        event.started_at,
        event.ended_at,
        event.observed_at,
    )


def test_nothing_ends_after_it_was_observed(heard: Recorder) -> None:
    """However long it takes to read a clock, and longer each time, ended_at is not the later."""

    class Slow(SetClock):
        """Takes twice as long to read as the time before."""

        takes = 0.001

        def now(self) -> datetime:
            self.go_on(self.takes)
            self.takes *= 2
            return super().now()

        def monotonic(self) -> float:
            self.now()
            return super().monotonic()

    manager = Manager()
    manager.register(heard, "heard")
    policy = Policy(retries=1)
    with Pipeline(manager=manager, clock=Slow(), dispatch="none") as pipeline:
        task = pipeline.started(Task("nightly", "load", run_id="r1", policy=policy))
        pipeline.failed(task, BUG)
        pipeline.succeeded(pipeline.started(task.next_attempt()))
        failed, recovered = told(pipeline, task)

    assert failed.ended_at is not None
    assert recovered.ended_at is not None
    assert failed.ended_at <= failed.observed_at
    assert recovered.ended_at <= recovered.observed_at


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_a_total_deadline_is_neither_cut_short_nor_prolonged(
    make: MakePipeline, step: float
) -> None:
    """Ten minutes are ten minutes, whatever the wall clock says in between."""
    clock = SetClock()
    pipeline = make(Policy(retries=9, total_deadline=600.0), clock=clock)
    task = pipeline.started(Task("nightly", "load"))
    clock.go_on(300)
    clock.set(step)
    assert pipeline.failed(task, BUG).retry
    task = pipeline.started(task.next_attempt())
    clock.go_on(299)
    assert pipeline.failed(task, BUG).retry
    task = pipeline.started(task.next_attempt())
    clock.set(-step)
    clock.go_on(2)
    assert "TotalDeadlineExceeded" == pipeline.failed(task, BUG).code


def test_a_clock_that_was_set_back_before_a_restart_costs_no_deadline(make: MakePipeline) -> None:
    """A process that did not see the start goes by the wall clock, from nought at the least."""
    clock = SetClock()
    policy = Policy(retries=9, total_deadline=600.0)
    task = make(policy, clock=clock).started(Task("nightly", "load"))
    clock.set(-HOUR)
    restarted = make(policy, clock=clock)
    assert restarted.failed(task, BUG).retry
    clock.go_on(599)
    assert restarted.failed(restarted.started(task.next_attempt()), BUG).retry
    clock.go_on(2)
    last = restarted.started(task.at_attempt(3))
    assert "TotalDeadlineExceeded" == restarted.failed(last, BUG).code


POLICY = Policy(
    retries=3,
    max_infra_refunds=2,
    backoff=Backoff(initial=30.0, jitter=False),
    infra_backoff=Backoff(initial=5.0, jitter=False),
    total_deadline=1_000.0,
)
STEPS = st.tuples(
    st.sampled_from(["start", "fail", "kill", "succeed", "look"]),
    st.integers(1, 3),
    st.sampled_from([0.0, HOUR, -HOUR]),
    st.floats(0.0, 200.0),
)


@pytest.fixture(scope="module")
def timed() -> Iterator[tuple[Pipeline, SetClock]]:
    """Return one pipeline for all examples, and its clock."""
    clock, manager = SetClock(), Manager()
    manager.register(Recorder(), "heard")
    with Pipeline(manager=manager, clock=clock, dispatch="none") as pipeline:
        yield pipeline, clock


@given(st.lists(STEPS, max_size=12))
def test_no_time_is_negative_and_no_wait_is_longer_than_was_asked(
    timed: tuple[Pipeline, SetClock], steps: list[tuple[str, int, float, float]]
) -> None:
    """An hour forward or back between any two calls, of any order."""
    pipeline, clock = timed
    pipeline.store = MemoryStore()  # what is between attempts is this example's alone
    task = Task("nightly", "load", policy=POLICY)
    began = clock.monotonic()
    for what, number, step, seconds in steps:
        clock.set(step)
        clock.go_on(seconds)
        each = task.at_attempt(number)
        if what == "start":
            try:
                pipeline.started(each)
            except StartRefused:
                continue
        elif what in ("fail", "kill"):
            evidence = BUG if what == "fail" else Evidence.returncode(-9, oom_host=0)
            decision = pipeline.failed(each, evidence)
            assert 0.0 <= decision.delay <= MAX_DELAY
            if decision.code == "TotalDeadlineExceeded":
                assert clock.monotonic() - began + 120.0 > 1_000.0
        elif what == "succeed":
            pipeline.succeeded(each)
        for granted in pipeline.between_attempts():
            assert 0.0 <= granted.delay <= granted.decision.delay
    clock.set(-HOUR)
    for event in told(pipeline, task):
        assert event.ended_at is not None
        assert event.started_at is None or event.started_at <= event.ended_at
        times = [each.occurred_at for each in event.phases.transitions]
        assert sorted(times) == times
