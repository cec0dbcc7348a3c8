"""Build an event: redact first, then cut, and no larger than an event may be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeVar

from failhook.clock import no_earlier
from failhook.decision import Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.event import MAX_BYTES, EventType, FailureEvent, event_id
from failhook.event_build.look import (
    MOST_TEXTS,
    add_decision,
    add_details,
    add_error,
    add_phases,
    add_task,
)
from failhook.event_build.prune import (
    Room,
    pruned_details,
    pruned_error,
    pruned_phases,
    pruned_task,
)
from failhook.event_build.rewrite import (
    LINE,
    TOKEN,
    TextRewriter,
    rewritten_decision,
    rewritten_details,
    rewritten_error,
    rewritten_phases,
    rewritten_task,
)
from failhook.phases import PhaseHistory
from failhook.redact import Redactor
from failhook.redact.cuts import LONGEST_TOKEN
from failhook.task import Task
from failhook.text import clean, cut, cut_redacted

_SMALL: Final = 8_000
"""Characters. A character takes 6 bytes of JSON at most, so that as many always fit."""
_LOOKED_AT: Final = 24_000
"""Characters. Where there are more, no look is taken whether all is plain: windows are redacted."""
_SHORTEST: Final = 24

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class _Level:
    """How much of a large event stays: a share of each text's limit, and numbers of parts."""

    share: float
    room: Room


_LEVELS: Final = (
    _Level(1, Room(errors=24, per_error=10, facts=48, labels=48, phases=50)),
    _Level(1 / 2, Room(errors=16, per_error=8, facts=32, labels=48, phases=30)),
    _Level(1 / 4, Room(errors=8, per_error=6, facts=16, labels=32, phases=20)),
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
        ended_at: when it ended; where the clock was set back meanwhile, `started_at` again.
        observed_at: when the observer saw it.
        observer: who saw it.
        revision: 0 for the first report; an amendment counts up.
        simulated: a marked test event.
        redactor: takes the secrets out.
    """
    if started_at is not None and ended_at is not None:
        ended_at = no_earlier(ended_at, started_at)
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
    texts: list[str] = []
    characters = _gather(texts, event)
    if characters > _LOOKED_AT or not redactor.plain(texts):
        event = _First(redactor).event(event)
        characters = _gather([], event)
    return event if characters <= _SMALL else _fitted(event)


def redacted_task(task: Task, redactor: Redactor) -> Task:
    """Return the task as an event would carry it, for what is stored before there is an event."""
    return _First(redactor).task(task)


def _gather(texts: list[str], event: FailureEvent) -> float:
    """Add all texts of the event but the names of its task.

    Returns:
        how many characters the texts and the names have; infinity for an event that has no simple
        shape: then not all texts were added.
    """
    texts += (event.first_error, event.observer)
    simple = (
        add_details(texts, event.failure_details)
        and add_task(texts, event.task)
        and add_phases(texts, event.phases)
        and (event.decision is None or add_decision(texts, event.decision))
        and (event.previous is None or add_details(texts, event.previous))
        and (event.first_failure is None or add_details(texts, event.first_failure))
        and (event.error is None or add_error(texts, event.error))
        and len(texts) <= MOST_TEXTS
    )
    return len("".join(texts)) + len(event.task.key) if simple else math.inf


class _First:
    """The first pass over an event: parts that look plain stay, the rest is redacted and cut."""

    __slots__ = ("_done", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._done: dict[str, str] = {}

    def event(self, event: FailureEvent) -> FailureEvent:
        error, decision, previous = event.error, event.decision, event.previous
        first_failure = event.first_failure
        return replace(
            event,
            task=self.task(event.task),
            error=error and self._part(error, add_error, pruned_error, rewritten_error),
            failure_details=self._details(event.failure_details),
            decision=decision and self._part(decision, add_decision, _whole, rewritten_decision),
            previous=previous and self._details(previous),
            first_failure=first_failure and self._details(first_failure),
            first_error=self._text(event.first_error, LINE),
            phases=self._part(event.phases, add_phases, pruned_phases, rewritten_phases),
            observer=self._text(event.observer, TOKEN),
        )

    def task(self, task: Task) -> Task:
        return self._part(task, add_task, pruned_task, rewritten_task)

    def _part(
        self,
        part: _Part,
        add: Callable[[list[str], _Part], bool],
        prune: Callable[[_Part, Room], _Part],
        rewrite: Callable[[_Part, TextRewriter], _Part],
    ) -> _Part:
        texts: list[str] = []
        simple = add(texts, part) and sum(map(len, texts)) <= _LOOKED_AT
        if simple and all(self._hidden(text) is text for text in texts):
            return part
        return rewrite(prune(part, _LEVELS[0].room), self._text)

    def _details(self, details: FailureDetails) -> FailureDetails:
        return self._part(details, add_details, pruned_details, rewritten_details)

    def _text(self, text: str, limit: int, name: str = "", *, secret: bool = True) -> str:
        """Redact a window of the text and cut it to its limit.

        The window is larger than what stays by the longest token on either side of its gap.
        """
        if not secret:
            return cut_redacted(clean(text), limit)
        window = cut(text, limit + 2 * LONGEST_TOKEN)
        if name:
            return cut_redacted(self._redactor.redact_value(name, clean(window)), limit)
        return cut_redacted(self._hidden(window), limit)

    def _hidden(self, text: str) -> str:
        hidden = self._done.get(text)
        if hidden is None:
            hidden = self._done[text] = self._redactor.redact(clean(text))
        return hidden


def _whole(part: _Part, room: Room) -> _Part:  # noqa: ARG001 - as all that prune
    return part


def _cutting(share: float) -> TextRewriter:
    def rewrite(text: str, limit: int, name: str = "", *, secret: bool = True) -> str:  # noqa: ARG001 - as all rewriters
        return cut_redacted(text, max(_SHORTEST, int(limit * share)))

    return rewrite


def _fitted(event: FailureEvent) -> FailureEvent:
    """Return the event cut as little as it takes; the last level fits whatever the texts are."""
    fitted = event
    for level in _LEVELS:
        if len(fitted.to_json().encode()) <= MAX_BYTES:
            break
        fitted = _cut_down(event, level)
    return fitted


def _cut_down(event: FailureEvent, level: _Level) -> FailureEvent:
    text, room = _cutting(level.share), level.room

    def details(verdict: FailureDetails) -> FailureDetails:
        return rewritten_details(pruned_details(verdict, room), text)

    return replace(
        event,
        task=rewritten_task(pruned_task(event.task, room), text),
        error=event.error and rewritten_error(pruned_error(event.error, room), text),
        failure_details=details(event.failure_details),
        decision=event.decision and rewritten_decision(event.decision, text),
        previous=event.previous and details(event.previous),
        first_failure=event.first_failure and details(event.first_failure),
        first_error=text(event.first_error, LINE),
        observer=text(event.observer, TOKEN),
        phases=rewritten_phases(pruned_phases(event.phases, room), text),
    )
