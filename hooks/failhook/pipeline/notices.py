"""Tells the plugins of dead letters, in a thread of its own: a hung listener delays no delivery."""

from __future__ import annotations

import logging
from collections import deque
from typing import Final

from failhook.clock import Clock
from failhook.event import FailureEvent
from failhook.log import say
from failhook.manager import Manager
from failhook.outbox.duty import Duty

_MOST: Final = 1_000
"""Notices that wait; the newest is forgotten first. The dead letter itself is in the store."""

_IDLE: Final = 3600.0


class Notices:
    """Calls ``on_delivery_failed`` for each dead letter, once, as far as the process lives."""

    def __init__(self, manager: Manager, clock: Clock) -> None:
        self._manager = manager
        self._waiting: deque[tuple[str, FailureEvent, str]] = deque()
        self._full = False
        self.duty = Duty("failhook-notices", self._tell, broke=self._broke, clock=clock)

    def __call__(self, plugin: str, event: FailureEvent, error: str) -> None:
        """Have the other plugins told; it returns at once."""
        if len(self._waiting) < _MOST:
            self._waiting.append((plugin, event, error))
            self._full = False
        elif not self._full:
            self._full = True
            say(
                logging.WARNING,
                "%d dead letters wait to be told to other plugins; further ones are not told",
                _MOST,
            )
        self.duty.wake()

    def _tell(self) -> float:
        while self._waiting and not self.duty.ending:
            plugin, event, error = self._waiting.popleft()
            self._manager.call_hook("on_delivery_failed", event=event, plugin=plugin, error=error)
        return _IDLE

    def _broke(self, error: Exception) -> float:
        say(logging.ERROR, "a dead letter could not be told to other plugins", error=error)
        return 0.0
