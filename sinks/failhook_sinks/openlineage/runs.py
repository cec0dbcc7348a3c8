"""Which run an attempt is, and when it began and ended: the same in every event of it."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from failhook.plugin import EventType, FailureEvent, Phase, Task

RUN_ID_LABEL: Final = "openlineage.run_id"
"""The label of a task in which its orchestrator says which run the attempt is, a UUID."""

_TICK: Final = timedelta(microseconds=1)
_ORDER: Final = {EventType.RECOVERED: 1, EventType.SUSPECT_SUCCESS: 2}


@dataclass(frozen=True, slots=True)
class Span:
    """When a run began and ended, UTC; it ends after it began."""

    start: datetime
    end: datetime


def run_id(event: FailureEvent) -> str:
    """Return the id of the attempt's run: the same whoever reports, however often, and when."""
    return _uuid(event.task.attempt_key, event.started_at or event.task.logical_time)


def parent_run_id(task: Task) -> str:
    """Return the id of the run of the workflow: the same for all tasks of it."""
    name = json.dumps([task.namespace, task.workflow, task.run_id])
    return _uuid(name, task.logical_time)


def orchestrators_run_id(task: Task) -> str | None:
    """Return the run that the orchestrator says the attempt is; None where it says none.

    Raises:
        ValueError: what the label says is not a UUID.
    """
    said = task.labels.get(RUN_ID_LABEL)
    return None if said is None else str(uuid.UUID(said))


def span(event: FailureEvent) -> Span:
    """Return the times of the run's first and its last event.

    An event that corrects another one of the same run is at least a microsecond later, whatever
    the clocks said: readers who sort by time end with the truth.
    """
    ended = event.ended_at or event.observed_at
    end = ended + _TICK * (event.revision or _ORDER.get(event.type, 0))
    if event.succeeded:  # it ran on after it was given up
        end = max(end, event.observed_at)
    before = event.phases.transitions[-2:-1]
    if before and event.phases.transitions[-1].phase == Phase.COMPLETED:
        end = max(end, before[0].occurred_at + _TICK)
    start = event.started_at
    if start is None:
        known = 0.0 if event.type is EventType.RECOVERED else event.failure_details.elapsed or 0.0
        start = ended - max(_TICK, timedelta(seconds=known))
    return Span(min(start, end - _TICK), end)


def _uuid(name: str, moment: datetime | None) -> str:
    """Return a UUID of version 7 where a time is known, whose rest is a hash, else one of name.

    Source: RFC 9562, sections 5.5 and 5.7.
    """
    if moment is None:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:failhook:{name}"))
    milliseconds = int(moment.timestamp() * 1000) & (2**48 - 1)
    number = milliseconds << 80 | int.from_bytes(sha256(name.encode()).digest()[:10])
    number = number & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=number & ~(0b11 << 62) | 0b10 << 62))
