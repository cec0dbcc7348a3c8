"""The verdict: what kind of failure this was, why, and how sure anyone can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeGuard

JsonScalar = str | int | float | bool | None


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether the value can be read as a JSON object."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether the value can be read as a JSON list."""
    return isinstance(value, list | tuple)


class Kind(StrEnum):
    """Who or what ended the attempt: a closed set."""

    INFRA = "infra"
    APPLICATION = "application"
    TIMEOUT = "timeout"
    MANUAL = "manual"
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """How sure a verdict is: ``confirmed`` by the one who knows, ``likely``, or a ``guess``."""

    GUESS = "guess"
    LIKELY = "likely"
    CONFIRMED = "confirmed"

    @property
    def rank(self) -> int:
        """Order the levels: guess 0, likely 1, confirmed 2."""
        return _RANKS[self]


_RANKS: Final = {Confidence.GUESS: 0, Confidence.LIKELY: 1, Confidence.CONFIRMED: 2}


class Started(StrEnum):
    """Could the task's own code have run? Without proof it is ``maybe``."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


class Hint(StrEnum):
    """What would make a next attempt more likely to succeed."""

    POISON_TASK = "poison_task"
    OTHER_NODE = "other_node"
    MORE_MEMORY = "more_memory"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was seen: where (a path into the evidence document) and what."""

    path: str
    value: JsonScalar

    def to_dict(self) -> dict[str, Any]:
        return {"path": self.path, "value": self.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDetails:
    """The verdict on one failed attempt. It is never absent: `unknown` is a kind.

    Attributes:
        kind: who or what ended the attempt.
        reason: one token, the platform's own where it has one.
        message: one line for people.
        deterministic: True when a retry cannot help, False when it may, None when not known.
        confidence: how sure the verdict is.
        rule: the id of the rule that decided.
        evidence: the facts that it used.
        executor: the executor that ran the task.
        exit_code: the exit status, where one was seen.
        signal: the number of the signal that ended the process, where one was seen.
        started: could the task's own code have run?
        ended_by_itself: the task reported its failure or ended by itself, so nothing that it
            was doing is in doubt because somebody stopped it in the middle.
        executor_side: the failure arose in the executor or its plugin, not around the task.
        cleanup: what the attempt left behind must be removed before anything else runs.
        node: the machine it ran on.
        code: a plugin's or a task's typed error code.
        retry_after: seconds that the other side asked to wait.
        time_limit: seconds; the limit that a timeout ran into.
        elapsed: seconds; how long the attempt had run.
        actor: who cancelled or marked it, for manual.
        hint: what would help a next attempt.
    """

    kind: Kind
    reason: str
    message: str = ""
    deterministic: bool | None = None
    confidence: Confidence = Confidence.LIKELY
    rule: str = ""
    evidence: tuple[Fact, ...] = ()
    executor: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    started: Started = Started.MAYBE
    ended_by_itself: bool = False
    executor_side: bool = False
    cleanup: bool = False
    node: str | None = None
    code: str | None = None
    retry_after: float | None = None
    time_limit: float | None = None
    elapsed: float | None = None
    actor: str | None = None
    hint: Hint | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape; what is not known is left out."""
        document: dict[str, Any] = {
            "kind": self.kind.value,
            "reason": self.reason,
            "message": self.message,
            "deterministic": self.deterministic,
            "confidence": self.confidence.value,
            "rule": self.rule,
            "evidence": [fact.to_dict() for fact in self.evidence],
            "started": self.started.value,
            "ended_by_itself": self.ended_by_itself,
        }
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value is not None and value is not False:
                document[name] = value
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> FailureDetails:
        """Read the JSON shape back.

        Raises:
            KeyError, ValueError: a required field is missing or not of the closed set.
        """
        optional = {name: document[name] for name in _OPTIONAL if document.get(name) is not None}
        if "hint" in optional:
            optional["hint"] = Hint(optional["hint"])
        return cls(
            kind=Kind(document["kind"]),
            reason=document["reason"],
            message=document.get("message", ""),
            deterministic=document.get("deterministic"),
            confidence=Confidence(document.get("confidence", Confidence.LIKELY)),
            rule=document.get("rule", ""),
            evidence=tuple(
                Fact(fact["path"], fact["value"]) for fact in document.get("evidence", ())
            ),
            started=Started(document.get("started", Started.MAYBE)),
            ended_by_itself=document.get("ended_by_itself", False),
            **optional,
        )


_OPTIONAL: Final = (
    "executor",
    "exit_code",
    "signal",
    "executor_side",
    "cleanup",
    "node",
    "code",
    "retry_after",
    "time_limit",
    "elapsed",
    "actor",
    "hint",
)
