"""Threads that a plugin may hang in: one each, made when first needed."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, TypeVar

logger: Final = logging.getLogger("failhook")

T = TypeVar("T")


class StillRunning(Exception):  # noqa: N818 - a state, caught by whoever asked
    """An earlier call has not come back; nothing was begun."""

    def __str__(self) -> str:
        return "it is still in an earlier call"


class OutOfTime(Exception):  # noqa: N818 - a state, as above
    """The call did not come back within its time limit, in seconds; it may still run."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"it ran for longer than {limit:g} s")


class Worker:
    """Runs one function at a time in a daemon thread, for callers that wait only so long.

    A function that hangs holds this one thread; until it comes back nothing else is begun.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._seat = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, function: Callable[[], T]) -> Future[T]:
        """Start a function and return its future.

        Raises:
            StillRunning: an earlier one has not come back.
            RuntimeError: the machine has no thread to give.
        """
        if not self._seat.acquire(blocking=False):
            raise StillRunning
        future: Future[T] = Future()

        def job() -> None:
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001 - it is the caller's to judge
                self._seat.release()
                future.set_exception(error)
            else:
                self._seat.release()
                future.set_result(result)

        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=_work, args=(self._jobs,), name=self._name, daemon=True
            )
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None
                self._seat.release()
                raise
        self._jobs.put(job)
        return future

    def stop(self) -> None:
        """Let the thread end when it has nothing left to do."""
        self._jobs.put(None)


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job


class LoopThread:
    """Runs coroutines on an event loop of its own, in a daemon thread, each within a time limit.

    All coroutines of a plugin share the loop, so that what one of them opened serves the next.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._late: Future[Any] | None = None

    def run(self, coroutine: Coroutine[Any, Any, T], limit: float) -> T:
        """Return what the coroutine returns, or raise what it raises; cancel it at the limit.

        Raises:
            StillRunning: an earlier one ignores that it was cancelled.
            OutOfTime: it did not end within `limit` seconds.
            RuntimeError: the machine has no thread to give.
        """
        work = _within(coroutine, limit)
        try:
            with self._lock:
                self._check_free()
                future = asyncio.run_coroutine_threadsafe(work, self._running())
        except BaseException:
            work.close()
            coroutine.close()
            raise
        try:
            result, error = future.result(limit)
        except TimeoutError:
            self._late = future
            raise OutOfTime(limit) from None
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]  # it is what the coroutine returned

    def stop(self, timeout: float) -> None:
        """Cancel what still runs and close the loop, within `timeout` seconds."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            if loop is None or thread is None or not thread.is_alive():
                return
            loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout)

    def _check_free(self) -> None:
        if self._late is not None and not self._late.done():
            raise StillRunning

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._thread is None or not self._thread.is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                loop.close()
                raise
            self._loop, self._thread = loop, thread
        return self._loop


async def _within(
    coroutine: Coroutine[Any, Any, Any], limit: float
) -> tuple[Any, BaseException | None]:
    """Return result or error; an error that left the task could end the loop (SystemExit)."""
    scope = asyncio.timeout(limit)
    try:
        async with scope:
            return await coroutine, None
    except BaseException as error:  # noqa: BLE001 - it is the caller's to judge
        return None, OutOfTime(limit) if scope.expired() else error


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
            break
        except BaseException:
            logger.exception("a background task of a plugin tried to end its loop")
    loop.run_until_complete(_wind_up())
    loop.close()


async def _wind_up() -> None:
    """Cancel what is left; what was begun in the last moment is left as well."""
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
