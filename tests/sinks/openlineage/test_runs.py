"""One run per attempt: the same id for ever, and times that put its events in order."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest

from failhook.event import EventType
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from failhook_sinks.openlineage.runs import parent_run_id, run_id, span
from tests.pipeline.conftest import Recorder
from tests.sinks.openlineage.conftest import LOST, START, TASK, an_event, tell

KILL = Evidence.returncode(-9)
EVICTED = Evidence.verdict("infra", "Evicted", confidence="confirmed", started="yes")


def told_by_a_pipeline(*, bug_first=False):
    """Return the events of a task that was lost, judged anew, and succeeded after all."""
    heard = Recorder()
    manager = Manager()
    manager.register(heard, "heard")
    pipeline = Pipeline(manager=manager, dispatch="inline")
    task = Task("nightly", "load", run_id="r1", policy=Policy(retries=5))
    if bug_first:
        task = pipeline.started(task)
        pipeline.failed(task, Evidence.exception(ValueError("no such column")))
        task = task.next_attempt()
    task = pipeline.started(task)
    for evidence in (KILL, EVICTED):
        pipeline.failed(task, evidence)
    pipeline.succeeded(task)
    pipeline.close()
    return heard.events


def as_seen(events):
    """Return what a backend shows of each run that goes by the time of events and merges facets."""
    runs = {}
    for event in sorted(events, key=lambda event: event["eventTime"]):
        _, facets = runs.get(event["run"]["runId"], ("", {}))
        runs[event["run"]["runId"]] = event["eventType"], facets | event["run"]["facets"]
    return runs


def test_a_run_id_never_changes():
    """An upgrade must not turn a run that is told again into another one."""
    without = replace(an_event(), started_at=None)

    assert "019b7ca9-8c88-7b96-9973-d226786037d5" == run_id(an_event())
    assert "15e2a9d1-db2f-583a-a12c-462e413da5e6" == run_id(without)
    assert "8259ec4b-e99c-5477-86ef-087ed17f08c0" == parent_run_id(TASK)


def test_every_report_of_an_attempt_is_the_same_run():
    """Failed, amended and recovered: one attempt, one run."""
    kinds = (EventType.FAILED, EventType.AMENDED, EventType.RECOVERED, EventType.SUSPECT_SUCCESS)
    later = [an_event(kind, minutes=minutes) for kind, minutes in zip(kinds, range(4), strict=True)]

    assert 1 == len({run_id(event) for event in later})


def test_whatever_tells_attempts_apart_tells_runs_apart():
    """Attempt, generation, map index, run, task, workflow and namespace."""
    tasks = [
        TASK,
        TASK.next_attempt(),
        TASK.cleared(),
        replace(TASK, map_index=1),
        replace(TASK, run_id="r2"),
        replace(TASK, name="load2"),
        replace(TASK, workflow="nightly2"),
        replace(TASK, namespace="prod"),
    ]
    for more in ({}, {"started_at": None}):
        assert len(tasks) == len({run_id(an_event(task=task, **more)) for task in tasks})
    assert 4 == len({parent_run_id(task) for task in tasks})


def test_run_ids_begin_with_the_time_where_one_is_known():
    """Version 7 sorts by start in a backend's index; without a time it is a hash alone."""
    known = uuid.UUID(run_id(an_event()))
    scheduled = uuid.UUID(run_id(an_event(task=replace(TASK, logical_time=START), started_at=None)))

    for found in (known, scheduled):
        assert (7, uuid.RFC_4122) == (found.version, found.variant)
        assert int(START.timestamp() * 1000) == found.int >> 80
    assert 5 == uuid.UUID(run_id(an_event(started_at=None))).version


def test_a_run_begins_when_the_attempt_began():
    """What was not seen is taken from how long it ran, else it is as short as can be."""
    timed = replace(LOST, elapsed=60.0)
    end = START + timedelta(minutes=5)

    assert START == span(an_event()).start
    assert end - timedelta(minutes=1) == span(an_event(details=timed, started_at=None)).start
    assert end - timedelta(microseconds=1) == span(an_event(started_at=None)).start


def test_a_run_never_ends_before_it_began():
    """Also where the clock was set back while it ran."""
    back = span(an_event(ended_at=START - timedelta(hours=1)))

    assert back.start < back.end


def test_what_was_given_up_too_early_ran_on_until_it_reported():
    """Its run ends with the report of success; an amendment of the verdict leaves the end alone."""
    _, amended, after_all, _ = told_by_a_pipeline()

    assert after_all.observed_at <= span(after_all).end
    assert amended.ended_at + timedelta(microseconds=1) == span(amended).end


@pytest.mark.parametrize("bug_first", [False, True])
def test_any_order_of_events_ends_with_the_same_truth(make_sink, backend, bug_first):
    """Late, repeated, out of order: the state and the facets of each run come out alike."""
    heard = told_by_a_pipeline(bug_first=bug_first)
    sink = make_sink()
    views = []
    for order in permutations(heard):
        backend.events.clear()
        for event in (*order, order[0]):
            tell(sink, event)
        views.append(as_seen(backend.events))

    assert ["failed", "amended", "amended", "recovered"] == [e.type for e in heard][-4:]
    assert all(views[0] == view for view in views)
    state, facets = views[0][run_id(heard[-1])]
    assert "COMPLETE" == state
    assert facets["failhook_failure"]["succeeded"] is True
    assert {"kind": "infra", "reason": "Evicted"} == facets["failhook_failure"]["previous"]
    assert 1 + bug_first == len(views[0])


def test_a_success_that_another_clock_dates_back_still_comes_last(make_sink, backend):
    """The one who gave the attempt up had a clock an hour ahead."""
    failed, amended, after_all, recovered = told_by_a_pipeline()
    early = {"ended_at": failed.ended_at - timedelta(hours=1)}
    late = replace(after_all, observed_at=failed.observed_at - timedelta(hours=1))
    sink = make_sink()
    for event in (replace(recovered, **early), late, amended, failed):
        tell(sink, event)

    assert "COMPLETE" == as_seen(backend.events)[run_id(failed)][0]
