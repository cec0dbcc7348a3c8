"""What a store answers when people ask it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Side = Literal["kind", "reason", "node", "owner", "workflow"]
"""What failures can be counted by."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What failed under one value of a side since some moment.

    Attributes:
        value: of the side: a kind, a reason, a node, an owner; "" where it is not known.
        failures: failed attempts.
        tasks: tasks that they were attempts of.
        infra: those of them that infrastructure ended.
        infra_seconds: how long these had run, as far as their start was seen.
        refunds: attempts that were not charged to the user's retries but refunded.
    """

    value: str
    failures: int
    tasks: int
    infra: int
    infra_seconds: float
    refunds: int


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What a store says of itself.

    Attributes:
        where: as `open_store` takes it, without a password.
        schema: the version of its schema; 0 where it has none.
        bytes: its size; None where it cannot be told.
        tasks: how many tasks it knows.
        problems: what is wrong with it, a line each, with the way out: damage, a clock that differs
            from this machine's, a disk that is nearly full.
    """

    where: str
    schema: int
    bytes: int | None
    tasks: int
    problems: Sequence[str]
