"""One plugin's own thread: it claims that plugin's rows, hands them over and marks them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from logging import ERROR
from typing import Protocol

from failhook.clock import Clock
from failhook.errors import StoreError
from failhook.event import FailureEvent
from failhook.log import say
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import AT_ONCE, Delivery, Outbox


class Outcome(Protocol):
    """What came of one handover; ``status`` is delivered, undelivered or failed."""

    @property
    def status(self) -> str:
        """``undelivered`` is what the plugin said itself; ``failed`` is that it broke or hung."""
        ...

    @property
    def retryable(self) -> bool:
        """Whether a further try may help."""
        ...

    @property
    def retry_after(self) -> float | None:
        """Seconds before which a further try is useless."""
        ...

    @property
    def error(self) -> str:
        """Why, in one line."""
        ...


class Handover(Protocol):
    """The plugins, as the drainer sees them. No call ever raises."""

    def names(self) -> Sequence[str]:
        """Return the plugins that are held here."""
        ...

    def call(self, name: str, event: FailureEvent) -> Outcome:
        """Hand one event to one plugin, in this thread."""
        ...

    def ready(self, name: str, now: datetime) -> datetime | None:
        """Return from when on a plugin may be called; None is now."""
        ...

    def overdue(self) -> Sequence[str]:
        """Return the plugins whose call runs past its time limit at this moment."""
        ...


class Lane:
    """Delivers to one plugin. A plugin that hangs holds this thread and nothing else."""

    def __init__(
        self,
        plugin: str,
        *,
        outbox: Outbox,
        handover: Handover,
        clock: Clock,
        limits: DeliveryLimits,
        random: Callable[[], float],
        attach: Callable[[FailureEvent, str], FailureEvent],
        buried: Callable[[str, FailureEvent, str], None],
        gone: Callable[[str], bool],
        owner: str,
    ) -> None:
        self.plugin = plugin
        self._outbox = outbox
        self._handover = handover
        self._clock = clock
        self._limits = limits
        self._random = random
        self._attach = attach
        self._buried = buried
        self._gone = gone
        self._owner = owner
        self._condition = threading.Condition()
        self._woken = False
        self._resting = False
        self._closing = False
        self._asked = 0
        self._served = 0
        self._current: Delivery | None = None
        self._given_up = False
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Let the lane look for rows soon; one that rests in quarantine wakes by itself."""
        if not (self._woken or self._resting):
            with self._condition:
                self._rouse()

    def _rouse(self) -> None:
        self._woken = True
        if not self._closing and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(
                target=self._run, name=f"failhook-{self.plugin}", daemon=True
            )
            self._thread.start()
        self._condition.notify_all()

    def ask(self) -> int:
        """Ask for everything that is due now to be tried; return a ticket for `served`."""
        with self._condition:
            self._asked += 1
            self._rouse()
            return self._asked

    def served(self, ticket: int, timeout: float) -> bool:
        """Wait until all that was due at that ticket has been tried; return whether it has.

        A plugin that asks from within its own call is not waited for.
        """
        if self._thread is threading.current_thread():
            return False
        with self._condition:
            self._condition.wait_for(lambda: self._served >= ticket or self._closing, timeout)
            return self._served >= ticket

    def give_up(self) -> None:
        """Put the row back whose call is past its limit, whatever becomes of the call."""
        with self._condition:
            current = self._current
            if current is None or self._given_up:
                return
            self._given_up = True
        self._failed(current, "no answer within the time limit", refused=False, retry_after=None)

    def stop(self) -> None:
        """Let the lane end after the call that is under way."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()

    def join(self, timeout: float) -> bool:
        """Wait for the thread to end; return whether it has."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(max(0.0, timeout))
        return not thread.is_alive()

    def release(self) -> None:
        """Give the rows back that this lane holds."""
        self._outbox.release(self._owner)

    def _run(self) -> None:
        while not self._closing:
            with self._condition:
                self._woken = False
                ticket = self._asked
            wait = self._limits.poll
            try:
                wait = self._work()
            except StoreError as error:
                say(ERROR, "%s: the outbox cannot be used, trying again: %s", self.plugin, error)
            except Exception as error:  # noqa: BLE001 - a lane that ends would silence its plugin
                say(ERROR, "%s: delivery goes on after this error", self.plugin, error=error)
            self._rest(ticket, wait)

    def _rest(self, ticket: int, wait: float) -> None:
        """Say that all was tried; wait for more, then a moment longer for the rest of a burst."""
        with self._condition:
            self._served = ticket
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._woken or self._closing, wait)
            self._condition.wait_for(
                lambda: self._closing or self._asked != ticket, self._limits.gather
            )

    def _work(self) -> float:
        """Deliver all that is due; return the seconds until there may be more."""
        while not self._closing:
            now = self._clock.now()
            ready = self._handover.ready(self.plugin, now)
            self._resting = ready is not None
            if ready is not None:
                return min(self._limits.poll, max(0.01, (ready - now).total_seconds()))
            rows = self._outbox.claim(
                self.plugin,
                now=now,
                lease=self._limits.lease,
                limit=self._limits.batch,
                owner=self._owner,
            )
            if not rows:
                if self._inherit():
                    continue
                due = self._outbox.next_due([self.plugin], now)
                if due is None:
                    return self._limits.poll
                return min(self._limits.poll, max(0.01, (due - now).total_seconds()))
            self._hand_over(rows)
            self._breathe()
        return 0.0

    def _breathe(self) -> None:
        """Leave the interpreter to those who report, unless somebody waits for this lane."""
        with self._condition:
            self._condition.wait_for(
                lambda: self._closing or self._asked != self._served, self._limits.gather
            )

    def _inherit(self) -> bool:
        """Give back what a process that is gone had claimed; return whether there was anything."""
        gone = [owner for owner in self._outbox.holders(self.plugin) if self._gone(owner)]
        for owner in gone:
            self._outbox.release(owner)
        return bool(gone)

    def _hand_over(self, rows: Sequence[Delivery]) -> None:
        """Deliver a batch, as far as its lease allows, and give back the rest."""
        begun = marked = self._clock.monotonic()
        done: list[int] = []
        behind: set[str] = set()
        late: list[int] = []
        for row in rows:
            now = self._clock.monotonic()
            if now - marked > self._limits.mark and done:
                self._outbox.done(done)
                done, marked = [], now
            too_late = now - begun > self._limits.lease / 2
            if too_late or self._closing or row.event.task.key in behind or self._quarantined():
                late.append(row.id)
            elif self._deliver(row):
                done.append(row.id)
            else:
                behind.add(row.event.task.key)
        if done:
            self._outbox.done(done)
        if late:
            self._outbox.park(late, group_key="", not_before=AT_ONCE)

    def _quarantined(self) -> bool:
        return self._handover.ready(self.plugin, self._clock.now()) is not None

    def _deliver(self, row: Delivery) -> bool:
        with self._condition:
            self._given_up = False
            self._current = row
        event = self._attach(row.event, self.plugin) if row.tries == 0 else row.event
        outcome = self._handover.call(self.plugin, event)
        with self._condition:
            self._current = None
            given_up = self._given_up
        if outcome.status == "delivered":
            return True
        if not given_up:
            if outcome.retryable:
                refused = outcome.status == "undelivered"
                self._failed(row, outcome.error, refused=refused, retry_after=outcome.retry_after)
            else:
                self._bury(row, outcome.error)
        return False

    def _failed(
        self, row: Delivery, error: str, *, refused: bool, retry_after: float | None
    ) -> None:
        limits = self._limits
        most = limits.max_refusals if refused else limits.max_failures
        if row.tries + 1 >= most:
            self._bury(row, f"given up after {row.tries + 1} tries: {error}")
            return
        delay = max(limits.backoff.delay(row.tries + 1, self._random()), retry_after or 0.0)
        not_before = self._clock.now() + timedelta(seconds=delay)
        self._outbox.retry([row.id], not_before=not_before, error=error)

    def _bury(self, row: Delivery, error: str) -> None:
        self._outbox.bury([row.id], error=error, now=self._clock.now())
        say(ERROR, "%s: event %s is a dead letter: %s", self.plugin, row.event.event_id, error)
        self._buried(self.plugin, row.event, error)
