"""Events as plugins get them: every type and kind, and one that is made to do harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from failhook.decision import Counters
from failhook.details import Confidence, FailureDetails, Kind, Started
from failhook.error_info import ErrorInfo
from failhook.event import EventType, FailureEvent, event_id
from failhook.gate.decide import decide
from failhook.phases import Phase, PhaseHistory
from failhook.policy import Policy
from failhook.task import Task
from failhook.testing.clock import START

HOSTILE: Final = (
    "<!channel> <@U000000> @everyone &amp; <b>bold</b> ```fence``` `code` *x* _y_ "
    "\u202eright to left\u202c \U0001f525 {{template}} ${env} %s %(x)s \\ \" ' \x1b[31mred "
    "http://example.org/?a=<b> \r\n line two\ttab " + "long " * 2_000
)
"""A message with all that means something to somebody, and 10,000 characters more."""

_REASONS: Final[Mapping[Kind, str]] = {
    Kind.INFRA: "NodeLost",
    Kind.APPLICATION: "UserException",
    Kind.TIMEOUT: "ExecutionTimeout",
    Kind.MANUAL: "MarkedFailed",
    Kind.UNKNOWN: "StateMismatch",
}


def sample_event(
    kind: Kind = Kind.APPLICATION,
    *,
    type: EventType = EventType.FAILED,  # noqa: A002 - the event's own name for it
    message: str = "KeyError: 'amount'",
    retries: int = 0,
    **task: Any,
) -> FailureEvent:
    """Return an event of an attempt that ran for five minutes.

    Args:
        kind: of the verdict.
        type: of the event.
        message: of the verdict and of the error.
        retries: of the task's policy; 0 makes it final.
        task: fields of the task; ``nightly/load`` unless given.
    """
    usual = {"workflow": "nightly", "name": "load", "run_id": "r1", "owner": "team:data"}
    given: dict[str, Any] = {**usual, **task}
    who = Task(**given, policy=Policy(retries=retries))
    details = FailureDetails(
        kind=kind,
        reason=_REASONS[kind],
        message=message,
        confidence=Confidence.CONFIRMED,
        started=Started.YES,
        node="node-7" if kind is Kind.INFRA else None,
    )
    began = START - timedelta(minutes=5)
    failed = type in (EventType.FAILED, EventType.AMENDED)
    end = Phase.PERMANENT_FAILURE if failed else Phase.COMPLETED
    return FailureEvent(
        type=type,
        event_id=event_id(type, who.attempt_key, int(type is EventType.AMENDED)),
        revision=int(type is EventType.AMENDED),
        task=who,
        error=_error(message) if kind is Kind.APPLICATION else None,
        failure_details=details,
        previous=details if type is EventType.AMENDED else None,
        decision=decide(details, Policy(retries=retries), Counters()) if failed else None,
        first_failure=None if failed else details,
        phases=PhaseHistory().then(Phase.EXECUTING, began).then(end, START),
        started_at=began,
        ended_at=START,
        observed_at=START,
        observer="worker-1:42",
    )


def sample_events() -> Sequence[FailureEvent]:
    """Return an event of each type and of each kind, a retried one, and one of hostile text."""
    kinds = [sample_event(kind, run_id=f"of-{kind}") for kind in Kind]
    types = [
        sample_event(type=each, run_id=f"it-{each}")
        for each in EventType
        if each is not EventType.FAILED
    ]
    return [
        *kinds,
        *types,
        sample_event(Kind.INFRA, retries=3, run_id="retried"),
        sample_event(message=HOSTILE, run_id="hostile", labels={"team": "<data & co>"}),
    ]


def _error(message: str) -> ErrorInfo:
    frames = 'Traceback (most recent call last):\n  File "load.py", line 7, in load\n'
    return ErrorInfo(
        type="builtins.KeyError", message=message, traceback=f"{frames}KeyError: {message}"
    )
