"""Empties the outbox: a lane per plugin, a watch over hung ones, and an honest close."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterable
from logging import ERROR

from failhook.clock import Clock
from failhook.errors import StoreError
from failhook.event import FailureEvent
from failhook.log import say
from failhook.outbox.lane import Handover, Lane
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Outbox


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
        gone: returns whether the process of that owner's name is known to be gone.
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
        gone: Callable[[str], bool],
        owner: str,
    ) -> None:
        self._outbox = outbox
        self._handover = handover
        self._clock = clock
        self._limits = limits
        self._random = random
        self._attach = attach
        self._buried = buried
        self._gone = gone
        self._owner = owner
        self._lanes: dict[str, Lane] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None
        self._pid = os.getpid()
        self._went_out = False

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

        A second close changes nothing.

        Args:
            timeout: seconds. A hung plugin's thread is left behind; it is a daemon.
        """
        if self._closed.is_set():
            return self._went_out
        end = self._clock.monotonic() + timeout
        self.flush(timeout)
        self._closed.set()
        atexit.unregister(self._at_exit)
        lanes = list(self._lanes.values())
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            lane.join(end - self._clock.monotonic())
        try:
            self._outbox.release(self._owner)
            self._went_out = self._outbox.pending(list(self._handover.names())) == 0
        except StoreError as error:
            say(ERROR, "it cannot be told whether every event went out: %s", error)
        return self._went_out

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
                    gone=self._gone,
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
            try:
                self._give_up()
            except Exception as error:  # noqa: BLE001 - without its watch, nothing hung is seen
                say(ERROR, "a late event cannot be put back", error=error)

    def _give_up(self) -> None:
        for plugin in self._handover.overdue():
            lane = self._lanes.get(plugin)
            if lane is not None:
                lane.give_up()
