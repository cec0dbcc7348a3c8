"""One plugin's own thread: it claims that plugin's rows and groups, and has them handed over."""

from __future__ import annotations

from datetime import datetime, timedelta
from logging import ERROR
from typing import Final

from failhook.errors import StoreError
from failhook.log import say
from failhook.outbox.deliveries import Deliveries
from failhook.outbox.drops import Drops
from failhook.outbox.duty import Duty
from failhook.outbox.means import Means

_SOONEST: Final = 0.01
"""Seconds that a lane rests at least."""


class Lane:
    """Delivers to one plugin. A plugin that hangs holds this thread and nothing else."""

    def __init__(self, plugin: str, means: Means) -> None:
        self.plugin = plugin
        self._means = means
        self.duty = Duty(
            f"failhook-{plugin}",
            self._work,
            broke=self._broke,
            clock=means.clock,
            gather=means.limits.gather,
        )
        self._deliveries = Deliveries(plugin, means, self.duty)
        self._drops = Drops(plugin, means, self._deliveries)
        self._resting = False
        self._inherited = False

    def wake(self) -> None:
        """Let the lane look for rows soon; one that rests in quarantine wakes by itself."""
        duty = self.duty
        if not (duty.woken or (self._resting and duty.alive)):
            duty.wake()

    @property
    def stuck(self) -> bool:
        """Return whether a call runs past its time limit, so that nothing is delivered."""
        return self._deliveries.stuck

    @property
    def in_call_for(self) -> float:
        """Return for how many seconds the plugin has been in its call; 0 where it is in none."""
        return self._deliveries.in_call_for

    def served(self, ticket: int, timeout: float) -> bool:
        """Wait until all that was due at that ticket has been tried; return whether it has.

        A plugin that asks from within its own call, and one that hangs, are not waited for.
        """
        return self.duty.served(ticket, timeout, in_vain=lambda: self.stuck)

    def watch(self, *, late: bool) -> None:
        """Give up a call that is late, and keep the lease of one that is not."""
        if late:
            self._deliveries.give_up()
            self._means.probation.end(self)
            self.duty.look()
        else:
            self._deliveries.renew()

    def _work(self) -> float:
        """Deliver all that is due; return the seconds until there may be more."""
        deliveries, means = self._deliveries, self._means
        deliveries.tidy()
        if not self._inherited:  # first of all, or each process of a night of crashes leaves more
            self._inherit()
            self._inherited = True
        while not self.duty.ending:
            now = means.clock.now()
            self._drops.notice()
            ready = self._in_quarantine(now)
            if ready is not None:
                return self._rest_until(ready, now)
            if means.outbox.deaths(self.plugin):
                taken = self._on_probation()
            else:
                taken = self._hand_over(means.limits.batch)
            if deliveries.works:
                self._drops.tell()
            if taken:
                self.duty.breathe()
            elif not self._inherit():
                due = means.outbox.next_due([self.plugin], now)
                means.outage.over()
                return means.limits.poll if due is None else self._rest_until(due, now)
        return 0.0

    def _hand_over(self, limit: int) -> bool:
        """Hand over what is due first; return whether there was anything."""
        clock = self._means.clock
        taken = self._deliveries.rows(clock.now(), limit)
        if self._in_quarantine(clock.now()) is None:
            taken = self._deliveries.group(clock.now()) or taken
        return taken

    def _on_probation(self) -> bool:
        """Hand over one after the other, with no other call under way that may end the process."""
        means, taken = self._means, False
        for _ in range(means.limits.batch):
            if not means.probation.begin(self, in_vain=lambda: self.duty.ending):
                return taken
            try:
                more = self._in_quarantine(means.clock.now()) is None and self._hand_over(1)
            finally:
                means.probation.end(self)
            taken = taken or more
            if not more:
                break
        return taken

    def _in_quarantine(self, now: datetime) -> datetime | None:
        ready = self._means.handover.ready(self.plugin, now)
        self._resting = ready is not None
        return ready

    def _rest_until(self, due: datetime, now: datetime) -> float:
        return min(self._means.limits.poll, max(_SOONEST, (due - now) / timedelta(seconds=1)))

    def _inherit(self) -> bool:
        """Give back what a process that is gone had claimed; return whether there was anything."""
        outbox, gone, limits = self._means.outbox, self._means.gone, self._means.limits
        owners = [owner for owner in outbox.holders(self.plugin) if gone(owner)]
        for owner in owners:
            wait = limits.backoff.delay(outbox.deaths(self.plugin), self._means.random())
            at = self._means.clock.now() + timedelta(seconds=wait)
            outbox.lose(owner, self.plugin, not_before=at)
        return bool(owners)

    def _broke(self, error: Exception) -> float:
        if isinstance(error, StoreError):
            self._means.outage.began(error)
        else:
            say(ERROR, "%s: delivery goes on after this error", self.plugin, error=error)
        return self._means.limits.poll
