"""A real pipeline on each store, the executor on it, and a plugin that remembers what it heard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from failhook.executors.local import LocalExecutor
from failhook.gate.overrides import Policies
from failhook.manager import Manager
from failhook.outbox.port import Store
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.stores import open_store
from tests.pipeline.conftest import Recorder


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return an empty store: in memory, or in SQLite where a test says so."""
    kind = getattr(request, "param", "memory")
    return open_store("memory" if kind == "memory" else str(tmp_path / "failhook.db"))


@pytest.fixture
def heard() -> Recorder:
    """Return the plugin that listens."""
    return Recorder()


@pytest.fixture
def policy(request: pytest.FixtureRequest) -> Policy:
    """Return what tasks may cost: nothing, or what a test says."""
    return getattr(request, "param", Policy())


@pytest.fixture
def pipeline(store: Store, heard: Recorder, policy: Policy) -> Iterator[Pipeline]:
    """Return a pipeline that has delivered every event when a report returns."""
    with open_pipeline(store, heard, policy) as pipeline:
        yield pipeline


def open_pipeline(store: Store, heard: Recorder, policy: Policy) -> Pipeline:
    """Return a pipeline with one plugin and no jitter."""
    manager = Manager()
    manager.register(heard, "heard")
    return Pipeline(
        store, manager=manager, policies=Policies(policy), dispatch="inline", random=lambda: 1.0
    )


@pytest.fixture
def executor(pipeline: Pipeline) -> Iterator[LocalExecutor]:
    """Return an executor of two workers."""
    executor = LocalExecutor(pipeline, workers=2)
    yield executor
    executor.close(0)


class Fifo:
    """Where a task says that it has come so far: an event between processes, without waiting."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)

    def read(self) -> str:
        """Return what was written, once somebody has."""
        return Path(self.path).read_text(encoding="utf-8")


@pytest.fixture
def fifo(tmp_path: Path) -> Fifo:
    """Return a named pipe."""
    return Fifo(tmp_path / "said")
