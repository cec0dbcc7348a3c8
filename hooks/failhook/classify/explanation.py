"""A verdict with all that led to it, for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from failhook.details import Fact, FailureDetails


@dataclass(frozen=True, slots=True)
class Considered:
    """A rule that also matched, and lost to a rule whose evidence weighs more."""

    rule: str
    tier: str
    kind: str
    reason: str
    because: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a verdict is what it is.

    Attributes:
        details: the verdict.
        because: why the rule says so.
        tier: how much its evidence weighs, and what that means.
        matched: what the rule asked for.
        facts: everything that was read, by path.
        considered: rules that also matched, the next best first.
        next_step: what a person can check next.
        source: where the rule's claim is documented.
        docs: the place of the rule in failhook's own documentation; "" for a user's rule.
    """

    details: FailureDetails
    because: str
    tier: str
    matched: str
    facts: tuple[Fact, ...]
    considered: tuple[Considered, ...]
    next_step: str
    source: str
    docs: str

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "details": self.details.to_dict(),
            "because": self.because,
            "tier": self.tier,
            "matched": self.matched,
            "facts": [fact.to_dict() for fact in self.facts],
            "considered": [
                {
                    "rule": other.rule,
                    "tier": other.tier,
                    "kind": other.kind,
                    "reason": other.reason,
                    "because": other.because,
                }
                for other in self.considered
            ],
            "next_step": self.next_step,
            "source": self.source,
            "docs": self.docs,
        }
