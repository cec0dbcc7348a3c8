"""Look an event over: most have short texts and no secrets, and leave as they are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from failhook.details import FailureDetails, JsonScalar
from failhook.error_info import ErrorInfo
from failhook.event import FailureEvent
from failhook.event_build.rewrite import sound

_MOST_TEXTS: Final = 256


def texts_of(event: FailureEvent) -> list[str] | None:
    """Return every text of the event but the task's names; None where it has no simple shape.

    That is where it has many parts, or a number out of range. A value whose name may tell that it
    is a secret comes with the name, as ``name=value``.
    """
    task, decision = event.task, event.decision
    texts = [event.first_error, event.observer]
    texts += [
        text
        for text in (task.owner, task.log_url, task.executor, task.traceparent)
        if text is not None
    ]
    if task.labels and not _add_values(texts, task.labels.items()):
        return None
    if task.policy is not None:
        texts += task.policy.non_retryable_codes
    for details in (event.failure_details, event.previous, event.first_failure):
        if details is not None and not _add_details(texts, details):
            return None
    if decision is not None:
        texts += (decision.message, decision.because.text, decision.code or "")
    for transition in event.phases.transitions:
        texts += (transition.phase, transition.message)
    if event.error is not None and not _add_error(texts, event.error):
        return None
    return texts if len(texts) <= _MOST_TEXTS else None


def _add_details(texts: list[str], details: FailureDetails) -> bool:
    texts += (details.message, details.reason, details.rule)
    texts += [
        text
        for text in (details.executor, details.node, details.code, details.actor)
        if text is not None
    ]
    for number in (
        *(details.exit_code, details.signal, details.retry_after),
        *(details.time_limit, details.elapsed),
    ):
        if number is not None and not sound(number):
            return False
    facts = details.evidence
    return not facts or _add_values(texts, [(fact.path, fact.value) for fact in facts])


def _add_error(texts: list[str], error: ErrorInfo) -> bool:
    errors = [error]
    for each in errors:
        texts += (each.type, each.message, each.traceback, *each.notes, *each.mro)
        if len(texts) > _MOST_TEXTS:
            return False
        if each.attributes and not _add_values(texts, each.attributes.items()):
            return False
        mark = each.mark
        if mark is not None:
            texts += (mark.message, mark.code or "", mark.kind or "")
            if mark.retry_after is not None and not sound(mark.retry_after):
                return False
        errors += [below for below in (each.cause, each.context, *each.exceptions) if below]
    return True


def _add_values(texts: list[str], values: Collection[tuple[str, JsonScalar]]) -> bool:
    if len(values) > _MOST_TEXTS:
        return False
    for name, value in values:
        if isinstance(value, str):
            texts.append(f"{name}={value}")
        elif value is None or sound(value):
            texts.append(name)
        else:
            return False
    return True
