"""What the gate decided: retry, fail or hold, who pays, and what is left of each budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

RETRIES_EXHAUSTED: Final = "RetriesExhausted"
REFUNDS_EXHAUSTED: Final = "InfraRefundsExhausted"
MAX_SYSTEM_FAILURES_EXCEEDED: Final = "MaxSystemFailuresExceeded"
DEADLINE_EXCEEDED: Final = "TotalDeadlineExceeded"
ALREADY_SUCCEEDED: Final = "AlreadySucceeded"
ALREADY_CLOSED: Final = "AlreadyClosed"
DUPLICATE_EXECUTION: Final = "DuplicateExecution"


class Action(StrEnum):
    """What happens to the task now."""

    RETRY = "retry"
    FAIL = "fail"
    HOLD = "hold"


_RETRY: Final = Action.RETRY  # quicker than through the class, see `gate.decide`


class Charge(StrEnum):
    """Which budget pays for the next attempt; ``none`` when there is none."""

    USER = "user"
    INFRA = "infra"
    SYSTEM = "system"
    NONE = "none"


class Counters(NamedTuple):
    """What each budget has paid so far, and its limit."""

    user: int = 0
    infra: int = 0
    system: int = 0
    user_limit: int = 0
    infra_limit: int = 0
    system_limit: int = 0

    @property
    def paid(self) -> int:
        """Return the sum of all charges."""
        return self.user + self.infra + self.system

    def to_dict(self) -> dict[str, Any]:
        return {
            "user": {"used": self.user, "limit": self.user_limit},
            "infra": {"used": self.infra, "limit": self.infra_limit},
            "system": {"used": self.system, "limit": self.system_limit},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Counters:
        user, infra, system = document["user"], document["infra"], document["system"]
        return cls(
            user["used"],
            infra["used"],
            system["used"],
            user["limit"],
            infra["limit"],
            system["limit"],
        )

    def __str__(self) -> str:
        return (
            f"user {self.user}/{self.user_limit}, infra {self.infra}/{self.infra_limit}, "
            f"system {self.system}/{self.system_limit}"
        )


@dataclass(frozen=True, slots=True)
class Because:
    """Why: the id of the gate's step, and one sentence."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The gate's word on one failed attempt; it never changes once given.

    Attributes:
        action: retry, fail or hold.
        message: one line for people: what was decided and why.
        charge: the budget that pays for the next attempt.
        because: the step of the gate that decided.
        before: the budgets before this attempt was judged.
        after: the budgets after it.
        attempt: the attempt that was judged.
        max_tries: retries plus what the infra and system budgets have paid: the number that
            Airflow's ``max_tries`` column would hold.
        delay: seconds to wait before the next attempt.
        code: why a final decision is final (``RetriesExhausted``, ``MaxSystemFailuresExceeded``,
            the typed code of a deterministic error), None while it goes on.
        cleanup: what the attempt left behind must be removed before anything else.
        final: nothing follows by itself; a hold is final for alerts but can be resolved.
    """

    action: Action
    message: str
    charge: Charge
    because: Because
    before: Counters
    after: Counters
    attempt: int
    max_tries: int
    delay: float = 0.0
    code: str | None = None
    cleanup: bool = False

    @property
    def retry(self) -> bool:
        """Return whether the task runs again."""
        return self.action is _RETRY

    @property
    def final(self) -> bool:
        """Return whether nothing follows by itself."""
        return self.action is not _RETRY

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "action": self.action.value,
            "message": self.message,
            "charge": self.charge.value,
            "because": {"rule": self.because.rule, "text": self.because.text},
            "budgets": {"before": self.before.to_dict(), "after": self.after.to_dict()},
            "attempt": self.attempt,
            "max_tries": self.max_tries,
            "delay": self.delay,
            "code": self.code,
            "cleanup": self.cleanup,
            "final": self.final,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Decision:
        """Read the JSON shape back.

        Raises:
            KeyError, ValueError: a field is missing or not of its closed set.
        """
        because, budgets = document["because"], document["budgets"]
        return cls(
            action=Action(document["action"]),
            message=document["message"],
            charge=Charge(document["charge"]),
            because=Because(because["rule"], because["text"]),
            before=Counters.from_dict(budgets["before"]),
            after=Counters.from_dict(budgets["after"]),
            attempt=document["attempt"],
            max_tries=document["max_tries"],
            delay=document["delay"],
            code=document["code"],
            cleanup=document["cleanup"],
        )
