"""Notifications to send."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from failhook.plugin import SettingsTable, SystemClock, Task
from failhook_sinks.alerts.labels import labels_of
from failhook_sinks.alerts.model import Alert, Notification, Status, Why
from tests.sinks.log.events import BROKEN, event

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOSTILE = "<!channel> & ``` \u202e \x00 \ud800 \U0001f4a5 </a>\r\n"


def alert(task=None, *, status=Status.FIRING, details=BROKEN, number=0, **more):
    """Return an alert on a failure for good."""
    task = task or Task("nightly", f"load-{number}", run_id="r1", owner="data")
    failed = more.pop("failed", None) or event(task=task, details=details)
    return Alert(
        fingerprint=f"{number:016x}",
        labels=more.pop("labels", None) or labels_of(failed),
        status=status,
        starts_at=BEGAN,
        ends_at=None if status is Status.FIRING else BEGAN + timedelta(minutes=5),
        event=failed,
        **more,
    )


def notice(*alerts, **more):
    """Return a notification of these alerts, or of one."""
    settings = {
        "receiver": "x",
        "group_key": "route:0/x{cause=KeyError}",
        "group_labels": {"cause": "KeyError/3f2a9c01"},
        "why": Why.NEW,
        "since": BEGAN,
        "docs_url": "https://docs.example/",
        **more,
    }
    return Notification(alerts=alerts or (alert(),), **settings)


def resolved(notification):
    """Return the same, well again."""
    well = {"status": Status.RESOLVED, "ends_at": BEGAN + timedelta(minutes=5)}
    alerts = [replace(each, **well) for each in notification.alerts]
    return replace(notification, alerts=alerts, why=Why.RESOLVED)


def opened(module, clock=None, /, **settings):
    """Return the receiver that settings describe."""
    table = SettingsTable(settings, "plugins", "alerts", "receivers", "x")
    return module.open_receiver("x", table, clock or SystemClock())
