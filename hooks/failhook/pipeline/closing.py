"""A close that keeps its time whatever hangs, and that many may ask for."""

from __future__ import annotations

import logging
import os
import threading
from typing import Final

from failhook.clock import Clock
from failhook.errors import StoreError
from failhook.log import say
from failhook.manager import Manager
from failhook.outbox.drainer import Drainer
from failhook.outbox.port import Store
from failhook.pipeline.counts import Counts

_RESERVE: Final = 1.0
"""Seconds of a close, a quarter of it at most, that are kept for what comes after the flush."""


class Closing:
    """Ends deliveries, plugins and store of one process, once.

    Args:
        store: asked last whether anything waits.
        manager: the plugins.
        drainer: what delivers to them.
        counts: written before the end.
        clock: the time.
        owner: the name of this process's leases.
    """

    def __init__(
        self,
        store: Store,
        manager: Manager,
        drainer: Drainer,
        counts: Counts,
        *,
        clock: Clock,
        owner: str,
    ) -> None:
        self._store = store
        self._manager = manager
        self._drainer = drainer
        self._counts = counts
        self._clock = clock
        self._owner = owner
        self._lock = threading.RLock()  # a signal's handler may close too
        self._begun = False
        self._over = threading.Event()
        self._nothing_waits: bool | None = None
        self._pid = os.getpid()

    def close(self, timeout: float, *, deliver: bool = True) -> bool:
        """Deliver what is due, end everything; return whether nothing waits for these plugins.

        Whoever comes second waits for the first, and is told the same.

        Args:
            timeout: seconds; what hangs is left behind, in daemon threads.
            deliver: whether what is due is offered once more.
        """
        if self._pid != os.getpid():  # forked while it closed: that is the parent's to end
            return bool(self._nothing_waits)
        end = self._clock.monotonic() + timeout
        with self._lock:
            first, self._begun = not self._begun, True
        if first:
            for_deliveries = max(0.0, timeout - min(_RESERVE, timeout / 4))
            self._drainer.close(for_deliveries, deliver=deliver)
            self._end_apart(end)
        self._over.wait(self._left(end))
        if self._nothing_waits is None:
            say(logging.ERROR, "the store did not say within %.3g s what waits", timeout)
        return bool(self._nothing_waits)

    def _end_apart(self, end: float) -> None:
        """End the rest in a thread, since a store may hang; here where no thread can begin."""
        thread = threading.Thread(target=self._end, args=(end,), name="failhook-close", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            self._end(end)

    def _end(self, end: float) -> None:
        try:
            self._counts.write()
            self._store.release(self._owner)
            self._nothing_waits = self._store.pending(list(self._manager.names())) == 0
        except StoreError as error:
            self._nothing_waits = False
            say(logging.ERROR, "it cannot be told whether every event went out: %s", error)
        try:
            self._manager.close(self._left(end))
            self._store.close()
        except StoreError as error:
            say(logging.ERROR, "the store cannot be closed: %s", error)
        finally:
            self._over.set()

    def _left(self, end: float) -> float:
        return max(0.0, end - self._clock.monotonic())
