"""One entry of a rule table: what it matches, what it says, where that is documented."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from failhook.classify.conditions import Condition, Predicate, Shorthand, condition
from failhook.classify.next_steps import FALLBACK, NEXT_STEPS
from failhook.details import Confidence, Hint, Kind, Started

INFRA: Final = Kind.INFRA
APPLICATION: Final = Kind.APPLICATION
TIMEOUT: Final = Kind.TIMEOUT
MANUAL: Final = Kind.MANUAL
UNKNOWN: Final = Kind.UNKNOWN
CONFIRMED: Final = Confidence.CONFIRMED
LIKELY: Final = Confidence.LIKELY
GUESS: Final = Confidence.GUESS


class Tier(IntEnum):
    """Which evidence wins: a rule of a lower tier is asked first.

    Within a tier the order is that of `sources`, and in one table the order of its entries.
    """

    USER = 0
    """A rule from the user's configuration."""
    THIRD_PARTY = 1
    """What a `classify_failure` hook answered."""
    HOST = 2
    """The verdict of a host that already knows."""
    MARK = 3
    """An explicit mark: a `TaskError`, a typed plugin code."""
    CANCEL = 4
    """A cancel that the engine itself made."""
    DEADLINE = 5
    """A deadline that the engine itself enforced."""
    DISRUPTION = 6
    """The platform's own record of what it did to the task."""
    HARDWARE = 7
    """A broken device, which wins over the plain traceback it caused."""
    REPORT = 8
    """The task's own report: an exception, a termination message."""
    CONTAINER = 9
    """The reason a container runtime gave."""
    SIGNAL = 10
    """The signal that a supervisor saw."""
    EXIT = 11
    """The exit code."""
    MISMATCH = 12
    """The executor says finished, and the task never reported."""
    LOG = 13
    """Log lines and messages: the last resort."""
    NOTHING = 14
    """Evidence that is named and decides nothing."""


@dataclass(frozen=True, slots=True)
class Take:
    """A field of the verdict that is copied from a fact; `default` where the fact is not there."""

    path: str
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One entry of a table. The first rule whose conditions all hold decides.

    Attributes:
        id: stable and dotted, such as ``process.sigkill.no-oom-seen``; it is in every verdict.
        tier: how much this kind of evidence weighs.
        when: path to condition; a plain value means equal, a tuple means one of its values.
        also: what no plain condition can say.
        kind: the verdict.
        reason: the reason token.
        because: one sentence: why this evidence means this verdict.
        source: where that is documented: a link.
        next_step: what a person can check next; empty takes the one that fits the reason.
        deterministic: True when a retry cannot help, False when it may, None when not known.
        confidence: how sure the verdict is.
        message: one line for people; ``{path}`` is replaced by the fact. Empty is `because`.
        started: what the rule proves of whether the task's code ran; None: what the observer says,
            else the fact ``started``.
        ended_by_itself: None follows the tier: True for reports and exit codes.
        executor_side: the failure arose in the executor or its plugin.
        cleanup: what the attempt left must be removed first.
        hint: what would help a next attempt.
        take: fields of the verdict copied from facts: ``code``, ``retry_after``, ``actor``, ...
        fallback: the verdict when nothing more specific is known of an error; what it was raised
            from is asked first.
    """

    id: str
    tier: Tier
    when: Mapping[str, Shorthand]
    kind: Kind | Take
    reason: str | Take
    because: str
    source: str
    next_step: str = ""
    also: tuple[Predicate, ...] = ()
    deterministic: bool | Take | None = None
    confidence: Confidence | Take = LIKELY
    message: str = ""
    started: Started | None = None
    ended_by_itself: bool | Take | None = None
    executor_side: bool | Take = False
    cleanup: bool | Take = False
    hint: Hint | None = None
    take: Mapping[str, str] = field(default_factory=dict[str, str])
    fallback: bool = False

    @property
    def conditions(self) -> Mapping[str, Condition]:
        """What it matches, with the shorthands spelt out."""
        return {path: condition(shorthand) for path, shorthand in self.when.items()}

    @property
    def by_itself(self) -> bool | Take:
        """Whether the attempt ended by itself, with the tier's default filled in."""
        if self.ended_by_itself is None:
            return self.tier in (Tier.REPORT, Tier.EXIT)
        return self.ended_by_itself

    @property
    def advice(self) -> str:
        """What a person can check next."""
        if self.next_step:
            return self.next_step
        reason = self.reason if isinstance(self.reason, str) else self.reason.default or ""
        return NEXT_STEPS.get(reason, FALLBACK)

    def describe(self) -> str:
        """Return what it matches in one line."""
        parts = [matcher.describe(path) for path, matcher in self.conditions.items()]
        return "; ".join((*parts, *(predicate.sentence for predicate in self.also)))


PLACE: Final = re.compile(r"\{([^{}]+)\}")
"""A place in a message template where a fact goes."""
