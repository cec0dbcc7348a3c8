"""Rewrite every text of an event: the one list of them, and of how long each may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from failhook.decision import Because, Decision
from failhook.details import Fact, FailureDetails, JsonScalar
from failhook.error_info import ErrorInfo, Mark
from failhook.phases import PhaseHistory
from failhook.task import Task

MESSAGE: Final = 16_384
TRACEBACK: Final = 32_768
SENTENCE: Final = 4_096
LINE: Final = 1_024
TOKEN: Final = 256
"""Characters that a text may have, by what it is."""

BIGGEST: Final = 2**63
"""Numbers beyond this are not kept: JSON readers in other languages refuse or round them."""

_Number = TypeVar("_Number", int, float)


class TextRewriter(Protocol):
    """What is done to each text."""

    def __call__(self, text: str, limit: int, name: str = "", *, secret: bool = True) -> str:
        """Return the text with no more than `limit` characters and a mark.

        Args:
            text: any text.
            limit: characters.
            name: what the text is the value of, where that may tell that it is a secret.
            secret: whether the text can hold a secret; names of types, rules, owners cannot.
        """
        ...


def sound(number: float) -> bool:
    """Return whether every JSON reader takes the number; NaN and infinity have no JSON."""
    return -BIGGEST < number < BIGGEST


def rewritten_task(task: Task, text: TextRewriter) -> Task:
    """Rewrite the texts of a task; its names, by which it is found, stay."""
    labels = {text(name, TOKEN): text(value, LINE, name) for name, value in task.labels.items()}
    policy = task.policy
    if policy is not None:
        codes = tuple(_name(code, text) for code in policy.non_retryable_codes)
        policy = replace(policy, non_retryable_codes=codes)
    return replace(
        task,
        labels=MappingProxyType(labels),
        owner=task.owner and _name(task.owner, text),
        log_url=_optional(task.log_url, LINE, text),
        executor=_optional(task.executor, TOKEN, text),
        policy=policy,
    )


def rewritten_error(error: ErrorInfo, text: TextRewriter) -> ErrorInfo:
    """Rewrite the texts of an error and of all below it."""
    return replace(
        error,
        type=_name(error.type, text),
        message=text(error.message, MESSAGE),
        traceback=text(error.traceback, TRACEBACK),
        mro=tuple(_name(base, text) for base in error.mro),
        notes=tuple(text(note, SENTENCE) for note in error.notes),
        attributes=_attributes(error.attributes, text),
        cause=None if error.cause is None else rewritten_error(error.cause, text),
        context=None if error.context is None else rewritten_error(error.context, text),
        exceptions=tuple(rewritten_error(member, text) for member in error.exceptions),
        mark=None if error.mark is None else _mark(error.mark, text),
    )


def _attributes(
    attributes: Mapping[str, JsonScalar], text: TextRewriter
) -> Mapping[str, JsonScalar]:
    return MappingProxyType(
        {text(name, TOKEN): _scalar(value, name, text) for name, value in attributes.items()}
    )


def _mark(mark: Mark, text: TextRewriter) -> Mark:
    return Mark(
        message=text(mark.message, SENTENCE),
        code=_optional(mark.code, TOKEN, text),
        kind=_optional(mark.kind, TOKEN, text),
        deterministic=mark.deterministic,
        retry_after=_number(mark.retry_after),
    )


def rewritten_details(details: FailureDetails, text: TextRewriter) -> FailureDetails:
    """Rewrite the texts of a verdict, and drop numbers that are not sound."""
    return replace(
        details,
        reason=text(details.reason, TOKEN),
        message=text(details.message, SENTENCE),
        rule=_name(details.rule, text),
        evidence=tuple(
            Fact(text(fact.path, TOKEN), _scalar(fact.value, fact.path, text))
            for fact in details.evidence
        ),
        executor=_optional(details.executor, TOKEN, text),
        exit_code=_number(details.exit_code),
        signal=_number(details.signal),
        node=_optional(details.node, TOKEN, text),
        code=_optional(details.code, TOKEN, text),
        retry_after=_number(details.retry_after),
        time_limit=_number(details.time_limit),
        elapsed=_number(details.elapsed),
        actor=_optional(details.actor, TOKEN, text),
    )


def rewritten_decision(decision: Decision, text: TextRewriter) -> Decision:
    """Rewrite the texts of a decision."""
    return replace(
        decision,
        message=text(decision.message, SENTENCE),
        because=Because(decision.because.rule, text(decision.because.text, SENTENCE)),
        code=_optional(decision.code, TOKEN, text),
    )


def rewritten_phases(phases: PhaseHistory, text: TextRewriter) -> PhaseHistory:
    """Rewrite the texts of a history."""
    return PhaseHistory(
        tuple(
            replace(
                transition,
                phase=_name(transition.phase, text),
                message=text(transition.message, LINE),
            )
            for transition in phases.transitions
        )
    )


def _scalar(value: JsonScalar, name: str, text: TextRewriter) -> JsonScalar:
    if isinstance(value, str):
        return text(value, LINE, name)
    if value is None or isinstance(value, bool) or sound(value):
        return value
    return repr(value) if isinstance(value, float) else f"a number of {value.bit_length()} bits"


def _number(value: _Number | None) -> _Number | None:
    return value if value is not None and sound(value) else None


def _optional(value: str | None, limit: int, text: TextRewriter) -> str | None:
    return None if value is None else text(value, limit)


def _name(value: str, text: TextRewriter) -> str:
    return text(value, TOKEN, secret=False)
