"""Coroutines of a plugin, on a loop of ours."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar
from weakref import finalize

from failhook.forks import ended
from failhook.log import say
from failhook.manager.no_answer import OutOfTime, StillRunning

T = TypeVar("T")

_RUN: Final = "run"
_REST: Final = "rest"


class LoopThread:
    """Runs coroutines on an event loop of its own, in a daemon thread, each within a time limit.

    All coroutines of a plugin share the loop, so that what one of them opened serves the next.
    """

    def __init__(self, name: str) -> None:
        self._served = _Served(name)
        self._busy: set[Future[Any]] = set()
        self._late: Future[Any] | None = None
        finalize(self, self._served.end).atexit = False

    def run(self, coroutine: Coroutine[Any, Any, T], limit: float) -> T:
        """Return what the coroutine returns, or raise what it raises; cancel it at the limit.

        Raises:
            StillRunning: an earlier one ignores that it was cancelled.
            OutOfTime: it did not end within `limit` seconds.
            RuntimeError: the machine has no thread to give.
        """
        work = _within(coroutine, limit)
        try:
            with self._served.lock:
                self._check_free()
                future = asyncio.run_coroutine_threadsafe(work, self._served.begin())
                self._busy.add(future)
        except BaseException:
            work.close()
            coroutine.close()
            raise
        future.add_done_callback(self._busy.discard)
        try:
            result, error = future.result(limit)
        except TimeoutError:
            self._late = future
            raise OutOfTime(limit) from None
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]  # it is what the coroutine returned

    def stop(self, timeout: float) -> None:
        """Cancel what still runs and close the loop, within `timeout` seconds.

        A loop that a coroutine has held past its limit is left behind.
        """
        late = self._late is not None and not self._late.done()
        ended(self._served.end(), 0.0 if late else timeout)

    def rest(self, timeout: float) -> None:
        """End the thread unless it is at work; the loop stays as it is, and goes on with the next.

        What plugins opened on the loop is bound to it, so that it is kept.
        """
        with self._served.lock:
            thread = None if self._busy else self._served.rest()
        ended(thread, timeout)

    def go_on(self) -> None:
        """Let the background tasks of a loop that rests go on."""
        with self._served.lock:
            if self._served.loop is not None:
                self._served.begin()

    def abandon(self) -> None:
        """Keep a loop that came with a fork from ever being closed here.

        Its epoll instance is shared with the parent, whose own loop would be deaf (epoll(7)).
        """
        if self._served.loop is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._served.loop))

    def _check_free(self) -> None:
        if self._late is not None and not self._late.done():
            raise StillRunning


class _Served:
    """A loop and the thread that runs it just now, if any."""

    def __init__(self, name: str) -> None:
        self.lock = threading.RLock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._name = name
        self._thread: threading.Thread | None = None
        self._wish = _RUN
        self._pid = os.getpid()

    def begin(self) -> asyncio.AbstractEventLoop:
        """Return the loop, running; the caller has the lock."""
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        self._wish = _RUN
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(
                target=self._serve, args=(self.loop,), name=self._name, daemon=True
            )
            try:
                thread.start()
            except RuntimeError:
                loop, self.loop = self.loop, None
                loop.close()
                raise
            self._thread = thread
        return self.loop

    def rest(self) -> threading.Thread | None:
        """Ask the thread to end, and return it; the caller has the lock."""
        if self.loop is not None and self._thread is not None:
            self._wish = _REST
            self.loop.call_soon_threadsafe(self.loop.stop)
        return self._thread

    def end(self) -> threading.Thread | None:
        """Let the thread wind up and close the loop, and return it; a forked child has none."""
        if os.getpid() != self._pid:
            return None
        with self.lock:
            if self.loop is None:
                return None
            self.begin()
            loop, thread = self.loop, self._thread
            self.loop = self._thread = None
            loop.call_soon_threadsafe(loop.stop)
            return thread

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while True:
            while not _came_to_an_end(loop.run_forever):
                pass
            with self.lock:
                if self.loop is not loop:
                    break
                if self._wish == _REST:
                    self._thread = None
                    return
        while not _came_to_an_end(lambda: loop.run_until_complete(_wind_up())):
            pass
        loop.close()


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


def _came_to_an_end(run: Callable[[], None]) -> bool:
    """Run the loop; return whether it ended as it should, not by what a background task raised."""
    try:
        run()
    except BaseException as error:  # noqa: BLE001 - a stranger's task may raise anything
        say(logging.ERROR, "a background task of a plugin tried to end its loop", error=error)
        return False
    return True


async def _wind_up() -> None:
    """Cancel what is left; what was begun in the last moment is left as well."""
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
