"""From the state of a group to the notification that its receiver sends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from failhook.plugin import (
    Confidence,
    DroppedEvents,
    EventType,
    FailureDetails,
    FailureEvent,
    Kind,
    Task,
)
from failhook_sinks.alerts.episode import Episode, hashed
from failhook_sinks.alerts.labels import labels_of
from failhook_sinks.alerts.model import Alert, Notification, Status, Why
from failhook_sinks.alerts.moments import from_micros
from failhook_sinks.alerts.router import Place, Router
from failhook_sinks.alerts.state import GroupState

MOST: Final = 1_000
"""Alerts of one notification that fire, and that are well again; of more only how many fire."""
_MOST_MENTIONS: Final = 5


def compose(
    state: GroupState, key: str, why: Why, *, router: Router, send_resolved: bool, note: str = ""
) -> Notification:
    """Return what is to be said of a group now.

    Args:
        state: the group.
        key: its key.
        why: what makes the notification go out.
        router: knows whom the owners' mentions call.
        send_resolved: whether what is well again is told.
        note: one line above all else.
    """
    firing = sorted(state.firing, key=_newest_first)
    over = sorted(state.over if send_resolved else (), key=_newest_first)
    shown = [*firing[:MOST], *over[:MOST]]
    alerts = [_alert(episode) for episode in shown]
    return Notification(
        receiver=state.receiver,
        group_key=key,
        group_labels=state.labels,
        why=why,
        alerts=alerts,
        more=max(0, len(firing) - MOST) + state.beyond if firing else 0,
        failures=state.failures,
        since=from_micros(state.since),
        mention="" if why is Why.RESOLVED else _mentions(alerts, state.receiver, router),
        memory=state.memory,
        note=note,
    )


def summary(state: GroupState, age: str) -> str:
    """Return the line above failures that are told late."""
    newest = from_micros(max(episode.latest for episode in state.episodes.values()))
    failures = "1 older failure" if state.failures == 1 else f"{state.failures} older failures"
    until = f"{newest:%Y-%m-%d %H:%M} UTC"
    return f"{failures}, the last at {until}: more than {age} ago, while nothing was delivered"


def tell_dropped(dropped: DroppedEvents, place: Place, observer: str = "") -> Notification:
    """Return what is to be said of events that will never be delivered."""
    since, until = f"{dropped.since:%Y-%m-%d %H:%M}", f"{dropped.until:%Y-%m-%d %H:%M}"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(dropped.by_kind.items()))
    text = (
        f"{dropped.events} events from {since} to {until} UTC, {dropped.final} of them final"
        f"{f' ({kinds})' if kinds else ''}, are lost: more waited than max_events or max_bytes"
    )
    event = _event_of(dropped, text, observer)
    alert = Alert(
        fingerprint=hashed(place.key, digits=16),
        labels={**labels_of(event), "alertname": "EventsDropped"},
        status=Status.FIRING,
        starts_at=dropped.since,
        count=dropped.events,
        event=event,
    )
    return Notification(
        receiver=place.receiver,
        group_key=place.key,
        group_labels=place.labels,
        why=Why.NEW,
        alerts=[alert],
        failures=dropped.events,
        since=dropped.since,
        note=text,
    )


def _event_of(dropped: DroppedEvents, text: str, observer: str) -> FailureEvent:
    return FailureEvent(
        type=EventType.FAILED,
        event_id=hashed(dropped.plugin, str(dropped.since), str(dropped.until), digits=32),
        revision=0,
        task=Task("failhook", dropped.plugin, run_id="dropped"),
        failure_details=FailureDetails(
            kind=Kind.INFRA,
            reason="EventsDropped",
            message=text,
            confidence=Confidence.CONFIRMED,
            rule="alerts.dropped",
        ),
        started_at=dropped.since,
        ended_at=dropped.until,
        observed_at=dropped.until,
        observer=observer,
    )


def _alert(episode: Episode) -> Alert:
    event = episode.newest()
    return Alert(
        fingerprint=episode.fingerprint,
        labels=episode.labels,
        status=Status.RESOLVED if episode.resolved else Status.FIRING,
        starts_at=from_micros(episode.since),
        ends_at=_ended(episode),
        count=episode.count,
        runs=episode.runs,
        event=event,
        first_cause=_first_cause(event),
        is_new=not episode.said,
    )


def _ended(episode: Episode) -> datetime | None:
    """Return when it was well again, which is never before it failed, whatever clocks say."""
    return from_micros(max(episode.resolved, episode.latest)) if episode.resolved else None


def _first_cause(event: FailureEvent) -> str:
    first, now = event.first_failure, event.failure_details
    if first is None:
        return ""
    line = event.first_error or first.message
    told = f"{first.reason}: {line}" if line else first.reason
    root = event.error and event.error.root
    same = root is None or not event.first_error or event.first_error == _line(root.name, root)
    return "" if same and (first.kind, first.reason) == (now.kind, now.reason) else told


def _line(name: str, error: object) -> str:
    message = str(getattr(error, "message", "")).strip()
    return f"{name}: {message.splitlines()[0]}" if message else name


def _mentions(alerts: Sequence[Alert], receiver: str, router: Router) -> str:
    """Return whom the owners of what fires want called there; each once."""
    owners = [
        router.owner(alert.labels, alert.event.task)
        for alert in alerts
        if alert.status is Status.FIRING
    ]
    found = [owner.mention_at(receiver) for owner in owners if owner is not None]
    called = list(dict.fromkeys(mention for mention in found if mention))
    return " ".join(called[:_MOST_MENTIONS])


def _newest_first(episode: Episode) -> int:
    return -max(episode.latest, episode.resolved)
