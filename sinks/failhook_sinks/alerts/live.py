"""One marked test to a receiver, whatever the routes say: it fires, and is over at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from failhook.plugin import Clock, FailureEvent, Settings, SettingsTable
from failhook_sinks.alerts.labels import labels_of
from failhook_sinks.alerts.model import Alert, Notification, Receiver, Status, Why
from failhook_sinks.alerts.receivers import open_receivers

_FALLBACK = ("fallback", "fallback_after")


def live_tests(
    settings: Settings, clock: Clock, event: FailureEvent
) -> Mapping[str, Callable[[], None]]:
    """Return a test for each receiver by name; it raises Undelivered where it is not taken.

    No fallback steps in: each receiver has to take its own test.

    Args:
        settings: ``[plugins.alerts]``, found to be good.
        clock: the time.
        event: a marked failure.
    """
    tables = cast("Mapping[str, Mapping[str, Any]]", settings["receivers"])
    alone = {
        name: SettingsTable(
            {key: value for key, value in table.items() if key not in _FALLBACK},
            *("plugins", "alerts", "receivers", name),
        )
        for name, table in tables.items()
    }
    return {
        name: _test(receiver, clock, event)
        for name, receiver in open_receivers(alone, clock).items()
    }


def _test(receiver: Receiver, clock: Clock, event: FailureEvent) -> Callable[[], None]:
    def test() -> None:
        alert = Alert(
            fingerprint=event.event_id[:16],
            labels=labels_of(event),
            status=Status.FIRING,
            starts_at=event.observed_at,
            event=event,
        )
        fires = Notification(
            receiver=receiver.name,
            group_key=f"check/{event.task.run_id}/{receiver.name}",
            group_labels={},
            why=Why.NEW,
            alerts=(alert,),
            since=event.observed_at,
        )
        memory = receiver.send(fires)
        over = replace(alert, status=Status.RESOLVED, ends_at=clock.now(), is_new=False)
        receiver.send(replace(fires, why=Why.RESOLVED, alerts=(over,), memory=memory))

    return test
