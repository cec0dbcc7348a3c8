"""Empties the outbox: a lane per plugin, a watch over hung ones, and an honest close."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Iterable

from failhook.clock import Clock
from failhook.errors import StoreError
from failhook.event import FailureEvent
from failhook.outbox.lane import Handover, Lane
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Outbox

_log = logging.getLogger("failhook")


class Drainer:
    """Delivers what the outbox holds for the plugins of this process, off the caller's path.

    Threads begin with the first event: one per plugin that has one, and one that watches them.

    Args:
        outbox: where events wait.
        handover: the plugins.
        clock: the time.
        attach: puts the live exception back on an event that this process reported.
        limits: how hard to try.
        random: returns a number in 0..1, for the jitter of backoffs.
        buried: told of each dead letter: plugin, event, and why. It must not block.
        owner: a name for this process's leases that no other process has.
    """

    def __init__(
        self,
        outbox: Outbox,
        handover: Handover,
        clock: Clock,
        *,
        attach: Callable[[FailureEvent, str], FailureEvent],
        limits: DeliveryLimits,
        random: Callable[[], float],
        buried: Callable[[str, FailureEvent, str], None],
        owner: str,
    ) -> None:
        self._outbox = outbox
        self._handover = handover
        self._clock = clock
        self._limits = limits
        self._random = random
        self._attach = attach
        self._buried = buried
        self._owner = owner
        self._lanes: dict[str, Lane] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None
        self._pid = os.getpid()

    def wake(self, plugins: Iterable[str]) -> None:
        """Let these plugins' lanes look for rows soon."""
        lanes = self._lanes
        for plugin in plugins:
            lane = lanes.get(plugin)
            (lane or self._lane(plugin)).wake()

    def flush(self, timeout: float) -> bool:
        """Have everything that is due tried once; return whether that was done in time."""
        end = self._clock.monotonic() + timeout
        tickets = [(lane, lane.ask()) for lane in map(self._lane, self._handover.names())]
        in_time = [lane.served(ticket, end - self._clock.monotonic()) for lane, ticket in tickets]
        return all(in_time)

    def close(self, timeout: float) -> bool:
        """Flush, end the lanes, give back what they hold; return whether everything went out.

        Args:
            timeout: seconds. A hung plugin's thread is left behind; it is a daemon.
        """
        end = self._clock.monotonic() + timeout
        atexit.unregister(self._at_exit)
        self.flush(timeout)
        self._closed.set()
        lanes = list(self._lanes.values())
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            lane.join(end - self._clock.monotonic())
        try:
            for lane in lanes:
                lane.release()
            return self._outbox.pending(list(self._handover.names())) == 0
        except StoreError:
            return False

    def _lane(self, plugin: str) -> Lane:
        with self._lock:
            lane = self._lanes.get(plugin)
            if lane is None:
                lane = self._lanes[plugin] = Lane(
                    plugin,
                    outbox=self._outbox,
                    handover=self._handover,
                    clock=self._clock,
                    limits=self._limits,
                    random=self._random,
                    attach=self._attach,
                    buried=self._buried,
                    owner=self._owner,
                )
            if self._watch is None and not self._closed.is_set():
                self._watch = threading.Thread(
                    target=self._watch_lanes, name="failhook-watch", daemon=True
                )
                self._watch.start()
                atexit.register(self._at_exit)
            return lane

    def _at_exit(self) -> None:
        """Deliver what is due before the interpreter ends; a forked child leaves it alone."""
        if os.getpid() == self._pid:
            self.close(self._limits.at_exit)

    def _watch_lanes(self) -> None:
        while not self._closed.wait(self._limits.watch):
            for plugin in self._handover.overdue():
                lane = self._lanes.get(plugin)
                try:
                    if lane is not None:
                        lane.give_up()
                except StoreError as error:
                    _log.error("%s: a late event cannot be put back: %s", plugin, error)
