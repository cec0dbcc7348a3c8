"""Build an event: redact first, then cut, and no larger than an event may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from failhook.decision import Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.event import MAX_BYTES, EventType, FailureEvent, event_id
from failhook.event_build.look import texts_of
from failhook.event_build.prune import Room, pruned
from failhook.event_build.rewrite import TextRewriter, rewritten
from failhook.phases import PhaseHistory
from failhook.redact import Redactor
from failhook.redact.redactor import LONGEST_TOKEN
from failhook.task import Task
from failhook.text import clean, cut, cut_redacted

_SMALL: Final = 8_000
"""Characters. A character takes 6 bytes of JSON at most, so that as many always fit."""
_SHORTEST: Final = 24


@dataclass(frozen=True, slots=True)
class _Level:
    """How much of a large event stays: a share of each text's limit, and numbers of parts."""

    share: float
    room: Room


_LEVELS: Final = (
    _Level(1, Room(errors=32, per_error=32, facts=64, labels=64, phases=50)),
    _Level(1 / 2, Room(errors=16, per_error=16, facts=32, labels=64, phases=30)),
    _Level(1 / 4, Room(errors=8, per_error=8, facts=16, labels=32, phases=20)),
    _Level(1 / 8, Room(errors=4, per_error=4, facts=8, labels=16, phases=10)),
    _Level(1 / 16, Room(errors=3, per_error=2, facts=4, labels=8, phases=5)),
    _Level(1 / 64, Room(errors=2, per_error=1, facts=2, labels=4, phases=2, policy=False)),
)


def build_event(
    *,
    type: EventType,  # noqa: A002 - the event's own name for it
    task: Task,
    details: FailureDetails,
    error: ErrorInfo | None = None,
    decision: Decision | None = None,
    previous: FailureDetails | None = None,
    first_failure: FailureDetails | None = None,
    first_error: str = "",
    phases: PhaseHistory = PhaseHistory(),
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    observed_at: datetime,
    observer: str = "",
    revision: int = 0,
    simulated: bool = False,
    redactor: Redactor,
) -> FailureEvent:
    """Return the event, its texts redacted first and then cut; never above `event.MAX_BYTES`.

    Heads, tails and the root cause survive a cut, and a mark says how much went. What names the
    task (namespace, workflow, name, run id) and its owner are not redacted: events are found and
    routed by them.

    Args:
        type: what happened.
        task: the attempt, with the ledger's attempt number.
        details: the verdict.
        error: what the task raised; its live exception stays on the event.
        decision: the gate's word.
        previous: for amended, the verdict before.
        first_failure: the verdict on the first failed attempt.
        first_error: the root line of that attempt's error.
        phases: what the task went through.
        started_at: when the attempt began.
        ended_at: when it ended.
        observed_at: when the observer saw it.
        observer: who saw it.
        revision: 0 for the first report; an amendment counts up.
        simulated: a marked test event.
        redactor: takes the secrets out.
    """
    event = FailureEvent(
        type=type,
        event_id=event_id(type, task.attempt_key, revision),
        revision=revision,
        task=task,
        error=error,
        failure_details=details,
        decision=decision,
        previous=previous,
        first_failure=first_failure,
        first_error=first_error,
        phases=phases,
        started_at=started_at,
        ended_at=ended_at,
        observed_at=observed_at,
        observer=observer,
        simulated=simulated,
    )
    texts = texts_of(event)
    if texts is None or not all(map(redactor.plain, texts)):
        event = rewritten(pruned(event, _LEVELS[0].room), _redacting(redactor))
    elif sum(map(len, texts)) + len(task.key) <= _SMALL:
        return event
    return _fitted(event)


def _redacting(redactor: Redactor) -> TextRewriter:
    """Rewrite a text for the first time: a window of it is redacted, and then cut to its limit.

    The window is larger than what stays by the longest token on either side of its gap.
    """

    def rewrite(text: str, limit: int, name: str = "") -> str:
        window = clean(cut(text, limit + 2 * LONGEST_TOKEN))
        hidden = redactor.redact_value(name, window) if name else redactor.redact(window)
        return cut_redacted(hidden, limit)

    return rewrite


def _cutting(share: float) -> TextRewriter:
    def rewrite(text: str, limit: int, name: str = "") -> str:  # noqa: ARG001 - as all rewriters
        return cut_redacted(text, max(_SHORTEST, int(limit * share)))

    return rewrite


def _fitted(event: FailureEvent) -> FailureEvent:
    """Return the event cut as little as it takes; the last level fits whatever the texts are."""
    fitted = event
    for level in _LEVELS:
        if len(fitted.to_json().encode()) <= MAX_BYTES:
            break
        fitted = rewritten(pruned(event, level.room), _cutting(level.share))
    return fitted
