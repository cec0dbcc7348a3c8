"""One transaction that is over when it should be, whatever interrupts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from failhook.outbox.port import Store, Transaction

T = TypeVar("T")


def within(store: Store, work: Callable[[Transaction], T]) -> T:
    """Return what work in one transaction returns; it has ended when this returns or raises.

    A ``with`` statement does not promise that: what a signal's handler raises may come just when
    its end is called, which is not called again then. So whatever may run in a main thread is
    written with this.

    Raises:
        StoreError: the store cannot be read or written; nothing was changed.
    """
    opening = store.transaction()
    try:
        with opening as transaction:
            return work(transaction)
    finally:
        opening.end()
