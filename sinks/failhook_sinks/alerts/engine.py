"""Alertmanager's dispatcher over the outbox: when a group is looked at, and what comes of it.

Nothing is kept here: what a group remembers is its note in the notification log, written only when
what it tells of has been sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from failhook.plugin import (
    Clock,
    DroppedEvents,
    EventType,
    FailureEvent,
    Group,
    Handled,
    PluginState,
)
from failhook_sinks.alerts.compose import compose, summary, tell_dropped
from failhook_sinks.alerts.dedup import Standing, to_say
from failhook_sinks.alerts.episode import job_id, told_once
from failhook_sinks.alerts.explain import lane_of
from failhook_sinks.alerts.model import Notification, Receiver, Why
from failhook_sinks.alerts.moments import from_micros, in_words, to_micros
from failhook_sinks.alerts.open_alerts import OpenAlerts
from failhook_sinks.alerts.receivers.fallback import WithFallback, own_memory
from failhook_sinks.alerts.router import Lane, Router
from failhook_sinks.alerts.state import GroupState, index_key, is_recovery, read_state
from failhook_sinks.alerts.tree import Route, routes_of

QUIET_AFTER: Final = timedelta(days=7)
"""Nobody is reminded of what has not failed for so long; its recovery is told all the same."""

FORGET_AFTER: Final = timedelta(days=400)
"""What has not failed for so long is forgotten: jobs that run once a year are told to be well."""

WELL_FOR: Final = timedelta(days=30)
"""For so long after a recovery what had failed before it is known to be over, when it is late."""


class Engine:
    """Routes events into groups, and has what is due of them sent.

    Args:
        router: the routing tree and the owners.
        receivers: where notifications go, by name.
        state: the plugin's own, for the index of open alerts.
        clock: the time.
        max_age: seconds; older failures are told in one summary per route.
        docs_url: see `Notification`.
        run_url: as `docs_url`.
    """

    def __init__(
        self,
        router: Router,
        receivers: Mapping[str, Receiver],
        *,
        state: PluginState,
        clock: Clock,
        max_age: float,
        docs_url: str = "",
        run_url: str = "",
    ) -> None:
        self._router = router
        self._receivers = receivers
        self._open = OpenAlerts(state)
        self._clock = clock
        self._max_age = max_age
        self._docs_url = docs_url
        self._run_url = run_url
        self._sweep_at: datetime | None = None

    def groups(self, event: FailureEvent) -> Sequence[Group]:
        """Return the groups in which an event is to wait; none where nobody wants it."""
        now = self._clock.now()
        if event.type in (EventType.RECOVERED, EventType.AMENDED):
            if event.type is EventType.RECOVERED:
                self._open.well(event)
            return [
                Group(key, now + timedelta(seconds=self._wait(key)))
                for key in self._open.groups(event)
            ]
        lane = lane_of(event, now=now, max_age=self._max_age)
        places = self._router.places(event, lane)
        if not told_once(event):
            keys = [place.key for place in places]
            self._open.add(event, keys)
            if keys and self._open.is_over(event):
                for key in keys:
                    self._open.remove(key, [(job_id(event), index_key(event))])
                return []
        return [
            Group(place.key, now + timedelta(seconds=place.route.group_wait)) for place in places
        ]

    def due(
        self,
        key: str,
        events: Sequence[FailureEvent],
        remaining: int,
        note: str,
        sent_at: datetime | None,
    ) -> Handled:
        """Look at a group: take in what waited, and send what there is to say.

        Raises:
            Undelivered: the receiver did not take it; nothing has changed.
        """
        now = self._clock.now()
        self._tidy(now)
        state = read_state(note)
        route, lane = self._settle_place(state, key, events)
        self._take_in(state, key, events, route)
        state.expire(to_micros(now - FORGET_AFTER), route.threshold, to_micros(now))
        if remaining:
            return self._handled(state, key, now, sent=False)
        why = self._why(state, route, sent_at, now)
        sends = why is not None and (why is not Why.RESOLVED or route.send_resolved)
        if why is None or not sends:
            state.silent()
        else:
            line = summary(state, in_words(self._max_age)) if _late(lane, why) else ""
            notification = compose(
                state,
                key,
                why,
                router=self._router,
                send_resolved=route.send_resolved,
                note=line,
            )
            state.memory = self._send(notification, route)
            state.notified()
        if not state.firing:
            state.end()
        awake = lane != "simulated" and any(
            from_micros(episode.latest) > now - QUIET_AFTER for episode in state.firing
        )
        again = now + timedelta(seconds=route.group_interval) if awake else None
        return self._handled(state, key, again, sent=sends)

    def dropped(self, dropped: DroppedEvents) -> None:
        """Tell whoever gets what no route takes of events that will never be delivered.

        Raises:
            Undelivered: the receiver did not take it.
        """
        self._sweep(self._clock.now())  # of what was dropped, keys are left over
        root = self._router.root
        place = self._router.place(root, {}, None)
        place = replace(place, key=f"{place.key}/dropped")
        self._send(tell_dropped(dropped, place), root)

    def _send(self, notification: Notification, route: Route) -> str:
        whole = replace(
            notification,
            interval=route.group_interval,
            repeat_interval=route.repeat_interval,
            docs_url=self._docs_url,
            run_url=self._run_url,
        )
        receiver = self._receivers[whole.receiver]
        if not isinstance(receiver, WithFallback):
            whole = replace(whole, memory=own_memory(receiver.name, whole.memory))
        return receiver.send(whole)

    def _wait(self, key: str) -> float:
        route, _ = self._router.route_of(key)
        return (route or self._router.root).group_wait

    def _settle_place(
        self, state: GroupState, key: str, events: Sequence[FailureEvent]
    ) -> tuple[Route, Lane]:
        """Return the route of a group, and let the group know who gets it.

        Where the configuration has changed and no route means what the group's did, the group goes
        on where its alerts would go now, without reminders: new failures have their new groups.
        """
        route, lane = self._router.route_of(key)
        if route is not None and state.receiver in self._receivers:
            return route, lane
        failures = [event for event in events if event.type not in _FOLLOWING]
        known = [episode.newest() for episode in state.episodes.values()]
        found = route
        for event in (failures or known)[-1:]:
            labels, owner = self._router.labels(event)
            if found is None:
                found = next(iter(routes_of(self._router.root, labels)), self._router.root)
            place = self._router.place(found, labels, owner, lane)
            if state.receiver not in self._receivers:
                state.receiver, state.memory = place.receiver, ""
                state.labels = state.labels or place.labels
        found = found or self._router.root
        return (found if route else replace(found, repeat_interval=float("inf"))), lane

    def _take_in(
        self, state: GroupState, key: str, events: Sequence[FailureEvent], route: Route
    ) -> None:
        for event in events:
            if is_recovery(event):
                if not state.recovered(event):
                    self._open.remove_left_over(event, key)
                continue
            labels, _ = self._router.labels(event)
            if event.type is EventType.AMENDED:
                state.amended(event, labels)
            else:
                state.failed(event, labels, route.threshold)

    def _why(
        self, state: GroupState, route: Route, sent_at: datetime | None, now: datetime
    ) -> Why | None:
        firing = state.firing
        standing = Standing(
            firing=bool(firing),
            new=any(not episode.said for episode in firing),
            told=state.told,
            over=bool(state.over),
            sent_at=sent_at,
        )
        why = to_say(
            standing,
            send_resolved=route.send_resolved,
            repeat_interval=route.repeat_interval,
            now=now,
        )
        if why is None and firing and self._receivers[state.receiver].keep_alive:
            return Why.REMINDER
        return why

    def _handled(
        self, state: GroupState, key: str, again_at: datetime | None, *, sent: bool
    ) -> Handled:
        note = state.write()
        self._open.remove(key, state.settled)
        return Handled(note=note, again_at=again_at, sent=sent)

    def _tidy(self, now: datetime) -> None:
        """Forget, once a day, what was left over in the index."""
        if self._sweep_at is None or now >= self._sweep_at:
            self._sweep_at = now + timedelta(days=1)
            self._sweep(now)

    def _sweep(self, now: datetime) -> None:
        self._open.sweep(to_micros(now - FORGET_AFTER), to_micros(now - WELL_FOR))


_FOLLOWING: Final = (EventType.RECOVERED, EventType.AMENDED)


def _late(lane: Lane, why: Why) -> bool:
    return lane == "older" and why in (Why.NEW, Why.CHANGED)
