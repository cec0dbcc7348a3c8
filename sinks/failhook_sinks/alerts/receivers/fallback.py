"""A receiver with another one behind it, for what the first does not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from failhook.plugin import Clock, Undelivered
from failhook_sinks.alerts.inert import one_line
from failhook_sinks.alerts.model import Notification, Receiver, Status

AFTER: Final = 300.0
"""Seconds that a receiver may be out of reach before the fallback is told instead."""

_MAX_WHY: Final = 300
_TOLD: Final = "told"


class WithFallback:
    """Sends to the fallback what the receiver refuses, with the reason told.

    What may pass is left to the outbox, which tries again; where the receiver has taken nothing for
    `after` seconds, the fallback gets that too. Who was told that something fires is told that it
    is well again.

    Args:
        receiver: the first choice.
        fallback: returns the second.
        clock: measures how long the receiver has been out of reach, in this process.
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

    @property
    def name(self) -> str:
        return self._receiver.name

    @property
    def keep_alive(self) -> bool:
        return self._receiver.keep_alive

    def send(self, notification: Notification) -> str:
        told = self._told(notification.memory)
        over = notification.status is Status.RESOLVED
        fallback = self._fallback()
        if over and fallback.name in told:
            # Before the first choice: resolving may be done twice, telling of it may not.
            self._send(fallback, notification, told, "")
            if self.name not in told:
                return ""
        try:
            self._send(self._receiver, notification, told, notification.note)
        except Undelivered as error:
            if not self._passes_on(error):
                raise
            if over and fallback.name in told:
                return ""
            self._instead(fallback, notification, told, error)
        else:
            self._out_since = None
        return "" if over else json.dumps({_TOLD: told})

    def _passes_on(self, error: Undelivered) -> bool:
        """Return whether it is for the fallback."""
        if not error.retryable:
            return True
        now = self._clock.monotonic()
        if self._out_since is None:
            self._out_since = now
        return now - self._out_since >= self._after

    def _instead(
        self,
        fallback: Receiver,
        notification: Notification,
        told: dict[str, str],
        error: Undelivered,
    ) -> None:
        why = one_line(str(error), _MAX_WHY)
        note = f"{fallback.name} gets this because {self.name} did not take it: {why}"
        try:
            self._send(fallback, notification, told, note)
        except Undelivered as other:
            message = f"{self.name}: {why}; its fallback {fallback.name}: {other}"
            retryable = error.retryable or other.retryable
            waits = [each.retry_after for each in (error, other) if each.retryable]
            known = [wait for wait in waits if wait is not None]
            raise Undelivered(
                message, retryable=retryable, retry_after=min(known, default=None)
            ) from None

    def _told(self, memory: str) -> dict[str, str]:
        """Return what each receiver that was told remembers, by name.

        What was written before there was a fallback is the receiver's own.
        """
        try:
            told = json.loads(memory)[_TOLD]
            return {str(name): str(text) for name, text in dict(told).items()}
        except (ValueError, KeyError, TypeError):
            return {self.name: memory} if memory else {}

    @staticmethod
    def _send(
        receiver: Receiver, notification: Notification, told: dict[str, str], note: str
    ) -> None:
        """Send to one of the two, with what that one remembers."""
        own = replace(
            notification, receiver=receiver.name, memory=told.get(receiver.name, ""), note=note
        )
        told[receiver.name] = receiver.send(own)
