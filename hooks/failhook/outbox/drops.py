"""What a plugin lost because the bounds were reached: logged at once, told when it works again."""

from __future__ import annotations

from logging import ERROR, WARNING
from typing import Final

from failhook.clock import to_rfc3339
from failhook.groups import DroppedEvents
from failhook.log import say
from failhook.outbox.deliveries import Deliveries
from failhook.outbox.means import Means

_BETWEEN: Final = 300.0
"""Seconds between two notices to a plugin that takes them: a storm is not a notice a second."""


class Drops:
    """Looks for the drops of one plugin from time to time."""

    def __init__(self, plugin: str, means: Means, deliveries: Deliveries) -> None:
        self._plugin = plugin
        self._means = means
        self._deliveries = deliveries
        self._noticed = 0
        self._look_at = self._tell_at = means.clock.monotonic()

    def notice(self) -> None:
        """Log what was dropped since it was last looked, if it is time to look."""
        clock = self._means.clock
        if clock.monotonic() >= self._look_at:
            self._look()
            self._look_at = clock.monotonic() + self._means.limits.mark

    def tell(self) -> None:
        """Hand what was noticed to the plugin, which works; what it does not take stays noticed."""
        clock = self._means.clock
        if not self._noticed or clock.monotonic() < self._tell_at:
            return
        found = self._look()
        if found is None:
            return
        outcome, _ = self._deliveries.calling(
            None, lambda: self._means.handover.call_dropped(self._plugin, found)
        )
        if outcome.status == "delivered":
            self._means.outbox.told(found)
            self._noticed -= found.events
            self._tell_at = clock.monotonic() + _BETWEEN
        else:
            wait = max(self._means.limits.poll, outcome.retry_after or 0.0)
            self._tell_at = clock.monotonic() + wait

    def _look(self) -> DroppedEvents | None:
        drops = self._means.outbox.drops()
        found = next((each for each in drops if each.plugin == self._plugin), None)
        events = 0 if found is None else found.events
        new, self._noticed = events - self._noticed, events
        if found is not None and new > 0:
            self._means.tally.dropped(self._plugin, new)
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.by_kind.items()))
            say(
                ERROR if found.final else WARNING,
                "%s: %d events were dropped, because more than the bounds allow waited for it; "
                "not told yet: %d, %d of them final (%s), observed from %s to %s",
                self._plugin,
                new,
                events,
                found.final,
                kinds,
                to_rfc3339(found.since),
                to_rfc3339(found.until),
            )
        return found
