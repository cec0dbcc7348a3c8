"""Forks: who is told of them, and threads that are gone before them.

Python 3.12 and later warn where a process forks that has another thread, and what that thread holds
just then stays locked in the child for ever. So idle threads end before a fork and begin anew.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread, current_thread
from typing import Any, Final, Protocol, cast
from weakref import ref

COUNTS_AFTERWARDS: Final = sys.version_info[:2] in ((3, 12), (3, 13))
"""Whether this Python counts threads after the parent's own hooks have run, so that these must not
begin any."""

PATIENCE: Final = 1.0
"""Seconds that a fork waits in all for threads that are about to be idle."""

CALL_PATIENCE: Final = 0.1
"""Seconds of that for one that is in a plugin's call: it cannot be ended."""

_EARLY: Final = 10
"""Before a child of multiprocessing waits for children of its own."""

_TASKS: Final = Path("/proc/self/task")


class Forkable(Protocol):
    """What is told of the forks of its process. None of it may raise."""

    def before_fork(self) -> None:
        """Get ready to be copied."""
        ...

    def after_fork_in_parent(self) -> None:
        """Go on."""
        ...

    def after_fork_in_child(self) -> None:
        """Begin anew: no other thread exists, and a lock that one held is never released."""
        ...


def watch_forks(this: Forkable) -> None:
    """Tell an object of every fork for as long as it lives."""
    weak = ref(this)

    def tell(method: Callable[[Any], None]) -> Callable[[], None]:
        def hook() -> None:
            living = weak()
            if living is not None:
                method(living)

        return hook

    kind = type(this)
    os.register_at_fork(
        before=tell(kind.before_fork),
        after_in_parent=tell(kind.after_fork_in_parent),
        after_in_child=tell(kind.after_fork_in_child),
    )


def at_end_of_child(call: Callable[[], None]) -> Callable[[], object]:
    """Have something called when a child of multiprocessing comes to its end; return how not to.

    Such a child ends with `os._exit`, and most versions of Python run no `atexit` there. In any
    other process nothing is done.
    """
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util is None or process is None or process.parent_process() is None:
        return lambda: None
    return cast("Callable[[], object]", util.Finalize(None, call, exitpriority=_EARLY).cancel)


def ended(thread: Thread | None, timeout: float) -> bool:
    """Wait for a thread, and for what the kernel has of it; return whether it is gone.

    Before 3.13 `Thread.join` may return a moment before the kernel's thread is gone.
    """
    if thread is None:
        return True
    if thread is current_thread():
        return False
    end = time.monotonic() + timeout
    thread.join(max(0.0, timeout))
    if thread.is_alive():
        return False
    task = _TASKS / str(thread.native_id)
    while task.exists() and time.monotonic() < end:
        time.sleep(0.0001)
    return True
