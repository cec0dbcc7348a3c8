"""Any HTTP endpoint: a notification as a CloudEvent, signed as Standard Webhooks says.

Sources: CloudEvents 1.0.2, JSON event format in structured mode; Standard Webhooks 1.0.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from failhook.plugin import Clock, FailureEvent, SettingsTable, to_rfc3339
from failhook_sinks.alerts.inert import shortened
from failhook_sinks.alerts.model import Alert, Notification
from failhook_sinks.alerts.receivers.http import (
    Endpoint,
    post_fitting,
    read_headers,
    read_url,
    time_left,
)
from failhook_sinks.alerts.text import Message, message_of, plain

CONTENT_TYPE: Final = "application/cloudevents+json"
MAX_BYTES: Final = 65_536
"""What every consumer of CloudEvents takes (CloudEvents 1.0.2, size limits)."""
TYPE: Final = "io.failhook.alert.{}.v1"

_KEY_SIZES: Final = range(24, 65)
_FEW: Final = 20
_SHORT_TEXT: Final = 1_000
_SHORT_MESSAGE: Final = 300
_SHORT_LABEL: Final = 200
_LONG_LABEL: Final = 1_000
_LONG: Final = frozenset({"error", "phases", "conditions", "previous", "first_failure"})


def open_receiver(name: str, table: SettingsTable, clock: Clock) -> Webhook:
    """Return the receiver that a table describes; nothing is sent yet.

    Raises:
        ConfigError: a setting is missing, wrong or unknown.
    """
    secrets = table.texts("secrets")
    keys = tuple(_key(secret, number, table) for number, secret in enumerate(secrets))
    endpoint = read_url(table, headers=read_headers(table), secrets=secrets)
    source = table.text("source", "/failhook")
    if not source.isascii() or not source.isprintable() or " " in source:
        raise table.wrong("source", "a URI, or the path of one: /failhook/prod")
    max_bytes = table.integer("max_bytes", MAX_BYTES, least=4_096)
    table.done()
    return Webhook(name, endpoint, keys, clock, source=source, max_bytes=max_bytes)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Sends one event for one notification.

    What it remembers of a group is the id of the last event: the next one is made from it, so that
    a reminder has an id of its own, and what is sent again because nobody knows whether it arrived
    has the same one.

    Attributes:
        name: in the configuration.
        endpoint: where to.
        keys: each signs every event, so that a new one can be known before the old one goes.
        clock: for the time of a signature.
        source: who sends, in CloudEvents' sense.
        max_bytes: of a body.
    """

    name: str
    endpoint: Endpoint
    keys: Sequence[bytes] = field(repr=False)
    clock: Clock
    source: str
    max_bytes: int
    keep_alive: bool = False

    def send(self, notification: Notification) -> str:
        now = self.clock.now()
        identity = _id_of(notification)

        def headers(body: bytes) -> Mapping[str, str]:
            return {"Content-Type": CONTENT_TYPE, **signature(identity, body, self.keys, now)}

        bodies = self._bodies(identity, notification)
        post_fitting(
            self.endpoint, bodies, time_left(self.clock, self.endpoint.timeout), now, headers
        )
        return identity

    def _bodies(self, identity: str, notification: Notification) -> Iterator[bytes]:
        """Yield the event with all that is known, then with less, then with the least."""
        message = message_of(notification)
        alerts = notification.alerts
        envelope = _envelope(identity, self.source, notification)

        def body(shown: Sequence[Mapping[str, Any]], text: str, longest: int) -> bytes:
            data = {
                **_data(notification, message, text, longest),
                "alerts": shown,
                "more": notification.more + len(alerts) - len(shown),
            }
            return _json({**envelope, "data": data})

        short = plain(message, _SHORT_TEXT)
        if len(alerts) <= _FEW:
            whole = [_alert(alert, whole=True) for alert in alerts]
            for text in (plain(message), short):
                full = body(whole, text, _LONG_LABEL)
                if len(full) <= self.max_bytes:
                    yield full
                    break
        room = self.max_bytes - len(body([], short, _LONG_LABEL))
        brief = _fitting((_alert(alert, whole=False) for alert in alerts), room)
        for shown in (brief, brief[:_FEW]):
            if shown:
                yield body(shown, short, _LONG_LABEL)
        yield body([], short, _SHORT_LABEL)


def _fitting(alerts: Iterable[Mapping[str, Any]], room: int) -> Sequence[Mapping[str, Any]]:
    """Return the first alerts, as many as there is room for in bytes."""
    fitting: list[Mapping[str, Any]] = []
    for alert in alerts:
        room -= len(_json(alert)) + 1
        if room < 0:
            break
        fitting.append(alert)
    return fitting


def signature(identity: str, body: bytes, keys: Sequence[bytes], now: datetime) -> dict[str, str]:
    """Return the headers of Standard Webhooks; without a key there is no signature."""
    at = str(int(now.timestamp()))
    signed = b".".join((identity.encode(), at.encode(), body))
    codes = [hmac.digest(key, signed, "sha256") for key in keys]
    headers = {"webhook-id": identity, "webhook-timestamp": at}
    if codes:
        signatures = (f"v1,{base64.b64encode(code).decode()}" for code in codes)
        headers["webhook-signature"] = " ".join(signatures)
    return headers


def _key(secret: str, number: int, table: SettingsTable) -> bytes:
    must = "it must be whsec_ and 24 to 64 bytes in base64"
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith("whsec_") or len(key) not in _KEY_SIZES:
        raise table.error(
            "secrets", f"has a wrong entry: number {number + 1} is no signing secret; {must}"
        )
    return key


def _id_of(notification: Notification) -> str:
    """Return the same id for the same news about the same group after the same last event."""
    parts = [notification.memory, notification.group_key, notification.status.value]
    for alert in notification.alerts:
        event = alert.event
        parts += [alert.fingerprint, alert.status.value, str(alert.count), event.event_id]
    parts.append(str(notification.more))
    return f"msg_{sha256(_json(parts)).hexdigest()[:32]}"


def _envelope(identity: str, source: str, notification: Notification) -> Mapping[str, Any]:
    alerts = notification.alerts
    when = max(
        (alert.ends_at or alert.event.observed_at for alert in alerts), default=notification.since
    )
    envelope = {
        "specversion": "1.0",
        "id": identity,
        "source": source,
        "type": TYPE.format(notification.status.value),
        "subject": sha256(notification.group_key.encode("utf-8", "replace")).hexdigest()[:32],
        "time": to_rfc3339(when),
        "datacontenttype": "application/json",
    }
    traced = alerts[0].event.task.traceparent if len(alerts) == 1 else None
    return {**envelope, "traceparent": traced} if traced else envelope


def _data(
    notification: Notification, message: Message, text: str, longest: int
) -> Mapping[str, Any]:
    labels = notification.group_labels
    return {
        "receiver": notification.receiver,
        "status": notification.status.value,
        "why": notification.why.value,
        "simulated": notification.simulated,
        "title": message.title,
        "summary": message.summary,
        "note": message.note,
        "text": text,
        "group_labels": {name: value[:longest] for name, value in labels.items()},
        "failures": notification.failures,
        "since": to_rfc3339(notification.since),
    }


def _alert(alert: Alert, *, whole: bool) -> Mapping[str, Any]:
    return {
        "fingerprint": alert.fingerprint,
        "status": alert.status.value,
        "labels": dict(alert.labels),
        "starts_at": to_rfc3339(alert.starts_at),
        "ends_at": None if alert.ends_at is None else to_rfc3339(alert.ends_at),
        "failures": alert.count,
        "runs": alert.runs,
        "first_cause": alert.first_cause,
        "event": alert.event.to_dict() if whole else _brief(alert.event),
    }


def _brief(event: FailureEvent) -> Mapping[str, Any]:
    """Return the event without what may be long, and the message's beginning and end."""
    whole = event.to_dict()
    details = whole["failure_details"]
    details.pop("evidence")
    details["message"] = shortened(details["message"], _SHORT_MESSAGE)
    return {name: value for name, value in whole.items() if name not in _LONG}


def _json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )
