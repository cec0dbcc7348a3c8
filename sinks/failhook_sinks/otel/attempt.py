"""What an event says of its attempt: when it ran, through which phases, and under which ids."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from failhook.plugin import EventType, FailureEvent, Phase, Task

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 2**64 - 1
_MICROSECOND: Final = timedelta(microseconds=1)
_ENDS: Final = frozenset({Phase.COMPLETED, Phase.RETRYABLE_FAILURE, Phase.PERMANENT_FAILURE})


@dataclass(frozen=True, slots=True)
class Step:
    """One phase of an attempt, from when it was entered until the next one was."""

    name: str
    start: datetime
    end: datetime
    message: str


def times(event: FailureEvent) -> tuple[datetime, datetime]:
    """Return when the attempt began and ended, as far as that was seen, UTC.

    Where the start was not seen, it follows from how long the attempt ran, else it is the end.
    """
    end = event.ended_at or event.observed_at
    start = event.started_at
    if start is None:
        failed = event.type is not EventType.RECOVERED
        start = end - timedelta(seconds=event.failure_details.elapsed or 0.0 if failed else 0.0)
    return min(start, end), end


def steps(event: FailureEvent) -> tuple[Step, ...]:
    """Return the phases of this attempt; those of earlier ones, and its end, are not among them."""
    _, end = times(event)
    passed = [each for each in event.phases.transitions if each.occurred_at <= end]
    while passed and passed[-1].phase in _ENDS:
        passed.pop()
    ended = [number for number, each in enumerate(passed) if each.phase in _ENDS]
    own = passed[ended[-1] + 1 :] if ended else passed
    ends = [*(each.occurred_at for each in own[1:]), end]
    return tuple(
        Step(each.phase, each.occurred_at, until, each.message)
        for each, until in zip(own, ends, strict=False)
    )


def nanoseconds(moment: datetime) -> int:
    """Return the time as OpenTelemetry has it: nanoseconds since 1970, until July 2554.

    What is outside is the nearest there is: its field has 64 bits (``fixed64``).
    """
    return min(max(0, (moment - _EPOCH) // _MICROSECOND) * 1_000, _LATEST)


def trace_id(task: Task) -> int:
    """Return the trace of a workflow's run, for tasks that come with no trace of their own."""
    return _number(16, task.namespace, task.workflow, task.run_id)


def span_id(attempt_key: str, what: str, number: int = 0) -> int:
    """Return the id of a span of an attempt: the same whoever tells of it, and how often.

    Args:
        attempt_key: the attempt.
        what: the type of the event, or of what is below it.
        number: the revision of the event, or which of several.
    """
    return _number(8, attempt_key, what, str(number))


def _number(size: int, *parts: str) -> int:
    """Return a hash in so many bytes; an id is never 0 (W3C Trace Context, section 3.2.2)."""
    return int.from_bytes(sha256(json.dumps(parts).encode()).digest()[:size]) or 1
