"""Coroutines of a plugin, on a loop of ours."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from failhook.log import say
from failhook.manager.no_answer import OutOfTime, StillRunning

T = TypeVar("T")


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
    while not _came_to_an_end(loop.run_forever):
        pass
    while not _came_to_an_end(lambda: loop.run_until_complete(_wind_up())):
        pass
    loop.close()


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
