"""A plugin that ends the whole process in its hook, and a process that delivers to it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from failhook.outbox.limits import DeliveryLimits
from failhook.plugin import FailureEvent, Group, hookimpl
from failhook.policy import Backoff
from tests.delivery.plugins import Appending
from tests.delivery.processes import pipeline_on

MOST = 4
POISON = "task-3"
STATUS = 9

LIMITS = DeliveryLimits(
    max_failures=2,
    max_deaths=MOST,
    backoff=Backoff(initial=0.01, factor=1.0, maximum=0.01),
    gather=0.0,
    poll=0.05,
)


class Deadly(Appending):
    """Takes everything but one task, at which its client library crashes."""

    def take(self, event: FailureEvent) -> None:
        if event.task.name == POISON:
            os._exit(STATUS)
        super().take(event)


class DeadlyDigest(Appending):
    """Gathers each task's events, and crashes when it is to send those of one task."""

    @hookimpl
    def group_event(self, event: FailureEvent) -> Group:
        return Group(event.task.name, datetime.now(UTC))

    @hookimpl
    def on_group_due(self, events: Sequence[FailureEvent]) -> None:
        for event in events:
            if event.task.name == POISON:
                os._exit(STATUS)
            self.take(event)


def drain(where: str, folder: Path) -> None:
    """Deliver until nothing waits, or until a plugin ends the process."""
    warnings.simplefilter("error")
    plugins = {
        "good": Appending(folder / "good"),
        "deadly": Deadly(folder / "deadly"),
        "digest": DeadlyDigest(folder / "digest"),
    }
    held = {name: plugins[name] for name in (folder / "held").read_text().split()}
    with pipeline_on(where, held, limits=LIMITS) as pipeline:
        while pipeline.store.pending():
            pipeline.flush(1.0)
