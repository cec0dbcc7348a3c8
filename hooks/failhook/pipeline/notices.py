"""Tells the plugins of dead letters, in a thread of its own: a hung listener delays no delivery."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from failhook.event import FailureEvent
from failhook.manager import Manager

_MOST: Final = 100
"""Notices that wait; the oldest is forgotten first. The dead letter itself is in the store."""


class Notices:
    """Calls ``on_delivery_failed`` for each dead letter, once, as far as the process lives."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._waiting: deque[tuple[str, FailureEvent, str]] = deque(maxlen=_MOST)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def __call__(self, plugin: str, event: FailureEvent, error: str) -> None:
        """Have the other plugins told; it returns at once."""
        with self._lock:
            self._waiting.append((plugin, event, error))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._tell, name="failhook-notices", daemon=True
                )
                self._thread.start()

    def _tell(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                plugin, event, error = self._waiting.popleft()
            self._manager.call_hook("on_delivery_failed", event=event, plugin=plugin, error=error)
