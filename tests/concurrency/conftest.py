"""Many processes that report to one store, once for all tests of a database."""

from __future__ import annotations

import pytest

from failhook.stores import open_store
from tests.concurrency.reporters import Answers, report


@pytest.fixture(
    scope="module",
    params=[
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.requires_service("postgres")),
    ],
)
def store_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where an empty store is, on each database."""
    if request.param == "postgres":
        url = f"{request.getfixturevalue('postgres_server').url}&schema=concurrency"
    else:
        url = f"sqlite:///{tmp_path_factory.mktemp('concurrency') / 'failhook.db'}"
    open_store(url).close()
    return url


@pytest.fixture(scope="module")
def answers(store_url: str) -> list[Answers]:
    """Return what each process was answered, when all had reported to the store."""
    return report(store_url)
