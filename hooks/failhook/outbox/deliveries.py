"""Hands one plugin's rows and groups over, and marks in the outbox what came of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from logging import ERROR, WARNING
from typing import Final

from failhook.event import FailureEvent
from failhook.groups import Handled
from failhook.log import say
from failhook.outbox.duty import Duty
from failhook.outbox.handover import Outcome
from failhook.outbox.means import Means
from failhook.outbox.port import ENDED, Delivery, DueGroup

_LATE: Final = "no answer within the time limit"
_SCATTERED: Final = "the plugin gathers no more; the events of its groups come one by one"


def _given_up(tries: int, error: str) -> str:
    return f"given up after {tries} tries: {error}"


@dataclass(slots=True, eq=False)
class _Call:
    """A call that is under way, and what it is about."""

    subject: Delivery | DueGroup | None
    since: float
    given_up: bool = False


class Deliveries:
    """Delivers to one plugin in the thread of its lane; the watch looks after it from another.

    What was taken is marked soon, and what could not be marked, because the store failed just then,
    is marked first of all when the store is back: it is not handed over again by this process.
    """

    def __init__(self, plugin: str, means: Means, duty: Duty) -> None:
        self.works = False
        self._plugin = plugin
        self._means = means
        self._outbox = means.outbox
        self._owner = means.owner
        self._duty = duty
        self._lock = threading.Lock()
        self._giving_up = threading.Lock()
        self._call: _Call | None = None
        self._taken: list[int] = []
        self._handled: list[tuple[DueGroup, Handled, datetime]] = []
        self._leased_at: float | None = None

    @property
    def stuck(self) -> bool:
        """Return whether a call runs past its time limit."""
        call = self._call
        return call is not None and call.given_up

    @property
    def in_call_for(self) -> float:
        """Return for how many seconds a call has been under way; 0 where none is."""
        call = self._call
        return 0.0 if call is None else self._means.clock.monotonic() - call.since

    def tidy(self) -> None:
        """Mark what is not marked yet, and give back what was held when the store failed."""
        self._mark()
        if self._leased_at is not None:
            self._give_back()

    def rows(self, now: datetime, limit: int) -> bool:
        """Hand over a batch of rows that are due; return whether there were any.

        A batch has its time: what is left of it then is given back, for the groups of this plugin
        and for other drainers.
        """
        limits, clock = self._means.limits, self._means.clock
        rows = self._outbox.claim(
            self._plugin, now=now, lease=limits.lease, limit=limit, owner=self._owner
        )
        if not rows:
            return False
        begun = marked = self._leased_at = clock.monotonic()
        for number, row in enumerate(rows):
            if number and not self._may_go_on(begun):
                self._mark()
                self._give_back()
                return True
            if clock.monotonic() - marked > limits.mark:
                self._mark()
                marked = clock.monotonic()
            if row.event is None:
                self._bury(row, row.unreadable)
            elif row.deaths >= limits.max_deaths:
                self._bury(row, _given_up(row.deaths, ENDED))
            elif not self._deliver(row, row.event):
                return True
        self._mark()
        self._leased_at = None
        return True

    def group(self, now: datetime) -> bool:
        """Hand over the group that is due first; return whether there was one."""
        limits = self._means.limits
        if self._duty.ending:
            return False
        group = self._outbox.claim_group(
            self._plugin, now=now, lease=limits.lease, limit=limits.group, owner=self._owner
        )
        if group is None:
            return False
        self._leased_at = self._means.clock.monotonic()
        if group.deaths >= limits.max_deaths:
            self._bury(group, _given_up(group.deaths, ENDED))
        elif self._means.handover.gathers(self._plugin):
            if not self._deliver_group(group):
                return True
        else:
            self._scatter(group)
        self._leased_at = None
        return True

    def calling(
        self, subject: Delivery | DueGroup | None, call: Callable[[], Outcome]
    ) -> tuple[Outcome, bool]:
        """Return what came of a call, and whether it was given up while it ran."""
        mine = self._call = _Call(subject, self._means.clock.monotonic())
        outcome = call()
        with self._lock:
            self._call = None
        if mine.given_up:
            self._giving_up.acquire()  # the watch is putting back what was held here
            self._giving_up.release()
        return outcome, mine.given_up

    def give_up(self) -> None:
        """Put back what a call is about that is past its limit, whatever becomes of the call."""
        with self._giving_up:
            with self._lock:
                call = self._call
                if call is None or call.given_up:
                    return
                call.given_up = True
            self._mark()
            if call.subject is not None:
                self._failed(call.subject, _LATE, refused=False, retry_after=None)
            self._give_back()

    def renew(self) -> None:
        """Prolong the leases that are held here, if it is time."""
        leased_at, clock, lease = self._leased_at, self._means.clock, self._means.limits.lease
        if leased_at is None or self.stuck or clock.monotonic() - leased_at < lease / 3:
            return
        until = clock.now() + timedelta(seconds=lease)
        self._outbox.renew(self._plugin, owner=self._owner, until=until)
        with self._lock:
            if self._leased_at == leased_at:
                self._leased_at = clock.monotonic()

    def _may_go_on(self, begun: float) -> bool:
        clock, handover = self._means.clock, self._means.handover
        return (
            not self._duty.ending
            and clock.monotonic() - begun <= self._means.limits.turn
            and handover.ready(self._plugin, clock.now()) is None
        )

    def _deliver(self, row: Delivery, event: FailureEvent) -> bool:
        """Hand one event over; return False where the call was given up, and the batch with it."""
        if row.tries == 0:
            event = self._means.attach(event, self._plugin)
        outcome, given_up = self.calling(
            row, lambda: self._means.handover.call(self._plugin, event)
        )
        self.works = outcome.status == "delivered"
        if self.works and not outcome.groups:
            with self._lock:
                self._taken.append(row.id)
        elif given_up:
            pass
        elif self.works:
            self._outbox.group(row.id, outcome.groups, owner=self._owner)
        else:
            self._refused(row, outcome)
        return not given_up

    def _deliver_group(self, group: DueGroup) -> bool:
        """Hand a group over; return False where the call was given up."""
        unreadable = [row for row in group.rows if row.event is None]
        if unreadable:  # the rest of the group is due at once
            left = group.remaining + len(group.rows) - len(unreadable)
            broken = replace(group, rows=unreadable, remaining=left)
            self._bury(broken, unreadable[0].unreadable)
            return True
        events = [row.event for row in group.rows if row.event is not None]
        outcome, given_up = self.calling(
            group,
            lambda: self._means.handover.call_group(
                self._plugin,
                key=group.key,
                events=events,
                remaining=group.remaining,
                note=group.note,
                sent_at=group.sent_at,
            ),
        )
        self.works = outcome.status == "delivered"
        if self.works:
            self._settle(group, outcome.handled)
        elif not given_up:
            self._refused(group, outcome)
        return not given_up

    def _scatter(self, group: DueGroup) -> None:
        """Make rows of their own again of a group whose plugin does not gather any more."""
        now = self._means.clock.now()
        say(WARNING, "%s: %s (%s)", self._plugin, _SCATTERED, group.key)
        self._outbox.bury_group(group, error=_SCATTERED, now=now, owner=self._owner)
        self._outbox.revive([row.id for row in group.rows], now)

    def _refused(self, subject: Delivery | DueGroup, outcome: Outcome) -> None:
        if outcome.retryable:
            refused = outcome.status == "undelivered"
            self._failed(subject, outcome.error, refused=refused, retry_after=outcome.retry_after)
        else:
            self._bury(subject, outcome.error)

    def _failed(
        self,
        subject: Delivery | DueGroup,
        error: str,
        *,
        refused: bool,
        retry_after: float | None,
    ) -> None:
        limits, tries = self._means.limits, subject.tries + 1
        if refused:
            last = tries - subject.failures >= limits.max_refusals
        else:
            last = subject.failures + 1 >= limits.max_failures
        if last:
            self._bury(subject, _given_up(tries, error))
            return
        delay = max(limits.backoff.delay(tries, self._means.random()), retry_after or 0.0)
        at = self._means.clock.now() + timedelta(seconds=delay)
        if isinstance(subject, DueGroup):
            self._outbox.retry_group(
                subject, not_before=at, error=error, owner=self._owner, refused=refused
            )
        else:
            self._outbox.retry(
                [subject.id], not_before=at, error=error, owner=self._owner, refused=refused
            )

    def _bury(self, subject: Delivery | DueGroup, error: str) -> None:
        now = self._means.clock.now()
        if isinstance(subject, DueGroup):
            rows = subject.rows
            what = f"group {subject.key!r} with {len(rows)} events"
            self._outbox.bury_group(subject, error=error, now=now, owner=self._owner)
        else:
            rows = (subject,)
            what = f"event {subject.event_id}"
            self._outbox.bury([subject.id], error=error, now=now, owner=self._owner)
        say(ERROR, "%s: %s: dead letter: %s", self._plugin, what, error)
        self._means.tally.buried(self._plugin, len(rows))
        for row in rows:
            if row.event is not None:
                self._means.buried(self._plugin, row.event, error)

    def _settle(self, group: DueGroup, handled: Handled) -> None:
        with self._lock:
            self._handled.append((group, handled, self._means.clock.now()))
        self._mark()

    def _mark(self) -> None:
        """Write down what was taken; where that fails it is kept, and written the next time."""
        with self._lock:
            taken, self._taken = self._taken, []
            handled, self._handled = self._handled, []
        tally = self._means.tally
        try:
            if taken:
                self._outbox.done(taken)
                tally.delivered(self._plugin, len(taken))
                taken = []
            while handled:
                group, said, at = handled[0]
                self._outbox.settle(group, said, now=at)
                tally.delivered(self._plugin, len(group.rows))
                del handled[0]
        except BaseException:
            with self._lock:
                self._taken, self._handled = taken + self._taken, handled + self._handled
            raise

    def _give_back(self) -> None:
        self._outbox.release(self._owner, self._plugin)
        self._leased_at = None
