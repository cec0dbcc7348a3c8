"""Prometheus Alertmanager, API v2: each alert as one of its own, which it groups, mutes and routes.

Labels are who an alert is: the same labels are the same alert, others are another one. So only what
stays the same from attempt to attempt and from run to run is a label; all else is an annotation.
Source: Alertmanager's ``api/v2/openapi.yaml`` and ``types.Alert.Validate``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from logging import getLogger
from typing import Any, Final, cast

from failhook.plugin import Clock, ConfigError, EventType, SettingsTable, Undelivered, to_rfc3339
from failhook_sinks.alerts.entry import Entry
from failhook_sinks.alerts.inert import inert
from failhook_sinks.alerts.model import Alert, Notification, Status
from failhook_sinks.alerts.receivers.http import (
    Endpoint,
    post_fitting,
    read_endpoint,
    read_headers,
    read_timeout,
    time_left,
)
from failhook_sinks.alerts.text import Message, message_of

VARYING: Final = frozenset({"confidence", "action", "final", "executor", "code"})
"""Labels of ours that an alert may lose or change: the annotations of these names have them."""
INTERVALS: Final = 3
"""An alert that is not told of again for so many intervals is over."""

_BATCH: Final = 100
_MAX_VALUE: Final = 1_000
_PATH: Final = "/api/v2/alerts"
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")
_LINKS: Final = {"log": "log_url", "run": "run_url"}

_logger = getLogger("failhook.alerts")


def open_receiver(name: str, table: SettingsTable, clock: Clock) -> Alertmanager:
    """Return the receiver that a table describes; nothing is sent yet.

    Raises:
        ConfigError: a setting is missing, wrong or unknown.
    """
    headers, timeout = read_headers(table), read_timeout(table)
    endpoints = [
        read_endpoint(_with_path(url), _wrong(table, number), headers)
        for number, url in enumerate(table.texts("urls"))
    ]
    if not endpoints:
        must = 'write the URL of each Alertmanager of the cluster: urls = ["http://host:9093"]'
        raise table.error("urls", f"is missing; {must}")
    receiver = Alertmanager(
        name,
        tuple(endpoints),
        clock,
        timeout,
        labels=_labels(table),
        annotate=table.texts("annotate"),
    )
    table.done()
    return receiver


@dataclass(frozen=True, slots=True)
class Alertmanager:
    """Tells each Alertmanager of a cluster of every alert, as long as it fires.

    Attributes:
        name: in the configuration.
        endpoints: all of them, as each keeps its alerts to itself.
        clock: for the time until which an alert fires.
        timeout: seconds for all of them together.
        labels: what every alert has.
        annotate: labels of tasks that change from run to run.
    """

    name: str
    endpoints: Sequence[Endpoint]
    clock: Clock
    timeout: float
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotate: Sequence[str] = ()
    keep_alive: bool = True

    def send(self, notification: Notification) -> str:
        now = self.clock.now()
        message = message_of(notification)
        full = [
            self._alert(alert, entry, message, notification, now)
            for alert, entry in zip(notification.alerts, message.entries, strict=True)
        ]
        failed: list[Undelivered] = []
        for endpoint in self.endpoints:
            left = time_left(self.clock, self.timeout / len(self.endpoints))
            try:
                for start in range(0, len(full), _BATCH):
                    post_fitting(endpoint, _bodies(full[start : start + _BATCH]), left, now)
            except Undelivered as error:
                failed.append(error)
        self._judge(failed)
        return ""

    def _judge(self, failed: Sequence[Undelivered]) -> None:
        """Raise where none of them took all; one that did tells its cluster's receivers."""
        told = "; ".join(str(error) for error in failed)
        if failed and len(failed) == len(self.endpoints):
            waits = [error.retry_after for error in failed if error.retry_after is not None]
            raise Undelivered(
                told,
                retryable=any(error.retryable for error in failed),
                retry_after=min(waits) if waits else None,
            ) from None
        if failed:
            _logger.warning("alerts: receiver %s: only some have it: %s", self.name, told)

    def _alert(
        self,
        alert: Alert,
        entry: Entry,
        message: Message,
        notification: Notification,
        now: datetime,
    ) -> Mapping[str, Any]:
        labels, varying = identity(alert, self.annotate)
        links = {_LINKS.get(link.name, "runbook_url"): link.url for link in entry.links}
        told = {
            **varying,
            **links,
            "summary": entry.title,
            "description": "\n".join(f"{name}: {value}" for name, value in entry.facts),
            "attempt": str(alert.event.task.attempt),
            "run_id": alert.event.task.run_id,
            "failures": str(alert.count),
            "first_cause": alert.first_cause,
            "mention": message.mention,
            "note": message.note,
            "not_shown": str(message.more or ""),
        }
        if alert.status is Status.FIRING:
            until = now + timedelta(seconds=INTERVALS * notification.interval)
        else:
            until = max(alert.starts_at, alert.ends_at or now)
        document = {
            "labels": {**labels, **self.labels},
            "annotations": {name: inert(value) for name, value in told.items() if value},
            "startsAt": to_rfc3339(alert.starts_at),
            "endsAt": to_rfc3339(until),
        }
        generator = links.get("run_url") or links.get("log_url")
        return {**document, "generatorURL": generator} if generator else document


def identity(alert: Alert, annotate: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels of an alert, and what would be one if it stayed as it is.

    ``severity`` is a label where the task sets it; else it follows ``final``, which changes.
    ``node`` is one where the cause is that of a node. A better verdict changes neither ``kind``
    nor ``reason``: they are those that the alert began with. An index of a mapped task has a label
    of its own.

    Args:
        alert: the alert.
        annotate: labels of tasks that change from run to run.
    """
    event, task = alert.event, alert.event.task
    all_labels = dict(alert.labels)
    if event.type is EventType.AMENDED and event.previous is not None:
        all_labels |= {"kind": event.previous.kind.value, "reason": event.previous.reason}
    if task.map_index is not None:
        all_labels["map_index"] = str(task.map_index)
    varying = {*VARYING, *annotate}
    if "severity" not in task.labels:
        varying.add("severity")
    if not all_labels.get("cause", "").endswith(f"/{all_labels.get('node', '')}"):
        varying.add("node")
    labels: dict[str, str] = {}
    moved: dict[str, str] = {}
    for name in sorted(all_labels, key=lambda name: (name in task.labels, name)):
        into = moved if name in varying else labels
        into.setdefault(_valid(name), all_labels[name][:_MAX_VALUE])
    return labels, moved


def _valid(name: str) -> str:
    """Return a name that every Alertmanager takes: ``app.kubernetes.io/name`` has underscores."""
    valid = _NOT_IN_NAMES.sub("_", name)
    return f"_{valid}" if not valid or valid[0].isdigit() else valid


def _bodies(alerts: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the alerts as they are, and with the summary alone: who they are stays the same."""
    yield json.dumps(alerts).encode()
    brief = [
        {
            "labels": alert["labels"],
            "annotations": {"summary": alert["annotations"]["summary"]},
            "startsAt": alert["startsAt"],
            "endsAt": alert["endsAt"],
        }
        for alert in alerts
    ]
    yield json.dumps(brief).encode()


def _with_path(url: str) -> str:
    """Return the URL of the API below that of a server, as Prometheus's own path_prefix has it."""
    bare = url.rstrip("/")
    return bare if bare.endswith(_PATH) else f"{bare}{_PATH}"


def _wrong(table: SettingsTable, number: int) -> Callable[[str], ConfigError]:
    def wrong(problem: str) -> ConfigError:
        return table.error("urls", f"has a wrong entry: number {number + 1} {problem}")

    return wrong


def _labels(table: SettingsTable) -> Mapping[str, str]:
    """Read the table ``labels``: what every alert has, such as the cluster it comes from."""
    inner = table.table("labels")
    if inner is None:
        return {}
    labels: dict[str, str] = {}
    for name in cast("Mapping[str, object]", table.value("labels")):
        if not _NAME.fullmatch(name):
            raise inner.error(name, "is not the name of a label: letters, digits and _")
        labels[name] = inner.text(name)
    return labels
