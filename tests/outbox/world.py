"""What tests of the outbox share: a clock set by hand, plugins, and waiting for other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from failhook.evidence import Evidence
from failhook.manager import Limits, Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from failhook.plugin import FailureEvent, Group, Handled, Task, hookimpl
from failhook.policy import Backoff

QUICK = DeliveryLimits(backoff=Backoff(initial=0.0), gather=0.0, watch=0.02, poll=0.02, mark=0.02)
START = datetime(2026, 3, 29, 12, tzinfo=UTC)


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class Good:
    """Takes everything."""

    def __init__(self) -> None:
        self.events: list[FailureEvent] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event)


class Gathering:
    """Puts all events of a workflow into a group that is due a minute later."""

    def __init__(self, clock: ManualClock, answers: list[object] | None = None) -> None:
        self.clock = clock
        self.answers = answers or []
        self.asked = 0
        self.handed: list[tuple[str, list[str], int, str, datetime | None]] = []

    @hookimpl
    def group_event(self, event: FailureEvent) -> Group:
        self.asked += 1
        return Group(event.task.workflow, self.clock.now() + timedelta(minutes=1))

    @hookimpl
    def on_group_due(self, key, events, remaining, note, sent_at) -> Handled | None:
        self.handed.append((key, [event.task.name for event in events], remaining, note, sent_at))
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, BaseException):
            raise answer
        return answer


def pipeline_on(
    store: Store,
    *plugins: object,
    clock: ManualClock | None = None,
    limits: DeliveryLimits = QUICK,
    manager: Limits | None = None,
    random: Callable[[], float] = lambda: 1.0,
    **options: object,
) -> Pipeline:
    """Return a pipeline whose plugins are named by their class, in lower case."""
    made = Manager(clock=clock, limits=manager or Limits(failures=1000))
    for plugin in plugins:
        made.register(plugin, type(plugin).__name__.lower())
    return Pipeline(store, manager=made, clock=clock, delivery=limits, random=random, **options)


def fail(pipeline: Pipeline, *names: str, workflow: str = "nightly") -> None:
    """Report a failure of each task."""
    for name in names:
        pipeline.failed(Task(workflow, name, run_id="r"), Evidence.returncode(3))


def until(done: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait for something that other threads do."""
    tick = threading.Event()
    for _ in range(int(seconds / 0.01)):
        if done():
            return True
        tick.wait(0.01)
    return done()
