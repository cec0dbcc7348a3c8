"""A marked test is marked to its end, and touches nothing that has really failed."""

from __future__ import annotations

from failhook.event import EventType
from failhook.evidence import Evidence
from failhook.task import Task
from tests.pipeline.conftest import MakePipeline, Recorder

BROKEN = Evidence.exception(KeyError("a"))


def test_the_recovery_of_a_marked_test_is_marked_too(make: MakePipeline, heard: Recorder) -> None:
    """Nobody takes the end of a test for news."""
    pipeline, task = make(), Task("nightly", "load", run_id="test")

    pipeline.failed(task, BROKEN, simulated=True)
    pipeline.succeeded(task.next_attempt(), simulated=True)

    assert [(EventType.FAILED, True), (EventType.RECOVERED, True)] == [
        (each.type, each.simulated) for each in heard.events
    ]


def test_a_marked_test_makes_no_real_failure_good(make: MakePipeline, heard: Recorder) -> None:
    """Last night's failure waits for a run that really succeeds."""
    pipeline = make()
    pipeline.failed(Task("nightly", "load", run_id="mon"), BROKEN)

    pipeline.succeeded(Task("nightly", "load", run_id="test"), simulated=True)
    pipeline.succeeded(Task("nightly", "load", run_id="tue"))

    assert [("mon", False), ("tue", False)] == [
        (each.task.run_id, each.simulated) for each in heard.events
    ]
