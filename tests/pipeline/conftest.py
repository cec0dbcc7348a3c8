"""A pipeline on each store, with a plugin that remembers what it heard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from failhook.clock import Clock
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from failhook.plugin import FailureEvent, hookimpl
from failhook.policy import Policy
from failhook.stores import open_store
from failhook.task import Task

MakePipeline = Callable[..., Pipeline]


class SetClock:
    """A clock that goes on as a test says, and that somebody sets meanwhile."""

    def __init__(self) -> None:
        self.wall = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
        self.ticks = 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.ticks

    def go_on(self, seconds: float) -> None:
        """Let time pass."""
        self.ticks += seconds
        self.wall += timedelta(seconds=seconds)

    def set(self, seconds: float) -> None:
        """Set the wall clock forward, or back; no time passes."""
        self.wall += timedelta(seconds=seconds)


class Recorder:
    """Remembers every event that it is given."""

    def __init__(self) -> None:
        self.events: list[FailureEvent] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        self.events.append(event)

    @hookimpl
    def on_failure_amended(self, event: FailureEvent) -> None:
        self.events.append(event)

    @hookimpl
    def on_suspect_success(self, event: FailureEvent) -> None:
        self.events.append(event)

    @property
    def types(self) -> list[str]:
        """Return the types of what was heard, in order."""
        return [event.type.value for event in self.events]


def told(pipeline: Pipeline, task: Task) -> list[FailureEvent]:
    """Return what the plugin ``heard`` is to be told of a task, in order."""
    events: list[FailureEvent] = []
    now = pipeline.clock.now()
    while rows := pipeline.store.claim("heard", now=now, lease=60.0, limit=500, owner="test"):
        found = [row.event for row in rows if row.event is not None]
        events += [event for event in found if event.task.key == task.key]
        pipeline.store.done([row.id for row in rows])
    return events


POSTGRES = pytest.param("postgres", marks=pytest.mark.requires_service("postgres"))


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return an empty store of each kind that every machine has."""
    return open_store("memory" if request.param == "memory" else str(tmp_path / "failhook.db"))


@pytest.fixture(params=["sqlite", POSTGRES])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a store that processes can share can be made, of each kind."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return str(tmp_path / "failhook.db")


@pytest.fixture
def heard() -> Recorder:
    """Return the plugin that listens to every pipeline of this test."""
    return Recorder()


@pytest.fixture
def make(store: Store, heard: Recorder) -> Iterator[MakePipeline]:
    """Return a maker of pipelines on the one store; they are closed at the end."""
    made: list[Pipeline] = []

    def build(
        policy: Policy | None = None, *plugins: object, clock: Clock | None = None
    ) -> Pipeline:
        manager = Manager()
        manager.register(heard, "heard")
        for number, plugin in enumerate(plugins):
            manager.register(plugin, f"plugin{number}")
        pipeline = Pipeline(
            store,
            manager=manager,
            policies=Policies(policy or Policy()),
            dispatch="inline",
            random=lambda: 1.0,
            clock=clock,
        )
        made.append(pipeline)
        return pipeline

    yield build
    for pipeline in made:
        pipeline.close()


@pytest.fixture(scope="session")
def quiet() -> Iterator[Pipeline]:
    """Return one pipeline in memory for all examples of a property; its events wait for ``heard``.

    Each example has a run of its own, and its policy on its task.
    """
    manager = Manager()
    manager.register(Recorder(), "heard")
    with Pipeline(manager=manager, dispatch="none", random=lambda: 1.0) as pipeline:
        yield pipeline
