"""Drainers that stop in the middle of a call, and others that take over."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

from failhook.manager import Limits
from failhook.outbox.limits import DeliveryLimits
from failhook.plugin import FailureEvent, Undelivered, hookimpl
from failhook.policy import Backoff
from tests.delivery.plugins import Appending, append, until
from tests.delivery.processes import PATIENT, pipeline_on, start

SHORT = DeliveryLimits(
    lease=1.0,
    turn=0.5,
    gather=0.0,
    poll=0.05,
    watch=0.05,
    backoff=Backoff(initial=0.01, maximum=0.01),
)
"""A lease that a test can outwait."""

PLUGIN = "sink"


class Gated(Appending):
    """Says that it was called, and waits for a file before it goes on."""

    def __init__(self, folder: Path, me: str, refusal: str = "") -> None:
        super().__init__(folder / me)
        self.folder = folder
        self.me = me
        self.refusal = refusal

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        (self.folder / f"{self.me}-called").touch()
        assert until((self.folder / f"{self.me}-go").exists, 60.0)
        if self.refusal:
            raise Undelivered(self.refusal, retryable=False)
        self.take(event)


def drain(where: str, folder: Path, me: str, refusal: str = "") -> None:
    """Deliver until nothing waits, each call behind a gate."""
    warnings.simplefilter("error")
    with pipeline_on(where, {PLUGIN: Gated(folder, me, refusal)}, limits=SHORT) as pipeline:
        while pipeline.store.pending():
            pipeline.flush(0.5)
        (folder / f"{me}-ended").touch()


def drain_openly(where: str, folder: Path, me: str) -> None:
    """Deliver until nothing waits."""
    (folder / f"{me}-go").touch()
    drain(where, folder, me)


def hang(where: str, folder: Path, me: str) -> None:
    """Hold a plugin that never comes back, past its time limit, until killed."""
    calls = Limits(call=0.3, failures=PATIENT.failures)
    plugin = Gated(folder, me)
    with pipeline_on(where, {PLUGIN: plugin}, limits=SHORT, calls=calls) as pipeline:
        pipeline.flush(1.0)
        append(folder / f"{me}-overdue", " ".join(pipeline.manager.overdue()))
        time.sleep(600)


def claim_and_die(where: str, folder: Path) -> None:
    """Have a process claim what is due, and kill it in the middle of its first call."""
    process = start(drain, where, folder, "dead")
    assert until((folder / "dead-called").exists)
    process.kill()
    process.join()
