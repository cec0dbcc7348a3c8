"""Collectors, a sink that talks to them, and events to tell of."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from failhook.clock import SystemClock
from failhook.details import Confidence, FailureDetails, Kind
from failhook.event import EventType, FailureEvent, event_id
from failhook.gate.decide import decide
from failhook.manager.provisions import VolatileState
from failhook.phases import Phase, PhaseHistory
from failhook.plugin import Counters
from failhook.policy import Policy
from failhook.task import Task
from failhook_sinks.otel import OtelSink
from tests.sinks.otel.collector import over_grpc, over_http

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TASK = Task(
    "nightly",
    "load",
    run_id="r1",
    owner="team:data",
    labels={"tier": "gold"},
    policy=Policy(retries=2),
)
LOST = FailureDetails(kind=Kind.INFRA, reason="WorkerLost", message="The worker is gone.")
BROKEN = FailureDetails(
    kind=Kind.APPLICATION, reason="UserException", confidence=Confidence.CONFIRMED
)
ROUTES = {"http": (over_http, "http/protobuf"), "grpc": (over_grpc, "grpc")}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    """Keep what this machine says of OpenTelemetry out."""
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)


@pytest.fixture(params=["http"])
def collector(request, monkeypatch):
    """A collector to which the environment leads; over HTTP unless a test asks for both."""
    listening, protocol = ROUTES[request.param]
    with listening() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        yield found


@pytest.fixture
def make_sink():
    """Return a maker of sinks, which are closed at the end."""
    made = []

    def make(state=None, clock=None, **settings):
        made.append(OtelSink(settings, state or VolatileState(), clock or SystemClock()))
        return made[-1]

    yield make
    for sink in made:
        sink.close(1.0)


@pytest.fixture
def sink(make_sink):
    """A sink of the default settings."""
    return make_sink()


def tell(sink, *events):
    """Hand events to the hooks that they are for."""
    hooks = {
        EventType.FAILED: sink.on_task_failed,
        EventType.RECOVERED: sink.on_task_recovered,
        EventType.AMENDED: sink.on_failure_amended,
        EventType.SUSPECT_SUCCESS: sink.on_suspect_success,
    }
    for event in events:
        hooks[event.type](event)


def an_event(kind=EventType.FAILED, *, task=TASK, details=LOST, minutes=5, **more):
    """Return an event of an attempt that ran for some minutes."""
    if kind in (EventType.FAILED, EventType.AMENDED):
        decision = decide(details, Policy(retries=2), Counters(), attempt=task.attempt)
        more = {"decision": decision, **more}
    end = START + timedelta(minutes=minutes)
    phases = PhaseHistory().then(Phase.EXECUTING, START).then(Phase.RETRYABLE_FAILURE, end)
    given = {"started_at": START, "ended_at": end, "observed_at": end, "phases": phases}
    revision = more.pop("revision", 0)
    return FailureEvent(
        type=kind,
        event_id=event_id(kind, task.attempt_key, revision),
        revision=revision,
        task=task,
        failure_details=details,
        **{**given, **more},
    )
