"""How fast the outbox empties."""

from __future__ import annotations

import time
from pathlib import Path

from failhook.evidence import Evidence
from failhook.stores import open_store
from tests.benchmarks.hot_path import First, pipeline, tasks

EVENTS = 10_000


def events_per_second(where: Path | str) -> float:
    """Return how many events a second one drainer hands to one no-op plugin.

    Args:
        where: a store of its own.
    """
    with pipeline(First(), store=open_store(where), dispatch="none") as filling:
        for task in tasks("drain", EVENTS):
            filling.failed(task, Evidence.returncode(3))
    with pipeline(First(), store=open_store(where)) as draining:
        begun = time.perf_counter()
        draining.flush(600)
        return EVENTS / (time.perf_counter() - begun)
