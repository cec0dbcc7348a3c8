"""A manager whose threads end with the test, an event of each type, and a clock set by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import FailureDetails, Kind
from failhook.error_info import ErrorInfo
from failhook.event import EventType, FailureEvent, event_id
from failhook.manager import Manager
from failhook.task import Task


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self):
        self.seconds = 1000.0

    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self):
        return self.seconds


@pytest.fixture
def clock():
    """Return a clock that the test moves."""
    return ManualClock()


@pytest.fixture
def make_manager():
    """Make managers, and close them when the test ends."""
    made = []

    def make(*plugins, **options):
        manager = Manager(**options)
        made.append(manager)
        for plugin in plugins:
            manager.register(plugin)
        return manager

    yield make
    for manager in made:
        manager.close(1.0)


@pytest.fixture
def make_event():
    """Make an event of a type, with every argument that a hook may name."""

    def make(event_type=EventType.FAILED, **changes):
        task = Task("nightly", "load", run_id="1")
        verdict = FailureDetails(kind=Kind.INFRA, reason="Evicted")
        amended = event_type is EventType.AMENDED
        return FailureEvent(
            **{
                "type": event_type,
                "event_id": event_id(event_type, task.attempt_key, 0),
                "revision": 0,
                "task": task,
                "failure_details": verdict,
                "previous": FailureDetails(kind=Kind.UNKNOWN, reason="Unknown")
                if amended
                else None,
                "decision": Decision(
                    action=Action.RETRY,
                    message="retry",
                    charge=Charge.INFRA,
                    because=Because("infra.refund", "the platform pays"),
                    before=Counters(),
                    after=Counters(infra=1),
                    attempt=1,
                    max_tries=2,
                ),
                "error": ErrorInfo(type="builtins.ValueError", message="bad row"),
                "observed_at": datetime(2026, 1, 1, tzinfo=UTC),
                **changes,
            }
        )

    return make


@pytest.fixture
def event(make_event):
    """Return a failed attempt."""
    return make_event()
