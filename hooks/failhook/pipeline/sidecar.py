"""Delivers what a store holds, beside the processes that report: ``failhook deliver``."""

from __future__ import annotations

import random as _random
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from failhook.clock import Clock, SystemClock
from failhook.config import Config
from failhook.manager import Manager
from failhook.metrics import Metrics
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.means import Courier
from failhook.outbox.port import Store
from failhook.pipeline.counts import Progress
from failhook.pipeline.process import begin_delivering


class Sidecar:
    """A drainer by itself: it holds plugins and a store, reports nothing and decides nothing.

    Any number of them, and of pipelines, may share a store: each row goes to one of them.

        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        with Sidecar.from_config("failhook.toml") as sidecar:
            sidecar.run(stop, report=print)                # or sidecar.run(stop, once=True)

    Args:
        store: where events wait.
        manager: the plugins; rows of other plugins are left alone.
        clock: the time.
        delivery: how hard to try.
        random: returns a number in 0..1, for the jitter of backoffs.
        metrics: takes numbers about the deliveries.
        courier: takes over some of the plugins; all are called here unless given.
    """

    def __init__(
        self,
        store: Store,
        manager: Manager,
        *,
        clock: Clock | None = None,
        delivery: DeliveryLimits | None = None,
        random: Callable[[], float] = _random.random,
        metrics: Metrics | None = None,
        courier: Courier | None = None,
    ) -> None:
        self.store = store
        self.manager = manager
        self._clock = clock or SystemClock()
        self._delivering = begin_delivering(
            store,
            manager,
            clock=self._clock,
            limits=delivery or DeliveryLimits(),
            random=random,
            metrics=metrics,
            courier=courier,
        )

    @classmethod
    def from_config(
        cls,
        path: str | Path | Config | None = None,
        *,
        store: str | None = None,
        metrics: Metrics | None = None,
        courier: Courier | None = None,
    ) -> Self:
        """Build a sidecar from the file that the pipelines read; arguments and errors as there."""
        from failhook.pipeline.configured import parts_of

        parts = parts_of(path, store)
        return cls(
            parts["store"],
            parts["manager"],
            clock=parts["clock"],
            delivery=parts["delivery"],
            metrics=metrics,
            courier=courier,
        )

    def wake(self) -> None:
        """Deliver what is due, in the background."""
        self._delivering.drainer.start()

    @property
    def progress(self) -> Progress:
        """Return what became of events here so far."""
        return self._delivering.counts.progress

    def run(
        self,
        stop: threading.Event,
        *,
        once: bool = False,
        every: float = 1.0,
        report: Callable[[Progress], None] | None = None,
    ) -> Progress:
        """Deliver until `stop` is set; return what became of events in the meantime.

        Args:
            stop: ends it; a signal handler may set it.
            once: end also when nothing is due any more. What waits for a later time is left, and
                so is what waits for a plugin that hangs.
            every: seconds between two reports.
            report: told how far it is, in the caller's thread.
        """
        drainer = self._delivering.drainer
        self.wake()
        while not stop.is_set():
            if once:
                drainer.flush(every)
                if drainer.at_rest:
                    break
            else:
                stop.wait(every)
            if report is not None:
                report(self.progress)
        return self.progress

    def settle(self, within: float, timeout: float) -> None:
        """Deliver what is due, and what comes due soon, such as the first groups of a failure.

        Args:
            within: seconds; what comes due later is left.
            timeout: seconds for all of it.
        """
        end = self._clock.monotonic() + timeout
        while (left := end - self._clock.monotonic()) > 0:
            self._delivering.drainer.flush(left)
            now = self._clock.now()
            due = self.store.next_due(self.manager.names(), now)
            wait = within + 1 if due is None else (due - now).total_seconds()
            if not 0 < wait <= min(within, end - self._clock.monotonic()):
                return
            threading.Event().wait(wait + 0.05)

    def close(self, timeout: float = 5.0, *, deliver: bool = True) -> bool:
        """End the threads, close plugins and store; return whether nothing waits for its plugins.

        Args:
            timeout: seconds; a hung plugin's thread is left behind.
            deliver: whether what is due is offered once more; the calls under way end in any case.
        """
        return self._delivering.closing.close(timeout, deliver=deliver)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
