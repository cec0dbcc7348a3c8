"""The frozen record that leaves the core: what every sink, store and sidecar sees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from failhook.clock import from_rfc3339, to_rfc3339
from failhook.decision import ALREADY_SUCCEEDED, Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.phases import PhaseHistory
from failhook.task import Task

SCHEMA_VERSION: Final = "1"
MAX_BYTES: Final = 65_536
"""No event is larger than this as JSON in UTF-8."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class EventType(StrEnum):
    """What happened."""

    FAILED = "failed"
    AMENDED = "amended"
    RECOVERED = "recovered"
    SUSPECT_SUCCESS = "suspect_success"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureEvent:
    """One thing that happened to one attempt.

    Attributes:
        type: failed, amended, recovered, or suspect_success.
        event_id: a hash of type, attempt key and revision: two observers make one event.
        revision: 0 for the first report; an amendment counts up.
        task: the attempt, with the ledger's attempt number.
        error: what the task raised, where it could report; texts are redacted and cut.
        failure_details: the verdict; for recovered the verdict on the last failed attempt.
        decision: the gate's word; None where nothing was decided.
        previous: for amended, the verdict before.
        first_failure: the verdict on the first failed attempt, when this is a later one.
        first_error: the root line of that attempt's error (``ValueError: ...``).
        phases: what the task went through so far.
        started_at: when the attempt began, UTC; None when that was not seen.
        ended_at: when it ended, UTC, as far as the observer knows.
        observed_at: when the observer saw it, on the observer's clock, UTC.
        observer: who saw it: host and process.
        simulated: a marked test event, never a real failure.
        succeeded: for amended, that the attempt, which had been given up as failed, has reported
            success after all: `previous` is what had been declared.
    """

    type: EventType
    event_id: str
    revision: int
    task: Task
    failure_details: FailureDetails
    error: ErrorInfo | None = None
    decision: Decision | None = None
    previous: FailureDetails | None = None
    first_failure: FailureDetails | None = None
    first_error: str = ""
    phases: PhaseHistory = PhaseHistory()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    observed_at: datetime
    observer: str = ""
    simulated: bool = False
    succeeded: bool = False

    @property
    def final(self) -> bool:
        """Return whether the task failed for good or waits on hold.

        An attempt that failed after another one had done the task's work is not what the task came
        to, and neither is one that has succeeded after all.
        """
        decision = self.decision
        return (
            decision is not None
            and decision.final
            and not self.succeeded
            and decision.code != ALREADY_SUCCEEDED
        )

    def __hash__(self) -> int:
        return hash(self.event_id)

    def without_exception(self) -> FailureEvent:
        """Return the event with no live object reachable from it."""
        if self.error is None or self.error.exception is None:
            return self
        return replace(self, error=replace(self.error, exception=None))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape (``failhook/schema/failure-event.json``)."""
        return {
            "schema_version": SCHEMA_VERSION,
            "type": self.type.value,
            "event_id": self.event_id,
            "revision": self.revision,
            "task": self.task.to_dict(),
            "error": None if self.error is None else self.error.to_dict(),
            "failure_details": self.failure_details.to_dict(),
            "decision": None if self.decision is None else self.decision.to_dict(),
            "previous": None if self.previous is None else self.previous.to_dict(),
            "first_failure": None if self.first_failure is None else self.first_failure.to_dict(),
            "first_error": self.first_error,
            "phases": self.phases.to_list(),
            "conditions": [condition.to_dict() for condition in self.phases.conditions],
            "started_at": None if self.started_at is None else to_rfc3339(self.started_at),
            "ended_at": None if self.ended_at is None else to_rfc3339(self.ended_at),
            "observed_at": to_rfc3339(self.observed_at),
            "observer": self.observer,
            "simulated": self.simulated,
            "succeeded": self.succeeded,
        }

    def to_json(self) -> str:
        """Return the event as one line of JSON."""
        return _encode(self.to_dict())

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> FailureEvent:
        """Read the JSON shape back.

        Raises:
            KeyError, ValueError: a field is missing or not allowed, or the schema is a later one.
        """
        if document["schema_version"] != SCHEMA_VERSION:
            found = document["schema_version"]
            msg = f"event schema {found!r}; this version reads {SCHEMA_VERSION}"
            raise ValueError(msg)

        def details(name: str) -> FailureDetails | None:
            value = document.get(name)
            return None if value is None else FailureDetails.from_dict(value)

        def moment(name: str) -> datetime | None:
            value = document.get(name)
            return None if value is None else from_rfc3339(value)

        error, decision = document.get("error"), document.get("decision")
        return cls(
            type=EventType(document["type"]),
            event_id=document["event_id"],
            revision=document["revision"],
            task=Task.from_dict(document["task"]),
            error=None if error is None else ErrorInfo.from_dict(error),
            failure_details=FailureDetails.from_dict(document["failure_details"]),
            decision=None if decision is None else Decision.from_dict(decision),
            previous=details("previous"),
            first_failure=details("first_failure"),
            first_error=document.get("first_error", ""),
            phases=PhaseHistory.from_list(document.get("phases", ())),
            started_at=moment("started_at"),
            ended_at=moment("ended_at"),
            observed_at=from_rfc3339(document["observed_at"]),
            observer=document.get("observer", ""),
            simulated=document.get("simulated", False),
            succeeded=document.get("succeeded", False),
        )

    @classmethod
    def from_json(cls, text: str) -> FailureEvent:
        """Read one line of JSON; raises as `from_dict` does."""
        return cls.from_dict(json.loads(text))


def event_id(kind: EventType, attempt_key: str, revision: int) -> str:
    """Return the id that every observer of the same thing computes: 32 hexadecimal digits."""
    return sha256("\n".join((kind, attempt_key, str(revision))).encode()).hexdigest()[:32]
