"""Events to tell of."""

from __future__ import annotations

from datetime import UTC, datetime

from failhook.details import Confidence, FailureDetails, Kind
from failhook.event import EventType, FailureEvent, event_id
from failhook.gate.decide import decide
from failhook.plugin import Counters
from failhook.policy import Policy
from failhook.task import Task

TASK = Task("nightly", "load", run_id="r1")
LOST = FailureDetails(
    kind=Kind.INFRA,
    reason="WorkerLost",
    message="Whoever supervised the attempt is gone.",
    rule="process.lost",
)
BROKEN = FailureDetails(
    kind=Kind.APPLICATION,
    reason="UserException",
    confidence=Confidence.CONFIRMED,
    ended_by_itself=True,
)


def event(kind=EventType.FAILED, *, task=TASK, details=LOST, policy=None, spent=None, **more):
    """Return an event; a failed one has the decision that the gate makes of it."""
    if kind is EventType.FAILED and "decision" not in more:
        more["decision"] = decide(
            details,
            policy or Policy(max_infra_refunds=3),
            spent or Counters(),
            attempt=task.attempt,
            idempotent=task.idempotent,
        )
    return FailureEvent(
        type=kind,
        event_id=event_id(kind, task.attempt_key, 0),
        revision=0,
        task=task,
        failure_details=details,
        observed_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        **more,
    )
