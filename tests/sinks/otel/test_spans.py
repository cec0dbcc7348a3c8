"""One span per attempt: true times, one identity for ever, and a place in its trace."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from failhook.details import FailureDetails, Kind
from failhook.event import EventType
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.manager.provisions import VolatileState
from failhook.phases import Phase, PhaseHistory
from failhook.pipeline import Pipeline
from failhook_sinks.otel.attempt import nanoseconds
from tests.sinks.otel.conftest import BROKEN, LOST, START, TASK, an_event, tell

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECOND = TASK.next_attempt()
THIRD = SECOND.next_attempt()


def test_a_span_lasts_as_long_as_the_attempt_did(sink, collector):
    """Start and end are the attempt's own, however much later it is told of."""
    tell(sink, an_event())

    child, span = collector.spans
    assert (nanoseconds(START), nanoseconds(START + timedelta(minutes=5))) == (span.start, span.end)
    assert ("Executing", span.id, span.start, span.end) == (
        child.name,
        child.parent,
        child.start,
        child.end,
    )


@pytest.mark.parametrize(("year", "expected"), [(1, 0), (2555, 2**64 - 1), (9999, 2**64 - 1)])
def test_a_time_that_has_no_number_is_the_nearest_that_has_one(sink, collector, year, expected):
    """A host whose clock is wrong loses no span."""
    at = START.replace(year=year)

    tell(sink, an_event(started_at=at, ended_at=at, observed_at=at, phases=PhaseHistory()))

    (span,) = collector.spans
    assert (expected, expected) == (span.start, span.end)


@pytest.mark.parametrize(
    ("details", "result"),
    [
        (BROKEN, "failure"),
        (LOST, "error"),
        (FailureDetails(kind=Kind.TIMEOUT, reason="ExecutionTimeout"), "timeout"),
        (FailureDetails(kind=Kind.UNKNOWN, reason="Terminated"), "failure"),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
def test_each_kind_has_its_result_and_is_an_error(sink, collector, details, result):
    """Readers who know the conventions tell the kinds apart without knowing failhook."""
    tell(sink, an_event(details=details))

    span = collector.spans[-1]
    assert result == span.attributes["cicd.pipeline.task.run.result"]
    assert details.reason == span.attributes["error.type"]
    assert span.error == (details.message or f"{details.kind.value} {details.reason}")


def test_a_cancel_is_no_error(sink, collector):
    """Somebody wanted it: neither ERROR nor error.type."""
    tell(sink, an_event(details=FailureDetails(kind=Kind.MANUAL, reason="Cancelled", actor="ann")))

    span = collector.spans[-1]
    assert "cancellation" == span.attributes["cicd.pipeline.task.run.result"]
    assert span.error is None
    assert "error.type" not in span.attributes
    assert "ann" == span.attributes["failhook.failure.actor"]


def test_a_span_says_what_the_event_says(sink, collector):
    """Names of the conventions where there are some, failhook's own for the rest."""
    details = replace(LOST, exit_code=137, signal=9, node="n1", executor="local", rule="process.x")
    tell(sink, an_event(details=details, task=replace(TASK, log_url="https://logs.example.org/1")))

    assert {
        "cicd.pipeline.name": "nightly",
        "cicd.pipeline.run.id": "r1",
        "cicd.pipeline.task.name": "load",
        "cicd.pipeline.task.run.id": TASK.attempt_key,
        "cicd.pipeline.task.run.result": "error",
        "cicd.pipeline.task.run.url.full": "https://logs.example.org/1",
        "cicd.worker.name": "n1",
        "error.type": "WorkerLost",
        "process.exit.code": 137,
        "failhook.attempt": 1,
        "failhook.attempt.max": 3,
        "failhook.budget.infra.limit": 0,
        "failhook.budget.infra.used": 0,
        "failhook.budget.system.limit": 3,
        "failhook.budget.system.used": 0,
        "failhook.budget.user.limit": 2,
        "failhook.budget.user.used": 1,
        "failhook.event": "failed",
        "failhook.executor": "local",
        "failhook.failure.confidence": "likely",
        "failhook.failure.kind": "infra",
        "failhook.failure.reason": "WorkerLost",
        "failhook.failure.rule": "process.x",
        "failhook.failure.signal": 9,
        "failhook.failure.started": "maybe",
        "failhook.label.tier": "gold",
        "failhook.namespace": "default",
        "failhook.owner": "team:data",
        "failhook.retry.charge": "user",
        "failhook.retry.decision": "retry",
        "failhook.retry.delay": 0.0,
        "failhook.retry.rule": "gate.user",
    } == collector.spans[-1].attributes


def test_ids_never_change(make_sink, collector):
    """An upgrade, a restart or a second observer makes no second span of an attempt."""
    tell(make_sink(), an_event())
    tell(make_sink(), replace(an_event(), observer="elsewhere"))

    phase, first, phase_again, again = collector.spans
    assert ("b40cb743a6b40c4cf2fb69ce930ba65a", "3eb16eae0290c81f") == (first.trace, first.id)
    assert (first, phase) == (again, phase_again)


def test_whatever_tells_attempts_apart_tells_spans_apart(sink, collector):
    """Attempt, generation, map index, run, task, workflow, namespace; one trace for each run."""
    other = [replace(TASK, run_id="r2"), replace(TASK, workflow="w2"), replace(TASK, namespace="n")]
    same = [TASK, SECOND, TASK.cleared(), replace(TASK, map_index=1), replace(TASK, name="load2")]
    tell(sink, *(an_event(task=task) for task in [*same, *other]))

    spans = [span for span in collector.spans if span.name != "Executing"]
    assert len(same) + len(other) == len({span.id for span in spans})
    assert 1 == len({span.trace for span in spans[: len(same)]})
    assert 1 + len(other) == len({span.trace for span in spans})


def test_a_span_has_its_place_in_the_callers_trace(sink, collector):
    """The host's traceparent is the parent."""
    tell(sink, an_event(task=replace(TASK, traceparent=PARENT)))

    span = collector.spans[-1]
    assert PARENT == f"00-{span.trace}-{span.parent}-01"


def test_a_caller_that_does_not_sample_gets_no_span_but_a_record(sink, collector):
    """The sampling decision is the host's; logs and numbers do not depend on it."""
    tell(sink, an_event(task=replace(TASK, traceparent=f"{PARENT[:-2]}00")))

    assert [] == collector.spans
    assert 1 == len(collector.records)
    assert ["metrics", "logs"] == collector.requests


def test_an_attempt_is_linked_to_those_before_across_restarts(make_sink, collector):
    """Each in a trace of its own, told by a process of its own."""
    state = VolatileState()
    traced = [
        replace(task, traceparent=f"00-{number:032x}-b7ad6b7169203331-01")
        for number, task in enumerate((TASK, SECOND, THIRD), 1)
    ]
    for task in traced[:2]:
        tell(make_sink(state), an_event(task=task))
    tell(make_sink(state), an_event(EventType.RECOVERED, task=traced[2]))

    first, second, third = [span for span in collector.spans if span.name != "Executing"]
    assert () == first.links
    assert ((first.trace, first.id),) == second.links
    assert ((first.trace, first.id), (second.trace, second.id)) == third.links
    assert 3 == len({first.trace, second.trace, third.trace})


@pytest.mark.parametrize("last", [EventType.FAILED, EventType.RECOVERED])
def test_nothing_is_remembered_of_a_task_that_is_over(make_sink, collector, last):
    """The state in the store does not grow for ever."""
    state = VolatileState()
    tell(make_sink(state), an_event())
    assert {} != state.items("")

    final = FailureDetails(kind=Kind.MANUAL, reason="Cancelled")
    tell(make_sink(state), an_event(last, task=SECOND, details=final))

    assert {} == state.items("")


def test_phases_of_earlier_attempts_are_theirs(sink, collector):
    """A task's history goes through all attempts; a span has those of its own."""
    minute = timedelta(minutes=1)
    history = PhaseHistory()
    names = (Phase.EXECUTING, Phase.RETRYABLE_FAILURE, Phase.QUEUED, Phase.EXECUTING)
    for number, phase in enumerate((*names, Phase.PERMANENT_FAILURE)):
        history = history.then(phase, START + minute * number, f"step {number}")
    start, end = START + 2 * minute, START + 4 * minute
    tell(sink, an_event(task=SECOND, phases=history, started_at=start, ended_at=end))

    *children, span = collector.spans
    assert [("Queued", 2, 3, "step 2"), ("Executing", 3, 4, "step 3")] == [
        (
            child.name,
            (child.start - nanoseconds(START)) // 60_000_000_000,
            (child.end - nanoseconds(START)) // 60_000_000_000,
            child.attributes["failhook.phase.message"],
        )
        for child in children
    ]
    assert {span.id} == {child.parent for child in children}


def test_a_start_that_nobody_saw_follows_from_the_time_it_took(sink, collector):
    """A supervisor's limit or a scheduler's clock may know how long; else the span is a moment."""
    tell(sink, an_event(started_at=None, phases=PhaseHistory(), details=replace(LOST, elapsed=60)))
    tell(sink, an_event(task=SECOND, started_at=None, phases=PhaseHistory()))

    assert [60, 0] == [(span.end - span.start) // 10**9 for span in collector.spans]


def test_a_better_verdict_is_told_below_the_span(make_sink, collector):
    """A span that went out is not sent a second time with other words in it."""
    state = VolatileState()
    better = an_event(
        EventType.AMENDED,
        details=replace(LOST, reason="Evicted"),
        previous=LOST,
        revision=1,
    )
    tell(make_sink(state), an_event(), better)
    tell(make_sink(), better)  # by somebody who remembers nothing

    _, span, note, again = collector.spans
    assert (span.trace, span.id, "nightly.load amended", None) == (
        note.trace,
        note.parent,
        note.name,
        note.error,
    )
    assert "Evicted" == note.attributes["failhook.failure.reason"]
    assert "WorkerLost" == note.attributes["failhook.previous.reason"]
    assert "cicd.pipeline.task.run.result" not in note.attributes
    assert note == again


def test_what_was_given_up_and_succeeded_is_a_second_span_with_a_link(collector, make_sink):
    """The loss was declared, the success is true: neither is taken back, and ids differ."""
    manager = Manager()
    manager.register(make_sink(), "otel")
    pipeline = Pipeline(manager=manager, dispatch="inline")
    task = pipeline.started(TASK)
    pipeline.failed(task, Evidence.returncode(-9))
    pipeline.succeeded(task)
    pipeline.close()

    failed, amended, recovered = [each for each in collector.spans if each.name != "Executing"]
    assert failed.id == amended.parent
    assert ("success", None) == (
        recovered.attributes["cicd.pipeline.task.run.result"],
        recovered.error,
    )
    assert ((failed.trace, failed.id),) == recovered.links
    assert 3 == len({failed.id, amended.id, recovered.id})
    assert amended.attributes["failhook.succeeded"] is True


def test_a_success_in_doubt_is_a_success_that_says_so(sink, collector):
    """Nothing failed, so nothing is red; what was seen is there to be found."""
    tell(sink, an_event(EventType.SUSPECT_SUCCESS))

    span = collector.spans[-1]
    assert ("success", "suspect_success", "WorkerLost", None) == (
        span.attributes["cicd.pipeline.task.run.result"],
        span.attributes["failhook.event"],
        span.attributes["failhook.failure.reason"],
        span.error,
    )


def test_a_marked_test_is_marked(sink, collector):
    """`failhook simulate` shows up as what it is, and is not counted."""
    tell(sink, an_event(simulated=True))

    assert collector.spans[-1].attributes["failhook.simulated"] is True
    assert {} == collector.numbers


def test_long_texts_stay_out_of_the_status(sink, collector):
    """256 characters at most; the record has the whole."""
    tell(sink, an_event(details=replace(LOST, message="x" * 900)))

    assert 256 == len(collector.spans[-1].error)
    assert "x" * 900 in collector.records[0].body.string_value
