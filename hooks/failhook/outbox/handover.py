"""The plugins, as the outbox sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from failhook.event import FailureEvent
from failhook.groups import DroppedEvents, Group, Handled


class Outcome(Protocol):
    """What came of one handover; ``status`` is delivered, undelivered or failed."""

    @property
    def status(self) -> str:
        """``undelivered`` is what the plugin said itself; ``failed`` is that it broke or hung."""
        ...

    @property
    def retryable(self) -> bool:
        """Whether a further try may help."""
        ...

    @property
    def retry_after(self) -> float | None:
        """Seconds before which a further try is useless."""
        ...

    @property
    def error(self) -> str:
        """Why, in one line."""
        ...

    @property
    def groups(self) -> Sequence[Group]:
        """Where an event is to wait; none where it was delivered."""
        ...

    @property
    def handled(self) -> Handled:
        """What the plugin says of a group."""
        ...


class Handover(Protocol):
    """The plugins. No call ever raises."""

    def names(self) -> Sequence[str]:
        """Return the plugins that are held here."""
        ...

    def gathers(self, name: str) -> bool:
        """Return whether a plugin gathers events in groups."""
        ...

    def call(self, name: str, event: FailureEvent) -> Outcome:
        """Hand one event to one plugin, in this thread."""
        ...

    def call_group(
        self,
        name: str,
        *,
        key: str,
        events: Sequence[FailureEvent],
        remaining: int,
        note: str,
        sent_at: datetime | None,
    ) -> Outcome:
        """Hand one group to its plugin, in this thread."""
        ...

    def call_dropped(self, name: str, dropped: DroppedEvents) -> Outcome:
        """Tell a plugin, in this thread, what it never gets."""
        ...

    def ready(self, name: str, now: datetime) -> datetime | None:
        """Return from when on a plugin may be called; None is now."""
        ...

    def overdue(self) -> Sequence[str]:
        """Return the plugins whose call runs past its time limit at this moment."""
        ...
