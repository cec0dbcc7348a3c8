"""What is said of events that did not go out before the command ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from failhook.cli.courier import ChildCourier
from failhook.errors import StoreError
from failhook.outbox.port import Waiting
from failhook.pipeline import Pipeline
from failhook.stores import is_memory, shown

SECONDS: Final = 10.0
LEAST: Final = 1.0


def close(pipeline: Pipeline, store: str, courier: ChildCourier | None = None) -> list[str]:
    """Close a pipeline; return a line for each plugin that has not heard of everything."""
    end = time.monotonic() + SECONDS
    if courier is not None:
        courier.end()
    pipeline.flush(SECONDS)
    if courier is not None:
        courier.wait(max(LEAST, end - time.monotonic()))
    waiting = _waiting(pipeline)
    if pipeline.close(max(LEAST, end - time.monotonic())):
        return []
    return [waiting_line(each, shown(store)) for each in waiting]


def waiting_line(waiting: Waiting, store: str) -> str:
    """Return how many events a plugin did not get, why, and what becomes of them."""
    one = waiting.count == 1
    events = "1 event was" if one else f"{waiting.count} events were"
    why = f" ({waiting.error})" if waiting.error else ""
    if is_memory(store):
        fate = "lost, since a store in memory ends with its process"
        return f"{events} not delivered to plugin {waiting.plugin}{why} and {fate}"
    wait = "it waits" if one else "they wait"
    where = f"{wait} in {shown(store)} for the next process, or for failhook deliver"
    return f"{events} not delivered to plugin {waiting.plugin} yet{why}; {where}"


def _waiting(pipeline: Pipeline) -> Sequence[Waiting]:
    """Return what waits for the plugins of this process; nothing where the store cannot say."""
    plugins = pipeline.manager.names()
    try:
        return [each for each in pipeline.store.waiting() if each.plugin in plugins]
    except StoreError:
        return ()
