"""An empty store of each kind that needs no service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from failhook.outbox.port import Store
from failhook.stores import open_store
from tests.outbox.world import ManualClock


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store."""
    opened = open_store("memory" if request.param == "memory" else str(tmp_path / "failhook.db"))
    yield opened
    opened.close()


@pytest.fixture
def clock() -> ManualClock:
    """Return a clock that the test moves."""
    return ManualClock()
