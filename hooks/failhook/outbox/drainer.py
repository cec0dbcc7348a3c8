"""Empties the outbox: a lane per plugin, and a watch that keeps leases and sees what hangs."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable, Sequence
from logging import ERROR
from typing import Final

from failhook.errors import StoreError
from failhook.forks import (
    CALL_PATIENCE,
    COUNTS_AFTERWARDS,
    PATIENCE,
    at_end_of_child,
    watch_forks,
)
from failhook.log import say
from failhook.outbox.duty import Duty
from failhook.outbox.lane import Lane
from failhook.outbox.means import Means

_TICK: Final = 0.01
_TOO_LATE: Final = (
    "an event was reported too late to be delivered by this process, which is at its end; close "
    "the pipeline after the last report"
)

_RESERVE: Final = 0.5
"""Seconds of an end of the interpreter that are kept for giving leases back."""


class Drainer:
    """Delivers what the outbox holds for the plugins of this process, off the caller's path.

    Threads begin with the first event: one per plugin that has one, and one that watches them. They
    end while the process forks. None of them holds the drainer's maker, which calls `retire` when
    it is forgotten without a close.

    Args:
        means: what lanes work with.
        beside: other threads that come and go with the lanes, and are asked after them in a flush.
    """

    def __init__(self, means: Means, beside: Sequence[Duty] = ()) -> None:
        self._means = means
        self._beside = beside
        self._lanes: dict[str, Lane] = {}
        self._lock = threading.RLock()  # a signal's handler may report too
        self._pid = os.getpid()
        self._closed = False
        self._retiring = False
        self._dormant = False
        self._took_over = False
        self._letting_go = False
        self._write_at = means.clock.monotonic()
        self._watch = Duty("failhook-watch", self._look_after, broke=self._broke, clock=means.clock)
        self._exits_by: float | None = None
        watch_forks(self)
        # The handlers of a host that came later run before this one, and may report.
        atexit.register(self._at_exit)
        self._not_at_end_of_child = at_end_of_child(self._at_exit)

    def wake(self, plugins: Iterable[str]) -> None:
        """Let these plugins' lanes look for rows soon."""
        if self._exits_by is not None:
            self._deliver_late(plugins)
            return
        lanes, courier = self._lanes, self._means.courier
        for plugin in plugins:
            lane = lanes.get(plugin)
            if lane is None and courier is not None and courier.takes(plugin):
                courier.wake()
            else:
                (lane or self._lane(plugin)).wake()

    def take_over(self) -> None:
        """Begin to deliver what an earlier process has left; only the first call does anything.

        Raises:
            StoreError: the outbox cannot be read; the next call tries again.
        """
        if self._took_over:
            return
        means, now = self._means, self._means.clock.now()
        if means.outbox.next_due(means.names(), now) is not None:
            self.start()
        if means.courier is not None:
            others = [name for name in means.handover.names() if means.courier.takes(name)]
            if means.outbox.next_due(others, now) == now:
                means.courier.wake()
        self._took_over = True

    def start(self) -> None:
        """Begin to deliver for every plugin, whoever reports, until `close`."""
        self.wake(self._means.names())

    def flush(self, timeout: float) -> bool:
        """Have everything that is due tried once; return whether that was done in time.

        It is not waited for a plugin that hangs, nor for the one that calls this.

        Args:
            timeout: seconds.
        """
        return self._flush([self._lane(name) for name in self._means.names()], timeout)

    def _flush(self, lanes: Sequence[Lane], timeout: float) -> bool:
        end = self._means.clock.monotonic() + timeout
        tickets = [(lane, lane.duty.ask()) for lane in lanes]
        in_time = [lane.served(ticket, self._left(end)) for lane, ticket in tickets]
        self._write_at = self._means.clock.monotonic()
        for duty in (*self._beside, self._watch):
            if duty.alive:
                duty.served(duty.ask(), self._left(end))
        return all(in_time)

    @property
    def at_rest(self) -> bool:
        """Return whether each lane has nothing to do, or is held by a plugin that hangs."""
        return all(lane.duty.idle or lane.stuck for lane in list(self._lanes.values()))

    def close(self, timeout: float, *, deliver: bool = True) -> None:
        """Flush and end the threads; it never waits for the store itself.

        Args:
            timeout: seconds. A hung plugin's thread is left behind; it is a daemon.
            deliver: whether what is due is offered once more.
        """
        end = self._means.clock.monotonic() + timeout
        if deliver:
            self.flush(timeout)
        self._end(end)

    def retire(self) -> None:
        """Let the threads end when they have tried what is due: whoever made this is gone."""
        if self._closed or os.getpid() != self._pid:
            return
        self._retiring = True
        for lane in list(self._lanes.values()):
            lane.duty.retire()
        for duty in self._beside:
            duty.retire()
        if not self._watch.alive:
            self._not_at_exit()

    def come_back(self) -> None:
        """Begin the threads anew that a fork has ended, where Python does not let it do so."""
        if self._dormant:
            self._dormant = False
            for duty in self._duties():
                duty.resume(begin=True)

    def before_fork(self) -> None:
        """End the threads; one that is in a plugin's call is soon waited for no longer."""
        end = self._means.clock.monotonic() + PATIENCE
        duties = self._duties()
        for duty in duties:
            duty.pause()
        for lane in list(self._lanes.values()):
            while not (lane.duty.mine or lane.duty.join(_TICK)):
                if lane.in_call_for > CALL_PATIENCE or self._left(end) <= 0:
                    break
        for duty in (*self._beside, self._watch):
            duty.join(min(CALL_PATIENCE, self._left(end)))

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._dormant = COUNTS_AFTERWARDS
        for duty in self._duties():
            duty.resume(begin=not COUNTS_AFTERWARDS)

    def after_fork_in_child(self) -> None:
        """Leave everything to the parent: a child that needs a drainer makes its own."""

    def _duties(self) -> list[Duty]:
        lanes = [lane.duty for lane in list(self._lanes.values())]
        return [*lanes, *self._beside, self._watch]

    def _lane(self, plugin: str) -> Lane:
        with self._lock:
            lane = self._lanes.get(plugin)
            if lane is None:
                lane = self._lanes.setdefault(plugin, Lane(plugin, self._means))
                self._watch.wake()
                if self._closed:
                    lane.duty.stop()
            return lane

    def _at_exit(self) -> None:
        """Deliver what is due before the interpreter ends; a forked child leaves it alone.

        Python 3.12 begins no thread any more then, so that only those are asked that have begun.
        """
        if os.getpid() == self._pid:
            seconds = self._means.limits.at_exit
            end = self._means.clock.monotonic() + seconds
            tried = end - min(_RESERVE, seconds / 4)
            lanes = [lane for lane in self._lanes.values() if lane.duty.alive]
            self._flush(lanes, self._left(tried))
            self._end_lanes(tried)
            if self._watch.alive and any(lane.duty.alive for lane in lanes):
                # A call that goes on is not to be taken for one that has ended the process.
                self._letting_go = True
                self._watch.served(self._watch.ask(), self._left(end))
            self._end(end)
            self._exits_by = end + self._means.limits.at_exit

    def _deliver_late(self, plugins: Iterable[str]) -> None:
        """Deliver what a handler reports that the host had registered before this was made."""
        end = self._exits_by or 0.0
        here = [name for name in dict.fromkeys(plugins) if not self._means.elsewhere(name)]
        lanes = [Lane(plugin, self._means) for plugin in here]
        tickets = [(lane, lane.duty.ask()) for lane in lanes]
        for lane, ticket in tickets:
            if not (lane.duty.alive and lane.served(ticket, self._left(end))):
                say(ERROR, "%s: %s", lane.plugin, _TOO_LATE)
            lane.duty.stop()
        for lane in lanes:
            lane.duty.join(self._left(end))

    def _not_at_exit(self) -> None:
        atexit.unregister(self._at_exit)
        self._not_at_end_of_child()

    def _end_lanes(self, end: float) -> None:
        lanes = list(self._lanes.values())
        for lane in lanes:
            lane.duty.stop()
        for lane in lanes:
            while not (lane.stuck or lane.duty.mine or lane.duty.join(_TICK)):
                if self._left(end) <= 0:
                    break

    def _end(self, end: float) -> None:
        self._closed = True
        self._not_at_exit()
        self._end_lanes(end)  # while somebody watches: what hangs is not waited for
        others = (*self._beside, self._watch)
        for duty in others:
            duty.stop()
        for duty in others:
            duty.join(self._left(end))

    def _left(self, end: float) -> float:
        return max(0.0, end - self._means.clock.monotonic())

    def _look_after(self) -> float:
        """Look after every lane: the watch's work."""
        means = self._means
        late = means.handover.overdue()
        for lane in list(self._lanes.values()):
            try:
                lane.watch(late=lane.plugin in late)
            except Exception as error:  # noqa: BLE001 - the other lanes are looked after all the same
                self._broke(error)
        if means.clock.monotonic() >= self._write_at:
            means.tally.write()
            self._write_at = means.clock.monotonic() + means.limits.mark
        if self._retiring and not any(lane.duty.alive for lane in list(self._lanes.values())):
            means.tally.write()
            self._not_at_exit()
            self._watch.stop()
        if self._letting_go:
            means.outbox.release(means.owner)
        return means.limits.watch

    def _broke(self, error: Exception) -> float:
        if isinstance(error, StoreError):
            self._means.outage.began(error)
        else:
            say(ERROR, "a late event cannot be put back", error=error)
        return self._means.limits.watch
