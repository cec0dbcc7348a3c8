"""A backend, a sink that talks to it, and events to tell of."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from failhook.clock import SystemClock
from failhook.details import Confidence, FailureDetails, Kind
from failhook.event import EventType, FailureEvent, event_id
from failhook.gate.decide import decide
from failhook.phases import Phase, PhaseHistory
from failhook.plugin import Counters
from failhook.policy import Policy
from failhook.task import Task
from failhook_sinks.openlineage import OpenLineageSink
from tests.sinks.openlineage.receiver import listening

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TASK = Task("nightly", "load", run_id="r1", owner="team:data", labels={"tier": "gold"})
LOST = FailureDetails(kind=Kind.INFRA, reason="WorkerLost", message="The worker is gone.")
BROKEN = FailureDetails(
    kind=Kind.APPLICATION, reason="UserException", confidence=Confidence.CONFIRMED
)


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch, tmp_path):
    """Keep what this machine says of OpenLineage out."""
    for name in list(os.environ):
        if name.startswith("OPENLINEAGE"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def backend():
    """A lineage backend on loopback."""
    with listening() as receiver:
        yield receiver


@pytest.fixture
def make_sink(backend):
    """Return a maker of sinks that talk to the backend; they are closed at the end."""
    made = []

    def make(mode="terminal", clock=None, **transport):
        settings = {"mode": mode, "transport": {"type": "http", "url": backend.url, **transport}}
        made.append(OpenLineageSink(settings, clock or SystemClock()))
        return made[-1]

    yield make
    for sink in made:
        sink.close(1.0)


def tell(sink, event):
    """Hand an event to the hook that it is for."""
    hooks = {
        EventType.FAILED: sink.on_task_failed,
        EventType.RECOVERED: sink.on_task_recovered,
        EventType.AMENDED: sink.on_failure_amended,
        EventType.SUSPECT_SUCCESS: sink.on_suspect_success,
    }
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
