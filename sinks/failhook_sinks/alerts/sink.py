"""The alerts as a plugin: settings in, hooks out; all the rest is the engine's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from failhook.plugin import (
    Clock,
    DroppedEvents,
    FailureEvent,
    Group,
    Handled,
    PluginState,
    Settings,
    hookimpl,
)
from failhook_sinks.alerts.engine import Engine
from failhook_sinks.alerts.live import live_tests
from failhook_sinks.alerts.receivers import open_receivers
from failhook_sinks.alerts.router import Router
from failhook_sinks.alerts.settings import read_settings


class AlertSink:
    """Tells people of failures: routed, gathered, and once.

    Settings (``[plugins.alerts]``): see docs/alerts.md.

    Args:
        settings: the table.
        state: the plugin's own, for the index of open alerts.
        clock: the time.
        folder: what the path of a route file is relative to.

    Raises:
        ConfigError: a setting is wrong; the message names it and what is allowed.
    """

    def __init__(self, settings: Settings, state: PluginState, clock: Clock, folder: Path) -> None:
        read = read_settings(settings, folder)
        self._settings = settings
        self._clock = clock
        self.engine = Engine(
            Router(read.route, read.owners),
            open_receivers(read.receivers, clock),
            state=state,
            clock=clock,
            max_age=read.max_age,
            docs_url=read.docs_url,
            run_url=read.run_url,
        )

    @hookimpl
    def group_event(self, event: FailureEvent) -> Sequence[Group]:
        """Name the groups in which an event is to wait."""
        return self.engine.groups(event)

    @hookimpl
    def on_group_due(
        self,
        key: str,
        events: Sequence[FailureEvent],
        remaining: int,
        note: str,
        sent_at: datetime | None,
    ) -> Handled:
        """Send what there is to say of a group."""
        return self.engine.due(key, events, remaining, note, sent_at)

    @hookimpl
    def on_events_dropped(self, dropped: DroppedEvents) -> None:
        """Tell of events that will never be delivered."""
        self.engine.dropped(dropped)

    def live_tests(self, event: FailureEvent) -> Mapping[str, Callable[[], None]]:
        """Return a test for each receiver, for ``failhook check --live``."""
        return live_tests(self._settings, self._clock, event)
