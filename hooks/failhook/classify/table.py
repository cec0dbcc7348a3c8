"""How an entry of a table becomes a rule: what most entries of one table share is said once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from failhook.classify.conditions import Like, Shorthand
from failhook.classify.rule import CONFIRMED, Rule, Take, Tier
from failhook.details import Confidence, Hint, Kind, Started


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What the entries of one table share.

    Attributes:
        prefix: what the ids begin with.
        source: where the platform documents this, unless an entry names another place.
        next_step: what a person can check next, unless an entry says something better.
        said: the fact that an entry's pattern is for, where it gives no more than that.
        ignore_case: whether such patterns match in upper and lower case.
        confidence: how sure the entries are that say nothing else.
        started: what all of them prove of whether the task's code ran.
    """

    prefix: str
    source: str
    next_step: str = ""
    said: str = ""
    ignore_case: bool = False
    confidence: Confidence = CONFIRMED
    started: Started | None = None

    def row(
        self,
        name: str,
        when: Mapping[str, Shorthand] | str,
        kind: Kind,
        reason: str | Take,
        because: str,
        *,
        source: str | None = None,
        next_step: str | None = None,
        tier: Tier = Tier.DISRUPTION,
        deterministic: bool | None = None,
        confidence: Confidence | None = None,
        started: Started | None = None,
        by_itself: bool | None = None,
        executor_side: bool = False,
        hint: Hint | None = None,
    ) -> Rule:
        """Return the rule of one entry; a text as `when` is a pattern for what is `said`."""
        flags = re.IGNORECASE if self.ignore_case else re.NOFLAG
        return Rule(
            id=f"{self.prefix}.{name}",
            tier=tier,
            when={self.said: Like(when, flags)} if isinstance(when, str) else when,
            kind=kind,
            reason=reason,
            because=because,
            source=self.source if source is None else source,
            next_step=self.next_step if next_step is None else next_step,
            deterministic=deterministic,
            confidence=self.confidence if confidence is None else confidence,
            started=self.started if started is None else started,
            ended_by_itself=by_itself,
            executor_side=executor_side,
            hint=hint,
        )
