"""Alerts on a real pipeline and a real outbox, with a clock that the test moves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from failhook.manager import Limits, Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from failhook.pipeline.configured import StoredState
from failhook.plugin import Clock, Evidence, Task, Undelivered
from failhook.policy import Backoff
from failhook_sinks.alerts.engine import Engine
from failhook_sinks.alerts.model import Notification, Status
from failhook_sinks.alerts.owners import Owner
from failhook_sinks.alerts.router import Router
from failhook_sinks.alerts.sink import AlertSink
from failhook_sinks.alerts.tree import Route
from tests.outbox.world import START, ManualClock

HOUR = 3_600.0
DAY = 86_400.0
# Nothing happens by itself: a test moves the clock and asks for a flush.
STILL = DeliveryLimits(gather=0.0, poll=60.0, watch=60.0, backoff=Backoff(initial=1.0, maximum=1.0))


class Recording:
    """A receiver that remembers what it was to send, and when."""

    def __init__(self, name: str, clock: Clock, *, keep_alive: bool = False) -> None:
        self.name = name
        self.keep_alive = keep_alive
        self.sent: list[Notification] = []
        self.at: list[datetime] = []
        self.refusals: list[Undelivered] = []
        self._clock = clock

    def send(self, notification: Notification) -> str:
        if self.refusals:
            raise self.refusals.pop(0)
        self.sent.append(notification)
        self.at.append(self._clock.now())
        return f"thread {len(self.sent)}"

    @property
    def told(self) -> list[tuple[float, str, int, int]]:
        """What was sent: second, why, how many alerts fire, how many are well again."""
        return [
            (
                (at - START).total_seconds(),
                each.why.value,
                len([one for one in each.alerts if one.status is Status.FIRING]) + each.more,
                len([one for one in each.alerts if one.status is Status.RESOLVED]),
            )
            for at, each in zip(self.at, self.sent, strict=True)
        ]


class Alerts(AlertSink):
    """The sink with parts of the test's own instead of settings."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine


@dataclass
class World:
    """A pipeline with alerts.

    Attributes:
        store: where everything is kept.
        route: the routing tree.
        clock: the time.
        owners: the owner map.
        receivers: by name.
        max_age: seconds.
    """

    store: Store
    route: Route
    clock: ManualClock = field(default_factory=ManualClock)
    owners: Sequence[Owner] = ()
    receivers: dict[str, Recording] = field(default_factory=dict)
    max_age: float = HOUR

    def __post_init__(self) -> None:
        for name in ("team", "other"):
            self.receivers.setdefault(name, Recording(name, self.clock))
        self.pipeline = self.begin()

    def begin(self, **options) -> Pipeline:
        """Return a pipeline of one more process on the store."""
        engine = Engine(
            Router(self.route, self.owners),
            self.receivers,
            state=StoredState(self.store, "alerts"),
            clock=self.clock,
            max_age=self.max_age,
        )
        manager = Manager(clock=self.clock, limits=Limits(failures=1000))
        manager.register(Alerts(engine), "alerts")
        return Pipeline(
            self.store,
            manager=manager,
            clock=self.clock,
            delivery=STILL,
            random=lambda: 1.0,
            **options,
        )

    @property
    def team(self) -> Recording:
        """The receiver that most tests watch."""
        return self.receivers["team"]

    def restart(self, route: Route | None = None) -> None:
        """Let the process end, and another one begin on the same store."""
        self.route = route or self.route
        before, self.pipeline = self.pipeline, self.begin()
        before.flush(20)

    def flush(self, *others: Pipeline) -> None:
        """Have everything that is due now delivered."""
        for pipeline in (self.pipeline, *others):
            assert pipeline.flush(60)

    def until(self, second: float) -> None:
        """Let time go by, and look at every group at its time."""
        while True:
            self.flush()
            due = self.store.next_due(["alerts"], self.clock.now())
            if due is None or due > START + timedelta(seconds=second):
                break
            self.clock.seconds = max(self.clock.seconds, (due - START).total_seconds())
        self.clock.seconds = second
        self.flush()

    def fail(self, task: Task | str, evidence: Evidence | None = None, **more) -> Task:
        """Report a failure; return the attempt after it."""
        if isinstance(task, str):
            task = Task("nightly", task, run_id="r1")
        self.pipeline.failed(task, evidence or Evidence.returncode(3), **more)
        return task.next_attempt()

    def run(self, task: Task, evidence: Evidence | None = None) -> None:
        """Let a task start now, and succeed, or fail with this evidence."""
        task = self.pipeline.started(task)
        if evidence is None:
            self.pipeline.succeeded(task)
        else:
            self.pipeline.failed(task, evidence)


def nightly(number: int, name: str = "load") -> Task:
    """Return a task of that run."""
    return Task("nightly", name, run_id=f"run-{number}")


def route(**more) -> Route:
    """Return a route that sends everything to the team."""
    return Route(place="route", receiver="team", **more)


@contextmanager
def world_on(store: Store, **more):
    """Return a world whose pipeline is closed at the end."""
    world = World(store, more.pop("route", route()), **more)
    try:
        yield world
    finally:
        world.pipeline.close(20)
