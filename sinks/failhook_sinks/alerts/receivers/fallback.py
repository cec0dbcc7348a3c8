"""A receiver with another one behind it, for what the first does not take."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from logging import getLogger
from typing import Final

from failhook.plugin import Clock, Undelivered
from failhook_sinks.alerts.inert import one_line
from failhook_sinks.alerts.model import Notification, Receiver, Status, Why

AFTER: Final = 300.0
"""Seconds that a receiver may be out of reach before the fallback is told instead."""

_MAX_WHY: Final = 300
_MOST_ENDED: Final = 1_000
_TOLD: Final = "told"
_PASSED_ON: Final = "passed_on"

_logger = getLogger("failhook.alerts")


class WithFallback:
    """Sends to the fallback what the receiver refuses, with the reason told.

    What may pass is left to the outbox, which tries again; where the receiver has taken nothing for
    `after` seconds, the fallback gets that too. Who was told that something fires is told that it
    is well again, and nobody else is: the receiver first, and for as long as the outbox tries.

    Args:
        receiver: the first choice.
        fallback: returns the second.
        clock: measures how long the receiver has been out of reach in this process, and how long
            news has waited, for processes that live shorter than that.
        after: seconds.
    """

    def __init__(
        self,
        receiver: Receiver,
        fallback: Callable[[], Receiver],
        clock: Clock,
        after: float = AFTER,
    ) -> None:
        self._receiver = receiver
        self._fallback = fallback
        self._clock = clock
        self._after = after
        self._out_since: float | None = None
        self._ended: dict[tuple[object, ...], set[str]] = {}

    @property
    def name(self) -> str:
        return self._receiver.name

    @property
    def keep_alive(self) -> bool:
        return self._receiver.keep_alive

    def send(self, notification: Notification) -> str:
        told, passed_on = self._remembered(notification.memory)
        if notification.status is Status.RESOLVED:
            self._end(notification, told or {self.name: ""})
            return ""
        try:
            self._first(notification, told)
        except Undelivered as error:
            if not (self._passes_on(error) or self._has_waited(notification)):
                raise
            if self._is_due(notification, told, passed_on):
                self._instead(notification, told, error)
                passed_on = self._clock.now().timestamp()
        return json.dumps({_TOLD: told, _PASSED_ON: passed_on})

    def _first(self, notification: Notification, told: dict[str, str]) -> None:
        _send(self._receiver, notification, told, notification.note)
        self._out_since = None

    def _passes_on(self, error: Undelivered) -> bool:
        """Return whether it is for the fallback."""
        if not error.retryable:
            return True
        now = self._clock.monotonic()
        if self._out_since is None:
            self._out_since = now
        return now - self._out_since >= self._after

    def _has_waited(self, notification: Notification) -> bool:
        """Return whether news waits for longer than until its group is due and the fallback is."""
        since = min(
            (alert.event.observed_at for alert in notification.alerts if alert.is_new), default=None
        )
        if since is None:
            return False
        waited = (self._clock.now() - since).total_seconds()
        return waited >= notification.interval + self._after

    def _is_due(
        self, notification: Notification, told: Mapping[str, str], passed_on: float
    ) -> bool:
        """Return whether the fallback is to hear of it, which nothing keeps alive."""
        if not self.keep_alive or notification.why is not Why.REMINDER:
            return True
        if self._fallback().name not in told:
            return True
        return self._clock.now().timestamp() - passed_on > notification.repeat_interval

    def _instead(
        self, notification: Notification, told: dict[str, str], error: Undelivered
    ) -> None:
        fallback = self._fallback()
        why = one_line(str(error), _MAX_WHY)
        note = f"{fallback.name} gets this because {self.name} did not take it: {why}"
        try:
            _send(fallback, notification, told, note)
        except Undelivered as other:
            raise self._neither(error, other) from None

    def _end(self, notification: Notification, told: dict[str, str]) -> None:
        """Tell each that was told, and none of them twice in this process.

        Raises:
            Undelivered: one of them may take it later, or none has taken it.
        """
        # No note is written before all have it: what one of them has is remembered here.
        key = (
            *(notification.group_key, notification.since),
            *(notification.failures, notification.memory),
        )
        ended = self._ended.pop(key, set[str]())
        refusals: list[Undelivered] = []
        if self.name in told and self.name not in ended:
            try:
                self._first(notification, told)
                ended.add(self.name)
            except Undelivered as error:
                refusals.append(error)
        fallback = self._fallback()
        waits = any(not self._passes_on(error) for error in refusals)
        if fallback.name in told and fallback.name not in ended and not waits:
            try:
                _send(fallback, notification, told, notification.note)
                ended.add(fallback.name)
            except Undelivered as error:
                refusals.append(error)
        if any(error.retryable for error in refusals) or (refusals and not ended):
            self._remember(key, ended)
            raise refusals[0] if len(refusals) == 1 else self._neither(*refusals)
        for refusal in refusals:
            _logger.warning(
                "alerts: receiver %s: one was not told of the end: %s", self.name, refusal
            )

    def _remember(self, key: tuple[object, ...], ended: set[str]) -> None:
        while len(self._ended) >= _MOST_ENDED:
            self._ended.pop(next(iter(self._ended)))
        self._ended[key] = ended

    def _neither(self, error: Undelivered, other: Undelivered) -> Undelivered:
        why = one_line(str(error), _MAX_WHY)
        waits = [each.retry_after for each in (error, other) if each.retryable]
        return Undelivered(
            f"{self.name}: {why}; its fallback {self._fallback().name}: {other}",
            retryable=error.retryable or other.retryable,
            retry_after=min((wait for wait in waits if wait is not None), default=None),
        )

    def _remembered(self, memory: str) -> tuple[dict[str, str], float]:
        """Return what each that was told remembers, by name, and when the fallback was, POSIX time.

        What was written before there was a fallback is the receiver's own.
        """
        return _read(memory) or (({self.name: memory} if memory else {}), 0.0)


def own_memory(name: str, memory: str) -> str:
    """Return what a receiver by itself remembers, also of the time when it had a fallback."""
    written = _read(memory)
    return memory if written is None else written[0].get(name, "")


def _read(memory: str) -> tuple[dict[str, str], float] | None:
    try:
        document = json.loads(memory)
        told = {str(name): str(text) for name, text in dict(document[_TOLD]).items()}
        return told, float(document.get(_PASSED_ON, 0.0))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _send(receiver: Receiver, notification: Notification, told: dict[str, str], note: str) -> None:
    """Send to one of the two, with what that one remembers."""
    own = replace(
        notification, receiver=receiver.name, memory=told.get(receiver.name, ""), note=note
    )
    told[receiver.name] = receiver.send(own)
