"""One pipeline through a bad day: what it reports, what it is told, what its plugin hears."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from failhook.errors import StoreError
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.pipeline import Pipeline
from failhook.plugin import Clock, FailureEvent, SystemClock, Task, hookimpl
from failhook.policy import Backoff, Policy
from failhook.stores import open_store
from tests.delivery.plugins import until
from tests.delivery.processes import BUG

SOON = DeliveryLimits(gather=0.0, poll=0.05, watch=0.05, backoff=Backoff(initial=0.05, maximum=0.1))


class Recorder:
    """Remembers what it is given."""

    def __init__(self) -> None:
        self.events: list[FailureEvent] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event)

    @property
    def heard(self) -> Counter[str]:
        """How often each task was heard of."""
        return Counter(event.task.name for event in self.events)


class Said(logging.Handler):
    """Keeps what the library logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    @property
    def repeated(self) -> list[str]:
        """What was said more than once."""
        return [line for line, count in Counter(self.lines).items() if count > 1]


@dataclass
class Night:
    """A pipeline on a store, and all that is seen of it from outside.

    Attributes:
        where: the store.
        clock: the time.
        counted: tasks whose report was taken.
        refusals: what `failed()` raised.
        plugin: what is delivered to.
        name: the plugin's name.
        said: what is logged.
    """

    where: str
    clock: Clock = field(default_factory=SystemClock)
    counted: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    plugin: Recorder = field(default_factory=Recorder)
    name: str = "recorder"
    said: Said = field(default_factory=Said)

    def __enter__(self) -> Self:
        logging.getLogger("failhook").addHandler(self.said)
        manager = Manager(clock=self.clock)
        manager.register(self.plugin, self.name)
        self.pipeline = Pipeline(
            open_store(self.where),
            manager=manager,
            policies=Policies(Policy(retries=3)),
            clock=self.clock,
            delivery=SOON,
            random=lambda: 1.0,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.pipeline.close(10.0)
        logging.getLogger("failhook").removeHandler(self.said)

    def report(self, name: str, *, workflow: str = "night", attempt: int = 1) -> bool:
        """Report one failure; return whether it was counted, and keep what was said if not."""
        try:
            self.pipeline.failed(Task(workflow, name, run_id="r", attempt=attempt), BUG)
        except StoreError as refusal:
            self.refusals.append(str(refusal))
            return False
        self.counted.append(name)
        return True

    def delivered(self, *names: str) -> bool:
        """Wait until these tasks were heard of; all that were counted unless some are named."""
        return until(lambda: set(names or self.counted) <= set(self.plugin.heard))

    def user_charges(self, name: str) -> int:
        """Return what a task has cost, as the ledger has it."""
        with self.pipeline.store.transaction() as ledger:
            account = ledger.account(Task("night", name, run_id="r").key)
        return 0 if account is None else account.user
