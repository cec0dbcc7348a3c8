"""Counters with few attributes, and one log record per event that leads to its span."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failhook.details import FailureDetails, Kind
from failhook.error_info import ErrorInfo
from failhook.event import EventType
from tests.sinks.otel.collector import attributes
from tests.sinks.otel.conftest import BROKEN, LOST, START, TASK, an_event, tell

SECOND = TASK.next_attempt()


def test_failures_are_counted_by_what_they_were(sink, collector):
    """Names and tokens alone: no id, no attempt, no text makes a series of its own."""
    tell(sink, an_event(), an_event(task=SECOND), an_event(details=BROKEN, task=SECOND.cleared()))
    assert sink.close(1.0)

    points = collector.numbers["failhook.task.failures"]
    assert {"WorkerLost": 2, "UserException": 1} == {
        attributes(point)["error.type"]: point.as_int for point in points
    }
    assert {
        "cicd.pipeline.name": "nightly",
        "cicd.pipeline.task.name": "load",
        "cicd.pipeline.task.run.result": "error",
        "error.type": "WorkerLost",
        "failhook.failure.kind": "infra",
        "failhook.retry.decision": "retry",
    } == attributes(points[0])


def test_durations_are_in_seconds_up_to_a_day(sink, collector):
    """Failed attempts and the one that succeeded; what has no start has no duration."""
    tell(
        sink,
        an_event(minutes=5),
        an_event(task=SECOND, started_at=None),
        an_event(EventType.RECOVERED, task=SECOND.next_attempt(), minutes=7),
    )
    assert sink.close(1.0)

    failed, recovered = collector.numbers["failhook.task.attempt.duration"]
    assert (300.0, 1) == (failed.sum, failed.count)
    assert (420.0, 1) == (recovered.sum, recovered.count)
    assert "error.type" not in attributes(recovered)
    assert (0.1, 86_400) == (failed.explicit_bounds[0], failed.explicit_bounds[-1])


def test_an_event_that_is_told_again_is_counted_once(sink, collector):
    """At-least-once delivery does not make a failure two."""
    tell(sink, an_event(), an_event())
    assert sink.close(1.0)

    (point,) = collector.numbers["failhook.task.failures"]
    assert 1 == point.as_int


def test_totals_of_a_busy_second_go_out_together(sink, collector):
    """All totals are sent each time, so a storm must not send them with each event."""
    tell(sink, *(an_event(task=replace(TASK, run_id=f"r{number}")) for number in range(20)))
    assert sink.close(1.0)

    (point,) = collector.numbers["failhook.task.failures"]
    assert 20 == point.as_int
    assert collector.requests.count("metrics") < 20 == collector.requests.count("logs")


@pytest.mark.parametrize(
    ("event", "name", "severity"),
    [
        (an_event(), "failed", "WARN"),
        (an_event(details=replace(BROKEN, deterministic=True)), "failed", "ERROR"),
        (an_event(details=FailureDetails(kind=Kind.MANUAL, reason="x")), "failed", "INFO"),
        (an_event(EventType.RECOVERED), "recovered", "INFO"),
        (an_event(EventType.AMENDED, previous=LOST), "amended", "INFO"),
        (an_event(EventType.SUSPECT_SUCCESS), "suspect_success", "WARN"),
    ],
    ids=["retry", "final", "cancel", "recovered", "amended", "suspect"],
)
def test_each_event_is_a_record_within_its_span(sink, collector, event, name, severity):
    """ERROR is what nobody will try again; whoever reads it gets to the span and back."""
    tell(sink, event)

    (record,) = collector.records
    span = collector.spans[-1]
    assert (f"failhook.task.{name}", severity) == (record.event_name, record.severity_text)
    assert (span.trace, span.id) == (record.trace_id.hex(), record.span_id.hex())
    assert record.body.string_value.startswith("nightly.load attempt 1")
    assert event.task.attempt_key == attributes(record)["cicd.pipeline.task.run.id"]


def test_an_exception_is_in_the_record_and_no_event_of_the_span(sink, collector):
    """Span events for exceptions are deprecated."""
    error = ErrorInfo(
        type="builtins.ValueError", message="no such column", traceback="Traceback ...\nValueError"
    )
    tell(sink, an_event(details=BROKEN, error=error))

    assert {
        "exception.type": "ValueError",
        "exception.message": "no such column",
        "exception.stacktrace": "Traceback ...\nValueError",
    }.items() <= attributes(collector.records[0]).items()
    assert [] == [event for span in collector.items("traces") for event in span.events]


def test_plain_text_is_no_exception_type(sink, collector):
    """A host that has only a message is believed to have only a message."""
    tell(sink, an_event(error=ErrorInfo(type="builtins.str", message="it broke")))

    found = attributes(collector.records[0])
    assert ("it broke", None) == (found["exception.message"], found.get("exception.type"))


def test_a_record_has_the_time_of_the_failure(sink, collector):
    """Also where it is told hours later."""
    event = an_event()
    tell(sink, event)

    (record,) = collector.records
    assert (event.ended_at - START).total_seconds() == (
        record.time_unix_nano / 1e9 - START.timestamp()
    )
