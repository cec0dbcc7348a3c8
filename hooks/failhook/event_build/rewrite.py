"""Rewrite every text of an event: the one list of them, and of how long each may be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Protocol, TypeVar, overload

from failhook.decision import Because, Decision
from failhook.details import Fact, FailureDetails, JsonScalar
from failhook.error_info import ErrorInfo, Mark
from failhook.phases import PhaseHistory
from failhook.task import Task
from failhook.text import clean, cut_redacted

MESSAGE: Final = 16_384
TRACEBACK: Final = 32_768
SENTENCE: Final = 4_096
LINE: Final = 1_024
TOKEN: Final = 256
"""Characters that a text may have, by what it is."""

BIGGEST: Final = 2**63
"""Whole numbers beyond this are not kept: JSON readers in other languages refuse them."""

_Number = TypeVar("_Number", int, float)


class TextRewriter(Protocol):
    """What is done to each text."""

    def __call__(self, text: str, limit: int, name: str = "") -> str:
        """Return the text with no more than `limit` characters and a mark.

        Args:
            text: any text.
            limit: characters.
            name: what the text is the value of, where that may tell that it is a secret.
        """
        ...


def sound(number: float) -> bool:
    """Return whether every JSON reader takes the number."""
    return -BIGGEST < number < BIGGEST and (isinstance(number, int) or math.isfinite(number))


def rewritten_task(task: Task, text: TextRewriter) -> Task:
    """Rewrite the texts of a task; its names, by which it is found, stay."""
    labels = {_identifier(name): text(value, LINE, name) for name, value in task.labels.items()}
    return replace(
        task,
        labels=MappingProxyType(labels),
        owner=_identifier(task.owner),
        log_url=_optional(task.log_url, LINE, text),
        executor=_optional(task.executor, TOKEN, text),
        traceparent=_identifier(task.traceparent),
    )


def rewritten_error(error: ErrorInfo, text: TextRewriter) -> ErrorInfo:
    """Rewrite the texts of an error and of all below it."""
    return replace(
        error,
        type=_identifier(error.type),
        message=text(error.message, MESSAGE),
        traceback=text(error.traceback, TRACEBACK),
        mro=tuple(map(_identifier, error.mro)),
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
        {_identifier(name): _scalar(value, name, text) for name, value in attributes.items()}
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
        rule=_identifier(details.rule),
        evidence=tuple(
            Fact(_identifier(fact.path), _scalar(fact.value, fact.path, text))
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
                phase=_identifier(transition.phase),
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


@overload
def _identifier(value: str) -> str: ...
@overload
def _identifier(value: str | None) -> str | None: ...
def _identifier(value: str | None) -> str | None:
    """Cut a name that is no secret by its nature: of a type, a rule, an owner."""
    return None if value is None else cut_redacted(clean(value), TOKEN)
