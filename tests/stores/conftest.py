"""One fixture stands for every store: what a test of the contract takes, each store passes."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from failhook.stores import open_store

POSTGRES = pytest.param("postgres", marks=pytest.mark.requires_service("postgres"))
"""A store on a server."""

DATABASES = ("sqlite", POSTGRES)
"""The stores in a database."""


def _place(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "memory" if request.param == "memory" else str(tmp_path / "store.db")


@pytest.fixture(params=["memory", *DATABASES])
def where(request, tmp_path):
    """Where a fresh store of each kind can be made."""
    return _place(request, tmp_path)


@pytest.fixture(params=DATABASES)
def database(request, tmp_path):
    """Where a fresh store in each kind of database can be made."""
    return _place(request, tmp_path)


@contextmanager
def _opener(where):
    opened = []

    def open_within(bounds=None):
        opened.append(open_store(where, bounds))
        return opened[-1]

    yield open_within
    for store in opened:
        store.close()


@pytest.fixture
def store_within(where):
    """Open a store of each kind within some bounds."""
    with _opener(where) as open_within:
        yield open_within


@pytest.fixture
def store(store_within):
    """A fresh store of each kind."""
    return store_within()


@pytest.fixture
def sql_store_within(database):
    """Open a store in each kind of database, as often as wanted."""
    with _opener(database) as open_within:
        yield open_within


@pytest.fixture
def sql_store(sql_store_within):
    """A fresh store in each kind of database."""
    return sql_store_within()
