"""One fixture stands for every store: what a test of the contract takes, each store passes."""

from __future__ import annotations

import pytest

from failhook.stores import open_store


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    """A fresh store of each kind."""
    opened = open_store("memory" if request.param == "memory" else tmp_path / "store.db")
    yield opened
    opened.close()
