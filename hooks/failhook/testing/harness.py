"""Hands events to one plugin as a drainer does, one at a time, and tells what came of each."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from failhook.event import FailureEvent
from failhook.manager import Limits, Manager
from failhook.manager.outcome import Outcome, failed
from failhook.testing.clock import ManualClock


@dataclass(frozen=True, slots=True)
class _Said:
    """What a plugin last noted of a group."""

    note: str = ""
    sent_at: datetime | None = None


class Harness:
    """Registers a plugin as failhook does, and calls its hooks with the same isolation.

    A plugin that gathers is handed each group at its time: the clock goes on until then.

    Args:
        plugin: an object, a class or a module with hooks.
        clock: the plugin's time, where it was made with one.

    Raises:
        RegistrationError: it would not work as written.
    """

    NAME = "plugin"

    def __init__(self, plugin: object, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self._said: dict[str, _Said] = {}
        # As it is, so that a test sees what a plugin says and not what is left of it.
        self._manager = Manager(
            clock=self.clock, limits=Limits(call=3600.0), redact=lambda text: text
        )
        self._manager.register(plugin, self.NAME)

    def deliver(self, *events: FailureEvent, within: float = 60.0) -> Sequence[Outcome]:
        """Hand events over one by one; return what came of each, its groups included.

        Args:
            events: as `sample_events` returns them.
            within: seconds that the plugin has for one event; what takes longer has failed.
        """
        return [self._within(event, within) for event in events]

    def close(self, timeout: float) -> bool:
        """Close the plugin; return whether it closed in time, without an error, and nothing waits.

        Args:
            timeout: seconds.
        """
        return self._manager.close(timeout)

    def _within(self, event: FailureEvent, seconds: float) -> Outcome:
        outcomes: list[Outcome] = []
        thread = threading.Thread(
            target=lambda: outcomes.append(self._call(event)), name="harness", daemon=True
        )
        thread.start()
        thread.join(seconds)
        return outcomes[0] if outcomes else failed(f"no answer within {seconds:g} s")

    def _call(self, event: FailureEvent) -> Outcome:
        outcome = self._manager.call(self.NAME, event)
        for group in outcome.groups:
            self.clock.reach(group.not_before)
            said = self._said.get(group.key, _Said())
            outcome = self._manager.call_group(
                self.NAME,
                key=group.key,
                events=[event],
                remaining=0,
                note=said.note,
                sent_at=said.sent_at,
            )
            if not outcome.delivered:
                return outcome
            sent_at = self.clock.now() if outcome.handled.sent else said.sent_at
            self._said[group.key] = _Said(outcome.handled.note, sent_at)
        return outcome
