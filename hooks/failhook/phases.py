"""What an attempt went through, in Flyte's phases and Kubernetes' condition shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from failhook.clock import from_rfc3339, no_earlier, to_rfc3339

MAX_TRANSITIONS: Final = 50
"""The first transitions and the newest ones are kept; a history never grows past this."""


class Phase(StrEnum):
    """The reasons of Flyte's TaskAction conditions (executor/api/v1/taskaction_types.go)."""

    QUEUED = "Queued"
    INITIALIZING = "Initializing"
    EXECUTING = "Executing"
    COMPLETED = "Completed"
    RETRYABLE_FAILURE = "RetryableFailure"
    PERMANENT_FAILURE = "PermanentFailure"


_CONDITIONS: Final[Mapping[str, frozenset[str]]] = {
    "Progressing": frozenset(
        {Phase.QUEUED, Phase.INITIALIZING, Phase.EXECUTING, Phase.RETRYABLE_FAILURE}
    ),
    "Succeeded": frozenset({Phase.COMPLETED}),
    "Failed": frozenset({Phase.PERMANENT_FAILURE}),
}


@dataclass(frozen=True, slots=True)
class PhaseTransition:
    """One phase that was entered, and when (UTC)."""

    phase: str
    occurred_at: datetime
    message: str = ""

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "phase": self.phase,
            "occurredAt": to_rfc3339(self.occurred_at),
        }
        if self.message:
            document["message"] = self.message
        return document


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition in Kubernetes' shape (meta/v1 Condition)."""

    type: str
    status: str
    reason: str
    last_transition_time: datetime
    message: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "status": self.status,
            "reason": self.reason,
            "lastTransitionTime": to_rfc3339(self.last_transition_time),
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class PhaseHistory:
    """The phases of one task, oldest first; without repetitions, and bounded."""

    transitions: tuple[PhaseTransition, ...] = ()

    def then(self, phase: str, occurred_at: datetime, message: str = "") -> PhaseHistory:
        """Return the history with one phase more; an empty one or the last one again adds none.

        Time never goes back in it: where the clock did, the phase has the time of the one before.
        """
        if self.transitions:
            last = self.transitions[-1]
            if last.phase == phase:
                return self
            occurred_at = no_earlier(occurred_at, last.occurred_at)
        if not phase:
            return self
        transitions = (*self.transitions, PhaseTransition(str(phase), occurred_at, message))
        if len(transitions) > MAX_TRANSITIONS:
            transitions = (transitions[0], *transitions[1 - MAX_TRANSITIONS :])
        return PhaseHistory(transitions)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return ``Progressing``, ``Succeeded`` and ``Failed`` as the last phase has them.

        As in Kubernetes, a condition's time is that of the last change of its status.
        """
        if not self.transitions:
            return ()
        last = self.transitions[-1]
        return tuple(
            Condition(name, str(last.phase in true), last.phase, self._since(true), last.message)
            for name, true in _CONDITIONS.items()
        )

    def _since(self, true: frozenset[str]) -> datetime:
        """Return when the phases entered or left this set for the last time."""
        *before, last = self.transitions
        since = last.occurred_at
        for transition in reversed(before):
            if (transition.phase in true) is not (last.phase in true):
                break
            since = transition.occurred_at
        return since

    def to_list(self) -> list[dict[str, Any]]:
        return [transition.to_dict() for transition in self.transitions]

    @classmethod
    def from_list(cls, documents: Sequence[Mapping[str, Any]]) -> PhaseHistory:
        """Read what `to_list` wrote.

        Raises:
            KeyError, ValueError: a transition has no phase or no readable time.
        """
        return cls(
            tuple(
                PhaseTransition(
                    document["phase"],
                    from_rfc3339(document["occurredAt"]),
                    document.get("message", ""),
                )
                for document in documents
            )
        )
