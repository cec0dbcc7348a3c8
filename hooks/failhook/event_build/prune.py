"""Leave out parts of an event, where there are too many: errors, facts, labels, phases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Final

from failhook.details import Fact, FailureDetails, JsonScalar
from failhook.error_info import ErrorInfo
from failhook.phases import PhaseHistory
from failhook.task import Task

LEFT_OUT: Final = "left_out"
"""The path of the fact, and the name of the label, that say how many others went."""


_LEFT_OUT_NOTE: Final = re.compile(r"\[\.\.\. (\d{1,9}) errors left out \.\.\.\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many parts an event may have.

    Attributes:
        errors: causes, contexts and members of groups, the outermost error counted.
        per_error: notes, attributes and base classes, of each.
        facts: facts of a verdict.
        labels: labels of the task.
        phases: phases.
        policy: whether the task's own policy stays.
    """

    errors: int
    per_error: int
    facts: int
    labels: int
    phases: int
    policy: bool = True


def pruned_task(task: Task, room: Room) -> Task:
    """Return the task with no more labels than there is room for."""
    labels = task.labels
    if len(labels) > room.labels:
        gone = len(labels) - room.labels + 1
        before = labels.get(LEFT_OUT, "")
        if before.isdecimal():
            gone += int(before) - 1
        kept = dict(islice(labels.items(), room.labels - 1))
        labels = MappingProxyType({**kept, LEFT_OUT: str(gone)})
    return replace(task, labels=labels, policy=task.policy if room.policy else None)


def pruned_details(details: FailureDetails, room: Room) -> FailureDetails:
    """Return the verdict with no more facts than there is room for."""
    if len(details.evidence) <= room.facts:
        return details
    last = details.evidence[-1]
    gone = len(details.evidence) - room.facts + 1
    if last.path == LEFT_OUT and isinstance(last.value, int):
        gone += last.value - 1
    facts = (*details.evidence[: room.facts - 1], Fact(LEFT_OUT, gone))
    return replace(details, evidence=facts)


def pruned_error(error: ErrorInfo, room: Room) -> ErrorInfo:
    """Return the error with no more below it than there is room for; the root always stays."""
    nodes = list(error.walk())
    keep = {id(node) for node in nodes}
    if len(nodes) > room.errors:
        keep = {id(node) for node in nodes[: room.errors - 1]} | {id(error.root)}
    return _kept(error, keep, room.per_error, error.root)


def pruned_phases(phases: PhaseHistory, room: Room) -> PhaseHistory:
    """Return the history with its first phase and the newest ones."""
    transitions = phases.transitions
    if len(transitions) <= room.phases:
        return phases
    return PhaseHistory((transitions[0], *transitions[1 - room.phases :]))


def _kept(error: ErrorInfo, keep: set[int], most: int, root: ErrorInfo | None) -> ErrorInfo:
    """Return the error with those below it that are to stay.

    Args:
        error: one that stays.
        keep: the ids of all that stay.
        most: of notes, attributes and base classes.
        root: the root cause, where `error` is in its chain: it takes the place of what is left out.
    """
    gone = _counted(error)
    below: dict[str, ErrorInfo] = {}
    chain = error.cause or error.context
    for name, nested in (("cause", error.cause), ("context", error.context)):
        if nested is None:
            continue
        onward = root if nested is chain else None
        if id(nested) in keep:
            below[name] = _kept(nested, keep, most, onward)
        else:
            gone += sum(1 + _counted(each) for each in nested.walk())
            if onward is not None:
                below[name] = _kept(onward, keep, most, None)
                gone -= 1 + _counted(onward)
    members = [member for member in error.exceptions if id(member) in keep]
    for member in error.exceptions:
        if id(member) not in keep:
            gone += sum(1 + _counted(each) for each in member.walk())
    notes = tuple(note for note in error.notes if not _LEFT_OUT_NOTE.fullmatch(note))
    if len(notes) > most:
        notes = (*notes[:most], f"[... {len(notes) - most} notes left out ...]")
    if gone:
        notes = (*notes, f"[... {gone} errors left out ...]")
    return replace(
        error,
        cause=below.get("cause"),
        context=below.get("context"),
        exceptions=tuple([_kept(member, keep, most, None) for member in members]),
        notes=notes,
        mro=error.mro[:most],
        attributes=_some(error.attributes, most),
    )


def _counted(error: ErrorInfo) -> int:
    """Return how many errors below this one were left out before."""
    return sum(
        int(told[1]) for note in error.notes if (told := _LEFT_OUT_NOTE.fullmatch(note)) is not None
    )


def _some(attributes: Mapping[str, JsonScalar], most: int) -> Mapping[str, JsonScalar]:
    if len(attributes) <= most:
        return attributes
    return MappingProxyType(dict(islice(attributes.items(), most)))
