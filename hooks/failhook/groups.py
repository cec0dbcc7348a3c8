"""How a plugin gathers events: it names a group and a time, and is handed what waited by then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Group:
    """What a plugin says of one event: keep it with others until then.

    Attributes:
        key: events of one plugin under the same key are handed over together.
        not_before: when, UTC. It counts for the first event of a group; one that joins a group
            which waits already waits for the group's own time.
    """

    key: str
    not_before: datetime


@dataclass(frozen=True, slots=True)
class Handled:
    """What a plugin says of a group that it was handed: all events of it are delivered.

    Attributes:
        note: what the plugin wants to know the next time: kept in the notification log under the
            group's key, and handed over with it.
        again_at: hand the group over again then, UTC, with or without new events; None lets the
            group end, and the next event under its key begins a new one.
        sent: whether something went out, so that the notification log says when.
    """

    note: str = ""
    again_at: datetime | None = None
    sent: bool = True


@dataclass(frozen=True, slots=True)
class DroppedEvents:
    """Events that a plugin never gets, because more than the bounds allow were waiting for it.

    Attributes:
        plugin: whom they were for.
        events: how many.
        final: how many of them said that a task had failed for good.
        by_kind: how many of each kind of failure.
        since: when the oldest of them was observed, UTC.
        until: when the newest of them was observed, UTC.
    """

    plugin: str
    events: int
    final: int
    by_kind: dict[str, int]
    since: datetime
    until: datetime
