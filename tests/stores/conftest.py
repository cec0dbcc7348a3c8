"""One fixture stands for every store: what a test of the contract takes, each store passes."""

from __future__ import annotations

import pytest

from failhook.stores import open_store

POSTGRES = pytest.param("postgres", marks=pytest.mark.requires_service("postgres"))


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def where(request, tmp_path):
    """Where a fresh store of each kind can be made."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "memory" if request.param == "memory" else str(tmp_path / "store.db")


@pytest.fixture
def store(where):
    """A fresh store of each kind."""
    opened = open_store(where)
    yield opened
    opened.close()
