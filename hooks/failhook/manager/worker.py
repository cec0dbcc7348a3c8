"""A thread that a plugin may hang in: one each, made when first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import finalize

from failhook.forks import CALL_PATIENCE, ended
from failhook.manager.no_answer import OutOfTime, StillRunning

T = TypeVar("T")


class Worker:
    """Runs one function at a time in a daemon thread, for callers that wait only so long.

    A function that hangs holds this one thread; until it comes back nothing else is begun.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._seat = threading.Lock()
        self._thread: threading.Thread | None = None
        self._late: Future[Any] | None = None
        self._open()

    def begin(self, function: Callable[[], T], patience: float) -> Future[T]:
        """Start a function and return its future; wait for the seat `patience` seconds at most.

        Raises:
            StillRunning: an earlier one has not come back. One that somebody waited for in vain is
                not waited for again.
            RuntimeError: the machine has no thread to give.
        """
        late = self._late is not None and not self._late.done()
        seat = self._seat
        try:
            if not late and seat.acquire(timeout=max(0.0, patience)):
                return self._begin(function, seat)
        except RuntimeError:
            raise
        except BaseException:  # a signal's handler raised: it cannot be told whose the seat is
            self._seat = threading.Lock()
            raise
        raise StillRunning

    def _begin(self, function: Callable[[], T], seat: threading.Lock) -> Future[T]:
        future: Future[T] = Future()

        def job() -> None:
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001 - it is the caller's to judge
                seat.release()
                future.set_exception(error)
            else:
                seat.release()
                future.set_result(result)

        try:
            self._start()
        except RuntimeError:
            seat.release()
            raise
        self._jobs.put(job)
        return future

    def wait(self, future: Future[T], timeout: float, *, limit: float) -> T:
        """Return what a function returned, once it has.

        Raises:
            OutOfTime: it has not within `timeout` seconds; `limit` is what the message says.
        """
        try:
            return future.result(max(0.0, timeout))
        except TimeoutError:
            self._late = future
            raise OutOfTime(limit) from None

    def stop(self) -> None:
        """Let the thread end when it has nothing left to do."""
        self._drop()
        self._thread = None
        self._open()

    def _open(self) -> None:
        """Make a queue, whose thread ends when the worker is dropped."""
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._drop = finalize(self, self._jobs.put, None)
        self._drop.atexit = False

    def rest(self, timeout: float) -> None:
        """End the thread if it is idle, or will be within `timeout` seconds; it comes back."""
        late = self._late is not None and not self._late.done()
        patience = min(timeout, CALL_PATIENCE)
        if self._thread is None or late or not self._seat.acquire(timeout=patience):
            return
        thread = self._thread
        self.stop()
        self._seat.release()
        ended(thread, timeout)

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(
                target=_work, args=(self._jobs,), name=self._name, daemon=True
            )
            thread.start()
            self._thread = thread


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job
