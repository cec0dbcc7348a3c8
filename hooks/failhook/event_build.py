"""From what is known of an attempt to the event that may leave the core."""

from __future__ import annotations

from datetime import datetime

from failhook.decision import Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.event import EventType, FailureEvent, event_id
from failhook.phases import PhaseHistory
from failhook.redact import Redactor
from failhook.task import Task


def build_event(
    *,
    type: EventType,  # noqa: A002 - the event's own field
    task: Task,
    details: FailureDetails,
    error: ErrorInfo | None = None,
    decision: Decision | None = None,
    previous: FailureDetails | None = None,
    first_failure: FailureDetails | None = None,
    first_error: str = "",
    phases: PhaseHistory = PhaseHistory(),  # noqa: B008 - frozen
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    observed_at: datetime,
    observer: str = "",
    revision: int = 0,
    simulated: bool = False,
    redactor: Redactor,
) -> FailureEvent:
    """Return the event, its texts redacted first and then cut; never above `event.MAX_BYTES`.

    Args:
        type: what happened.
        task: the attempt, with the ledger's attempt number.
        details: the verdict.
        error: what the task raised; its live exception stays on the event.
        decision: the gate's word.
        previous: for amended, the verdict before.
        first_failure: the verdict on the first failed attempt.
        first_error: the root line of that attempt's error.
        phases: what the task went through.
        started_at: when the attempt began.
        ended_at: when it ended.
        observed_at: when the observer saw it.
        observer: who saw it.
        revision: 0 for the first report; an amendment counts up.
        simulated: a marked test event.
        redactor: takes the secrets out.
    """
    return FailureEvent(
        type=type,
        event_id=event_id(type, task.attempt_key, revision),
        revision=revision,
        task=task,
        error=error,
        failure_details=details,
        decision=decision,
        previous=previous,
        first_failure=first_failure,
        first_error=redactor.redact(first_error),
        phases=phases,
        started_at=started_at,
        ended_at=ended_at,
        observed_at=observed_at,
        observer=observer,
        simulated=simulated,
    )
