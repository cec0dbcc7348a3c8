"""PagerDuty, Events API v2: one incident for one group, resolved when all of it is well again.

Source: developer.pagerduty.com, "Send an alert event"; limits: "Events API v2 overview".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from failhook.plugin import Clock, SettingsTable, to_rfc3339
from failhook_sinks.alerts.entry import root_cause, verdict
from failhook_sinks.alerts.inert import inert
from failhook_sinks.alerts.model import Notification, Status
from failhook_sinks.alerts.receivers.http import Endpoint, post_fitting, read_url, time_left
from failhook_sinks.alerts.text import Message, message_of

URL: Final = "https://events.pagerduty.com/v2/enqueue"
MAX_BYTES: Final = 512_000
MAX_SUMMARY: Final = 1_024
SEVERITIES: Final = ("critical", "error", "warning", "info")

_MOST_LINKS: Final = 10
_SHOWN: Final = (1_000, 100, 10)
"""Alerts that are told of: as many as are taken."""
_MAX_TRACEBACK: Final = 16_000


def open_receiver(name: str, table: SettingsTable, clock: Clock) -> PagerDuty:
    """Return the receiver that a table describes; nothing is sent yet.

    Raises:
        ConfigError: a setting is missing, wrong or unknown.
    """
    routing_key = table.text("routing_key")
    endpoint = read_url(table, URL, secrets=(routing_key,))
    table.done()
    return PagerDuty(name, endpoint, routing_key, clock)


@dataclass(frozen=True, slots=True)
class PagerDuty:
    """Triggers and resolves incidents.

    What it remembers of a group is the key of the incident that is open for it: without one there
    is nothing to resolve.
    """

    name: str
    endpoint: Endpoint
    routing_key: str = field(repr=False)
    clock: Clock
    keep_alive: bool = False

    def send(self, notification: Notification) -> str:
        key = sha256(notification.group_key.encode("utf-8", "replace")).hexdigest()
        firing = notification.status is Status.FIRING
        if not firing and notification.memory != key:
            return ""
        event = {
            "routing_key": self.routing_key,
            "event_action": "trigger" if firing else "resolve",
            "dedup_key": key,
        }
        bodies = _triggers(event, notification) if firing else iter((_json(event),))
        post_fitting(
            self.endpoint, bodies, time_left(self.clock, self.endpoint.timeout), self.clock.now()
        )
        return key if firing else ""


def _triggers(event: Mapping[str, Any], notification: Notification) -> Iterator[bytes]:
    """Yield the event with all that is known, with less, and with the least."""
    message = message_of(notification)
    payload, links = _payload(notification, message), _links(message)
    full = {**event, "client": "failhook", "links": links}
    count = len(message.entries)
    for shown in sorted({min(count, most) for most in _SHOWN}, reverse=True):
        details = _details(notification, message, shown)
        body = _json({**full, "payload": {**payload, "custom_details": details}})
        if len(body) <= MAX_BYTES:
            yield body
    yield _json({**event, "payload": payload})


def _payload(notification: Notification, message: Message) -> Mapping[str, Any]:
    newest = max(alert.event.observed_at for alert in notification.alerts)
    payload = {
        "summary": _summary(notification, message)[:MAX_SUMMARY],
        "severity": _severity(notification),
        "source": _shared(notification, "node") or _shared(notification, "namespace") or "failhook",
        "timestamp": to_rfc3339(newest),
        "component": _shared(notification, "task"),
        "group": _shared(notification, "workflow"),
        "class": _shared(notification, "cause") or _shared(notification, "reason"),
    }
    return {name: value for name, value in payload.items() if value}


def _summary(notification: Notification, message: Message) -> str:
    parts = [message.note, message.title, message.summary]
    if len(notification.alerts) == 1:
        event = notification.alerts[0].event
        parts += [verdict(event.failure_details), root_cause(event)]
    return "; ".join(filter(None, parts))


def _severity(notification: Notification) -> str:
    """Return the worst of what fires; a word that PagerDuty does not know counts as an error."""
    firing = (alert for alert in notification.alerts if alert.status is Status.FIRING)
    found = {alert.labels.get("severity", "") for alert in firing}
    if not found <= {*SEVERITIES}:
        found.add("error")
    return next(each for each in SEVERITIES if each in found)


def _shared(notification: Notification, label: str) -> str:
    """Return the value of a label that all alerts have in common, else ""."""
    values = {alert.labels.get(label, "") for alert in notification.alerts}
    return inert(values.pop()) if len(values) == 1 else ""


def _details(notification: Notification, message: Message, shown: int) -> Mapping[str, Any]:
    """Return what stands under the summary, with so many alerts in it."""
    if len(message.entries) == 1 and not message.more:
        (entry,) = message.entries
        details: dict[str, Any] = dict(entry.facts)
        if entry.traceback:
            details["Traceback"] = entry.traceback[-_MAX_TRACEBACK:]
    else:
        details = {
            "Failures": notification.failures,
            "Since": to_rfc3339(notification.since),
            "Alerts": [entry.line for entry in message.entries[:shown]],
        }
        if rest := len(message.entries) - shown + message.more:
            details["More alerts"] = rest
    if message.note:
        details["Note"] = message.note
    return details


def _links(message: Message) -> Sequence[Mapping[str, str]]:
    urls = {link.url: link.name for entry in message.entries for link in entry.links}
    return [{"href": url, "text": name} for url, name in urls.items()][:_MOST_LINKS]


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document).encode()
