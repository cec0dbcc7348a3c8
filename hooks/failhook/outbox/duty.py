"""A daemon thread that does one job again and again, and can be ended and begun anew."""

from __future__ import annotations

import threading
from collections.abc import Callable
from logging import ERROR

from failhook.clock import Clock
from failhook.forks import ended
from failhook.log import say


class Duty:
    """Does its work when it is woken and when its time has come.

    The thread begins when it is first needed. It holds what the work needs and nothing more, so
    that whoever made it can be forgotten.

    Args:
        name: of the thread.
        work: does what there is to do and returns the seconds until there may be more; it comes to
            an end soon when `ending` says so.
        broke: told of what `work` raised; returns the seconds until the next try.
        clock: the time.
        gather: seconds that it waits after it was woken, so that a burst is one piece of work.

    Attributes:
        woken: whether it is about to look for something to do anyway.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], float],
        *,
        broke: Callable[[Exception], float],
        clock: Clock,
        gather: float = 0.0,
    ) -> None:
        self._name = name
        self._work = work
        self._broke = broke
        self._clock = clock
        self._gather = gather
        # `with` on the condition itself would be Python code, which what a signal's handler raises
        # may leave with the lock held.
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self.woken = False
        self._thread: threading.Thread | None = None
        self._over = True
        self._next = clock.monotonic()
        self._asked = 0
        self._served = 0
        self._fully = True
        self._pausing = False
        self._closing = False
        self._retiring = False

    @property
    def ending(self) -> bool:
        """Return whether work that is under way should come to an end."""
        return self._pausing or self._closing

    @property
    def alive(self) -> bool:
        """Return whether it has a thread."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    @property
    def idle(self) -> bool:
        """Return whether all is done that it was woken or asked for."""
        return not self.woken and self._asked == self._served

    @property
    def mine(self) -> bool:
        """Return whether this code runs in its thread."""
        return self._thread is threading.current_thread()

    def wake(self) -> None:
        """Have the work done soon."""
        if not self.woken:
            with self._lock:
                self._rouse()

    def ask(self) -> int:
        """Ask for all that there is to do now; return a ticket for `served`."""
        with self._lock:
            self._asked += 1
            self._rouse()
            return self._asked

    def served(
        self, ticket: int, timeout: float, *, in_vain: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until all that there was to do at that ticket is done; return whether it is.

        From within the work itself it is not waited for, nor where `in_vain` says so; whatever
        changes that calls `look`.
        """
        if self.mine:
            return False
        with self._lock:
            self._condition.wait_for(
                lambda: self._served >= ticket or self._closing or in_vain(), max(0.0, timeout)
            )
            return self._served >= ticket and self._fully

    def look(self) -> None:
        """Have those who wait in `served` look again."""
        with self._lock:
            self._condition.notify_all()

    def breathe(self) -> None:
        """Leave the interpreter to others for a moment, unless somebody waits for this work."""
        with self._lock:
            self._condition.wait_for(self._wanted, self._gather)

    def pause(self) -> None:
        """Let the thread end after what it is at, until `resume`."""
        with self._lock:
            self._pausing = True
            self._condition.notify_all()

    def resume(self, *, begin: bool) -> None:
        """End a pause; the thread begins anew, or when it is woken next."""
        with self._lock:
            self._pausing = False
            self.woken = self.woken and begin
            if begin and self._thread is not None:
                self._begin()

    def retire(self) -> None:
        """Let the thread end for good when all is done that there is to do now."""
        with self._lock:
            self._retiring = self.woken = True
            self._condition.notify_all()

    def stop(self) -> None:
        """Let the thread end for good after what it is at."""
        with self._lock:
            self._closing = True
            self._condition.notify_all()

    def join(self, timeout: float) -> bool:
        """Wait for the thread to end; return whether it has."""
        return ended(self._thread, timeout)

    def _rouse(self) -> None:
        self.woken = True
        self._begin()
        self._condition.notify_all()

    def _begin(self) -> None:
        if self.ending or not (self._over or not self.alive):
            return
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self.woken = False
            say(ERROR, "%s: what is to do waits until a thread can begin: %s", self._name, error)
        else:
            self._thread, self._over = thread, False

    def _wanted(self) -> bool:
        return self.ending or self._retiring or self._asked != self._served

    def _run(self) -> None:
        while (ticket := self._turn()) is not None:
            fully, wait = True, 0.0
            try:
                wait = self._work()
            except Exception as error:  # noqa: BLE001 - a thread that ends would end its duty
                fully, wait = False, self._broke(error)
            with self._lock:
                self._next = self._clock.monotonic() + wait
                if not self.ending:
                    self._served, self._fully = ticket, fully
                self._over = self._over or (self._retiring and not self.woken)
                self._condition.notify_all()

    def _turn(self) -> int | None:
        """Wait for something to do, and for the rest of a burst; None ends the thread."""
        with self._lock:
            wait = self._next - self._clock.monotonic()
            self._condition.wait_for(lambda: self.woken or self._wanted(), max(0.0, wait))
            self._condition.wait_for(self._wanted, self._gather)
            self._over = self._over or self.ending
            if self._over:
                return None
            self.woken = False
            return self._asked
