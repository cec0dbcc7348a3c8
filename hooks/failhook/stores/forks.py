"""What a store does when its process forks: neither side may find a lock held or a file shared."""

from __future__ import annotations

import os
from threading import RLock
from typing import Final, Protocol
from weakref import ref

PATIENCE: Final = 10.0
"""Seconds that a fork waits for a transaction of another thread to end."""


class Forkable(Protocol):
    """A store whose lock is held while its process forks."""

    lock: RLock

    def before_fork(self) -> None:
        """Get ready to be copied; the lock is held."""
        ...

    def after_fork_in_child(self) -> None:
        """Begin anew; the lock is a new one."""
        ...


def watch_forks(store: Forkable) -> None:
    """Tell a store of every fork for as long as it lives."""
    this = ref(store)
    held: list[Forkable] = []

    def before() -> None:
        living = this()
        if living is not None and living.lock.acquire(timeout=PATIENCE):
            held.append(living)
            living.before_fork()

    def after_in_parent() -> None:
        if held:
            held.pop().lock.release()

    def after_in_child() -> None:
        held.clear()
        living = this()
        if living is not None:
            living.lock = RLock()
            living.after_fork_in_child()

    os.register_at_fork(
        before=before, after_in_parent=after_in_parent, after_in_child=after_in_child
    )
