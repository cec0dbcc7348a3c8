"""Look an event over: most have short texts and no secrets, and leave as they are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from failhook.decision import Decision
from failhook.details import FailureDetails, JsonScalar
from failhook.error_info import ErrorInfo
from failhook.event_build.rewrite import sound
from failhook.phases import PhaseHistory
from failhook.task import Task

MOST_TEXTS: Final = 256


def add_task(texts: list[str], task: Task) -> bool:
    """Add the texts of a task but its names, which stay as they are.

    Like all `add_*` it returns False for what has no simple shape: very many parts, or a number
    that not every reader of JSON takes. A value whose name may tell that it is a secret comes with
    the name, as ``name=value``.
    """
    if task.owner is not None:
        texts.append(task.owner)
    if task.log_url is not None:
        texts.append(task.log_url)
    if task.executor is not None:
        texts.append(task.executor)
    if task.policy is not None:
        texts += task.policy.non_retryable_codes
    return not task.labels or _add_values(texts, task.labels.items())


def add_details(texts: list[str], details: FailureDetails) -> bool:
    """Add the texts of a verdict."""
    texts += (details.message, details.reason, details.rule)
    for text in (details.executor, details.node, details.code, details.actor):
        if text is not None:
            texts.append(text)
    for number in (
        details.exit_code,
        details.signal,
        details.retry_after,
        details.time_limit,
        details.elapsed,
    ):
        if number is not None and not sound(number):
            return False
    facts = details.evidence
    return not facts or _add_values(texts, [(fact.path, fact.value) for fact in facts])


def add_decision(texts: list[str], decision: Decision) -> bool:
    """Add the texts of a decision."""
    texts += (decision.message, decision.because.text, decision.code or "")
    return True


def add_phases(texts: list[str], phases: PhaseHistory) -> bool:
    """Add the texts of a history, which is bounded by itself."""
    for transition in phases.transitions:
        texts += (transition.phase, transition.message)
    return True


def add_error(texts: list[str], error: ErrorInfo) -> bool:
    """Add the texts of an error and of all below it."""
    errors = [error]
    for each in errors:
        texts += (each.type, each.message, each.traceback, *each.notes, *each.mro)
        if each.attributes and not _add_values(texts, each.attributes.items()):
            return False
        mark = each.mark
        if mark is not None:
            texts += (mark.message, mark.code or "", mark.kind or "")
            if mark.retry_after is not None and not sound(mark.retry_after):
                return False
        if len(texts) > MOST_TEXTS:
            return False
        errors += [below for below in (each.cause, each.context, *each.exceptions) if below]
    return True


def _add_values(texts: list[str], values: Collection[tuple[str, JsonScalar]]) -> bool:
    if len(values) > MOST_TEXTS:
        return False
    for name, value in values:
        if isinstance(value, str):
            texts.append(f"{name}={value}")
        elif value is None or sound(value):
            texts.append(name)
        else:
            return False
    return True
