"""The model as compact JSON: arrays of values in a fixed order, written while an executor waits.

An array is written in a quarter of the time that the shape of ``to_dict()`` takes. In each order
below names may be added at its end, and a name that goes away keeps its place: so rows that an
older version wrote can be read.

Times are whole microseconds since 1970 in UTC: exact, and in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Final, TypeVar

from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import Confidence, Fact, FailureDetails, Hint, Kind, Started
from failhook.error_info import ErrorInfo
from failhook.event import EventType, FailureEvent
from failhook.gate.ledger import Owner
from failhook.phases import PhaseHistory, PhaseTransition
from failhook.policy import Policy
from failhook.task import Task

T = TypeVar("T")
Values = Sequence[Any]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_AT_HAND: Final = 512

to_json: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
"""Writes ASCII, in which any text, also a broken one, can be written and read back."""


def to_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the time that `to_micros` wrote."""
    return _EPOCH + micros * _MICROSECOND


def micros_if_set(moment: datetime | None) -> int | None:
    """Return microseconds, or None for a time that was not seen."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def moment_if_set(micros: int | None) -> datetime | None:
    """Return the time that `micros_if_set` wrote."""
    return None if micros is None else _EPOCH + micros * _MICROSECOND


class Texts:
    """Remembers the JSON of the parts that it last wrote or read.

    So what goes into several rows is written once, and what comes back unchanged not at all. Any
    thread may use it: an entry keeps its part alive, so that no other part has the same id.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str]] = {}

    def _write(self, part: T, write: Callable[[T], str]) -> str:
        known = self._known.get(id(part))
        if known is not None:
            return known[1]
        return self._keep(part, write(part))

    def _keep(self, part: object, text: str) -> str:
        if len(self._known) >= _AT_HAND:
            self._known.clear()
        self._known[id(part)] = (part, text)
        return text

    def read(self, text: str, read: Callable[[Any], T]) -> T:
        """Return the part that a text stands for."""
        part = read(json.loads(text))
        self._keep(part, text)
        return part

    def read_if_set(self, text: str | None, read: Callable[[Any], T]) -> T | None:
        """Return the part that a text stands for, or None."""
        return None if text is None else self.read(text, read)

    def task(self, task: Task) -> str:
        return self._write(task, self._task)

    def _task(self, task: Task) -> str:
        policy = "null" if task.policy is None else self._write(task.policy, _policy)
        labels = dict(task.labels) if task.labels else None
        values = (*_TASK(task), labels, micros_if_set(task.logical_time))
        return f"{to_json(values)[:-1]},{policy}]"

    def owner(self, owner: Owner | None) -> str | None:
        return None if owner is None else self._write(owner, _owner)

    def details(self, details: FailureDetails | None) -> str | None:
        return None if details is None else self._write(details, _details)

    def decision(self, decision: Decision | None) -> str | None:
        return None if decision is None else self._write(decision, _decision)

    def phases(self, phases: PhaseHistory) -> str:
        return self._write(phases, _phases)

    def event(self, event: FailureEvent) -> str:
        head = to_json(
            (
                *_EVENT(event),
                micros_if_set(event.started_at),
                micros_if_set(event.ended_at),
                to_micros(event.observed_at),
            )
        )
        error = None if event.error is None else to_json(event.error.to_dict())
        return (
            f"{head[:-1]},{self.task(event.task)},{self.details(event.failure_details)},"
            f"{self.decision(event.decision) or 'null'},{self.phases(event.phases)},"
            f"{error or 'null'},{self.details(event.previous) or 'null'},"
            f"{self.details(event.first_failure) or 'null'}"
            f"{',true]' if event.succeeded else ']'}"
        )


_TASK: Final = attrgetter(
    *("namespace", "workflow", "name", "run_id", "map_index", "generation", "attempt", "owner"),
    *("traceparent", "log_url", "executor", "idempotent"),
)
_OWNER: Final = attrgetter(
    *("host", "pid", "started", "boot_id", "child", "child_started", "pid_namespace")
)
_DETAILS: Final = attrgetter(
    *("kind", "reason", "message", "deterministic", "confidence", "rule", "executor", "exit_code"),
    *("signal", "started", "ended_by_itself", "executor_side", "cleanup", "node", "code"),
    *("retry_after", "time_limit", "elapsed", "actor", "hint"),
)
_DECISION: Final = attrgetter(
    *("action", "message", "charge", "because.rule", "because.text", "attempt", "max_tries"),
    *("delay", "code", "cleanup"),
)
_EVENT: Final = attrgetter("type", "event_id", "revision", "first_error", "observer", "simulated")


def _policy(policy: Policy) -> str:
    return to_json(policy.to_dict())


def _owner(owner: Owner) -> str:
    return to_json(_OWNER(owner))


def _details(details: FailureDetails) -> str:
    facts = [(fact.path, fact.value) for fact in details.evidence]
    return to_json((*_DETAILS(details), facts))


def _decision(decision: Decision) -> str:
    return to_json((*_DECISION(decision), decision.before, decision.after))


def _phases(phases: PhaseHistory) -> str:
    return to_json(
        [(each.phase, to_micros(each.occurred_at), each.message) for each in phases.transitions]
    )


def read_task(values: Values) -> Task:
    """Read what `Texts.task` wrote."""
    namespace, workflow, name, run_id, map_index, generation, attempt, owner, *rest = values
    traceparent, log_url, executor, idempotent, labels, logical_time, policy = rest
    return Task(
        workflow,
        name,
        namespace=namespace,
        run_id=run_id,
        map_index=map_index,
        generation=generation,
        attempt=attempt,
        owner=owner,
        labels=labels or {},
        logical_time=moment_if_set(logical_time),
        traceparent=traceparent,
        log_url=log_url,
        executor=executor,
        idempotent=idempotent,
        policy=None if policy is None else Policy.from_dict(policy),
    )


def read_owner(values: Values) -> Owner:
    """Read what `Texts.owner` wrote, also before it knew of PID namespaces."""
    return Owner(*values)


def read_details(values: Values) -> FailureDetails:
    """Read what `Texts.details` wrote."""
    kind, reason, message, deterministic, confidence, rule, executor, exit_code, *rest = values
    signal, started, ended_by_itself, executor_side, cleanup, node, code, *rest = rest
    retry_after, time_limit, elapsed, actor, hint, facts = rest
    return FailureDetails(
        kind=Kind(kind),
        reason=reason,
        message=message,
        deterministic=deterministic,
        confidence=Confidence(confidence),
        rule=rule,
        evidence=tuple([Fact(path, value) for path, value in facts]),
        executor=executor,
        exit_code=exit_code,
        signal=signal,
        started=Started(started),
        ended_by_itself=ended_by_itself,
        executor_side=executor_side,
        cleanup=cleanup,
        node=node,
        code=code,
        retry_after=retry_after,
        time_limit=time_limit,
        elapsed=elapsed,
        actor=actor,
        hint=None if hint is None else Hint(hint),
    )


def read_decision(values: Values) -> Decision:
    """Read what `Texts.decision` wrote."""
    action, message, charge, rule, text, attempt, max_tries, delay, code, cleanup, *rest = values
    before, after = rest
    return Decision(
        action=Action(action),
        message=message,
        charge=Charge(charge),
        because=Because(rule, text),
        before=Counters(*before),
        after=Counters(*after),
        attempt=attempt,
        max_tries=max_tries,
        delay=delay,
        code=code,
        cleanup=cleanup,
    )


def read_phases(values: Values) -> PhaseHistory:
    """Read what `Texts.phases` wrote."""
    return PhaseHistory(
        tuple([PhaseTransition(phase, from_micros(at), message) for phase, at, message in values])
    )


def read_event(text: str | bytes) -> FailureEvent:
    """Read what `Texts.event` wrote."""
    kind, event_id, revision, first_error, observer, simulated, *rest = json.loads(text)
    started_at, ended_at, observed_at, task, details, decision, phases, *rest = rest
    error, previous, first_failure, *succeeded = rest
    return FailureEvent(
        type=EventType(kind),
        event_id=event_id,
        revision=revision,
        task=read_task(task),
        error=None if error is None else ErrorInfo.from_dict(error),
        failure_details=read_details(details),
        decision=None if decision is None else read_decision(decision),
        previous=None if previous is None else read_details(previous),
        first_failure=None if first_failure is None else read_details(first_failure),
        first_error=first_error,
        phases=read_phases(phases),
        started_at=moment_if_set(started_at),
        ended_at=moment_if_set(ended_at),
        observed_at=from_micros(observed_at),
        observer=observer,
        simulated=simulated,
        succeeded=bool(succeeded),
    )
