"""About how many bytes an event takes in memory."""

from __future__ import annotations

from collections.abc import Mapping
from sys import getsizeof
from typing import Any, Final

from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.event import FailureEvent

_BARE: Final = 2_000
"""Bytes of an event without the texts that may be long, about."""

_ENTRY: Final = 100
"""Bytes that hold a text beside the text itself, about."""


def weight_of(event: FailureEvent) -> int:
    """Return about how many bytes an event takes: its texts count as they are."""
    task = event.task
    weight = _BARE + _details(event.failure_details) + getsizeof(event.first_error)
    for text in (task.workflow, task.name, task.run_id, task.owner, task.log_url):
        if text is not None:
            weight += len(text)
    if task.labels:
        weight += _mapping(task.labels)
    for details in (event.previous, event.first_failure):
        if details is not None:
            weight += _details(details)
    for transition in event.phases.transitions:
        weight += _ENTRY + len(transition.message)
    return weight if event.error is None else weight + _error(event.error)


def _details(details: FailureDetails) -> int:
    weight = getsizeof(details.message)
    for fact in details.evidence:
        weight += _ENTRY + len(fact.path)
        if type(fact.value) is str:
            weight += getsizeof(fact.value)
    return weight


def _error(error: ErrorInfo | None) -> int:
    weight = 0
    while error is not None:
        weight += getsizeof(error.message) + getsizeof(error.traceback)
        for text in (*error.notes, *error.mro):
            weight += getsizeof(text)
        if error.attributes:
            weight += _mapping(error.attributes)
        if error.exceptions:
            weight += sum(map(_error, error.exceptions))
        error = error.cause or error.context
    return weight


def _mapping(mapping: Mapping[str, Any]) -> int:
    return sum(_ENTRY + getsizeof(key) + getsizeof(value) for key, value in mapping.items())
