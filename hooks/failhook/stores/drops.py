"""What was dropped, per plugin and kind: gathered to be told, and taken off again when it was.

What was read is sealed with a number, and what is dropped later is counted apart. So what is told
is taken off exactly, also where several drainers read and tell the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from failhook.groups import DroppedEvents


class Drop(NamedTuple):
    """Events of one kind that were dropped between two readings.

    Attributes:
        plugin: whom they were for.
        kind: of their failures.
        seal: counts the readings; 0 for what was not read yet.
        events: how many.
        final: how many of them said that a task had failed for good.
        since: when the oldest of them was observed, UTC.
        until: when the newest of them was observed, UTC.
    """

    plugin: str
    kind: str
    seal: int
    events: int
    final: int
    since: datetime
    until: datetime


def gathered(drops: Iterable[Drop]) -> list[DroppedEvents]:
    """Return what each plugin lost; the drops of one plugin must stand together."""
    return [_sum(list(some)) for _, some in groupby(drops, key=attrgetter("plugin"))]


def told_of(drops: Iterable[Drop], dropped: DroppedEvents) -> int:
    """Return the last seal of what was told; 0 when that was taken off before.

    Args:
        drops: in the order of their seals within each plugin.
        dropped: what was told.
    """
    seen: list[Drop] = []
    theirs = [drop for drop in drops if drop.plugin == dropped.plugin and drop.seal]
    for seal, some in groupby(theirs, key=attrgetter("seal")):
        seen += some
        if _sum(seen) == dropped:
            return int(seal)
    return 0


def _sum(drops: list[Drop]) -> DroppedEvents:
    by_kind: dict[str, int] = {}
    for drop in drops:
        by_kind[drop.kind] = by_kind.get(drop.kind, 0) + drop.events
    return DroppedEvents(
        plugin=drops[0].plugin,
        events=sum(drop.events for drop in drops),
        final=sum(drop.final for drop in drops),
        by_kind=by_kind,
        since=min(drop.since for drop in drops),
        until=max(drop.until for drop in drops),
    )
