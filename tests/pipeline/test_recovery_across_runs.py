"""Last night's run failed for good; tonight's succeeds, and listeners hear that the job is well."""

from __future__ import annotations

from dataclasses import replace

from failhook.event import EventType
from failhook.evidence import Evidence
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder, SetClock

HOUR = 3600.0


def night(run: str, *, index: int | None = None) -> Task:
    """Return the task in one night's run."""
    return Task("nightly", "load", run_id=run, map_index=index)


def ran(pipeline: Pipeline, clock: SetClock, task: Task, *, fails: bool) -> Task:
    """Run a task for an hour, and report how it ended."""
    task = pipeline.started(task)
    clock.go_on(HOUR)
    if fails:
        pipeline.failed(task, Evidence.exception(KeyError(task.run_id)))
    else:
        pipeline.succeeded(task)
    clock.go_on(HOUR)
    return task


def recoveries(heard: Recorder) -> list[str]:
    """Return the runs that listeners were told have recovered."""
    return [each.task.run_id for each in heard.events if each.type is EventType.RECOVERED]


def test_the_first_run_that_succeeds_makes_the_failed_ones_good(
    make: MakePipeline, heard: Recorder
) -> None:
    """Once, with the newest failure's verdict; nights that were well otherwise say nothing."""
    clock = SetClock()
    pipeline = make(clock=clock)

    for run, fails in (
        ("mon", False),
        ("tue", True),
        ("wed", True),
        ("thu", False),
        ("fri", False),
    ):
        ran(pipeline, clock, night(run), fails=fails)

    assert ["thu"] == recoveries(heard)
    recovered = heard.events[-1]
    assert "UserException" == recovered.failure_details.reason
    assert "KeyError: 'wed'" == recovered.first_error
    assert 1 == recovered.task.attempt
    assert recovered.started_at is not None
    assert recovered.started_at > max(each.observed_at for each in heard.events[:-1])


def test_a_run_that_was_under_way_makes_no_other_good(make: MakePipeline, heard: Recorder) -> None:
    """It proves nothing of what failed meanwhile; one that begins later does."""
    clock = SetClock()
    pipeline = make(clock=clock)
    beside = pipeline.started(night("beside"))
    clock.go_on(1)

    ran(pipeline, clock, night("failing"), fails=True)
    pipeline.succeeded(beside)
    assert [] == recoveries(heard)

    ran(pipeline, clock, night("later"), fails=False)
    assert ["later"] == recoveries(heard)


def test_a_run_that_failed_is_made_good_whatever_became_of_runs_beside_it(
    make: MakePipeline, heard: Recorder
) -> None:
    """That the newest failure was taken back, or is too new, hides no older one."""
    clock = SetClock()
    pipeline = make(clock=clock)
    first, second = pipeline.started(night("a")), pipeline.started(night("b"))
    pipeline.failed(first, Evidence.exception(KeyError("a")))
    clock.go_on(1)
    third = pipeline.started(night("c"))
    clock.go_on(1)
    pipeline.failed(second, Evidence.exception(KeyError("b")))
    pipeline.succeeded(third)
    assert ["c"] == recoveries(heard)
    assert "KeyError: 'a'" == heard.events[-1].first_error

    pipeline.failed(first.next_attempt(), Evidence.exception(KeyError("a")))
    pipeline.succeeded(second)
    clock.go_on(1)
    ran(pipeline, clock, night("d"), fails=False)
    assert ["c", "b", "d"] == recoveries(heard)


def test_a_failure_whose_retry_never_came_is_made_good_too(
    make: MakePipeline, heard: Recorder
) -> None:
    """The task was cleared, or its scheduler gave it up: the job is well with its next success."""
    clock = SetClock()
    pipeline = make(Policy(retries=1), clock=clock)
    ran(pipeline, clock, night("mon"), fails=True)

    ran(pipeline, clock, replace(night("mon"), generation=2), fails=False)
    ran(pipeline, clock, night("tue"), fails=False)

    (recovered,) = [each for each in heard.events if each.type is EventType.RECOVERED]
    assert ("mon", 2) == (recovered.task.run_id, recovered.task.generation)


def test_a_success_whose_start_nobody_saw_counts_as_begun_now(
    make: MakePipeline, heard: Recorder
) -> None:
    """A host that never says ``started`` has its recoveries all the same."""
    clock = SetClock()
    pipeline = make(clock=clock)
    pipeline.failed(night("mon"), Evidence.returncode(3))
    clock.go_on(HOUR)

    pipeline.succeeded(night("tue"))

    assert ["tue"] == recoveries(heard)


def test_each_index_of_a_mapped_task_recovers_by_itself(
    make: MakePipeline, heard: Recorder
) -> None:
    """One index that is well again says nothing of another."""
    clock = SetClock()
    pipeline = make(clock=clock)
    for index in (0, 1):
        ran(pipeline, clock, night("mon", index=index), fails=True)

    ran(pipeline, clock, night("tue", index=0), fails=False)

    (recovered,) = [each for each in heard.events if each.type is EventType.RECOVERED]
    assert 0 == recovered.task.map_index


def test_a_run_that_recovers_from_its_own_failures_is_told_once(
    make: MakePipeline, heard: Recorder
) -> None:
    """Its own failures and the last run's are one recovery; a cleared task is no other job."""
    clock = SetClock()
    pipeline = make(Policy(retries=1), clock=clock)
    first = ran(pipeline, clock, night("mon"), fails=True)
    ran(pipeline, clock, first.next_attempt(), fails=True)
    second = ran(pipeline, clock, night("tue"), fails=True)

    ran(pipeline, clock, second.next_attempt(), fails=False)
    ran(pipeline, clock, replace(night("mon"), generation=2), fails=False)

    assert ["tue"] == recoveries(heard)


def test_a_late_success_leaves_nothing_to_recover_from(make: MakePipeline, heard: Recorder) -> None:
    """The run that was given up has succeeded after all: the next one has nothing to make good."""
    clock = SetClock()
    pipeline = make(clock=clock)
    lost = pipeline.started(night("mon"))
    pipeline.failed(lost, Evidence.heartbeat(timeout=60))
    clock.go_on(HOUR)
    pipeline.succeeded(lost)

    ran(pipeline, clock, night("tue"), fails=False)

    assert ["mon"] == recoveries(heard)


def test_what_is_forgotten_is_not_recovered_from(make: MakePipeline, heard: Recorder) -> None:
    """As any other history that is beyond what is kept."""
    clock = SetClock()
    pipeline = make(clock=clock)
    ran(pipeline, clock, night("mon"), fails=True)
    pipeline.store.forget(clock.now())

    ran(pipeline, clock, night("tue"), fails=False)

    assert [] == recoveries(heard)
