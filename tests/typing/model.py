"""What a plugin author's type checker sees of the model: each part has its own type."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import assert_type

from failhook.plugin import (
    Action,
    Because,
    Charge,
    Condition,
    Confidence,
    Counters,
    Decision,
    ErrorInfo,
    ErrorState,
    EventType,
    Evidence,
    Fact,
    FailureDetails,
    FailureEvent,
    Hint,
    Kind,
    PhaseTransition,
    Policy,
    Started,
    Task,
    to_error_state,
    to_rfc3339,
)


def of_an_event(event: FailureEvent) -> None:
    """An event's parts are typed, and what may be missing says so."""
    assert_type(event.type, EventType)
    assert_type(event.task, Task)
    assert_type(event.error, ErrorInfo | None)
    assert_type(event.failure_details, FailureDetails)
    assert_type(event.decision, Decision | None)
    assert_type(event.previous, FailureDetails | None)
    assert_type(event.phases.transitions, tuple[PhaseTransition, ...])
    assert_type(event.phases.conditions, tuple[Condition, ...])
    assert_type(event.started_at, datetime | None)
    assert_type(event.observed_at, datetime)
    assert_type(event.final, bool)
    assert_type(event.without_exception(), FailureEvent)
    assert_type(FailureEvent.from_json(event.to_json()), FailureEvent)


def of_a_verdict(details: FailureDetails) -> None:
    """A verdict's closed sets are enums, and what is not known is None."""
    assert_type(details.kind, Kind)
    assert_type(details.confidence, Confidence)
    assert_type(details.confidence.rank, int)
    assert_type(details.started, Started)
    assert_type(details.deterministic, bool | None)
    assert_type(details.hint, Hint | None)
    assert_type(details.evidence, tuple[Fact, ...])
    assert_type(details.evidence[0].value, str | int | float | bool | None)
    assert_type(to_error_state(details), ErrorState)


def of_a_decision(decision: Decision) -> None:
    """A decision's action and charge are enums, its counters numbers."""
    assert_type(decision.action, Action)
    assert_type(decision.charge, Charge)
    assert_type(decision.because, Because)
    assert_type(decision.after, Counters)
    assert_type(decision.after.infra_limit, int)
    assert_type(decision.delay, float)
    assert_type(decision.code, str | None)


def of_an_error(error: ErrorInfo) -> None:
    """An error leads to others of its kind, and to the live exception while there is one."""
    assert_type(error.root, ErrorInfo)
    assert_type(error.cause, ErrorInfo | None)
    assert_type(error.exceptions, tuple[ErrorInfo, ...])
    assert_type(error.attributes, Mapping[str, str | int | float | bool | None])
    assert_type(error.exception, BaseException | None)


def of_a_task(task: Task) -> None:
    """A task's labels cannot be written to, and its time is a time."""
    assert_type(task.labels, Mapping[str, str])
    assert_type(task.policy, Policy | None)
    if task.logical_time is not None:
        assert_type(to_rfc3339(task.logical_time), str)


def of_evidence(error: ValueError, pod: dict[str, object]) -> None:
    """Every constructor gives evidence, and two observers' evidence is evidence."""
    assert_type(Evidence.exception(error).also(Evidence.returncode(-9)), Evidence)
    assert_type(Evidence.pod(pod), Evidence)
    assert_type(Evidence.deadline(60.0, elapsed=61.0), Evidence)
    assert_type(Evidence.verdict("infra", "Evicted", deterministic=False), Evidence)
    assert_type(Evidence.record("slurm", pod, cluster="c1"), Evidence)
