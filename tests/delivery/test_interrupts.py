"""What a signal's handler raises in the middle of a call leaves the store whole and usable."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from tests.delivery.interrupts import interrupt, neighbour, report_from_handlers
from tests.delivery.processes import run, start
from tests.delivery.scale import times
from tests.stores.conftest import POSTGRES


@pytest.mark.parametrize("kind", ["memory", "sqlite", POSTGRES])
def test_interrupts_at_any_moment_leave_the_store_usable(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """After Ctrl-C at whatever moment every thread and process goes on, and all counts once."""
    if kind == "memory":
        run(interrupt, "memory", times(400, 10_000), 0.0008, None, seconds=600.0)
        return
    postgres = kind == "postgres"
    where = request.getfixturevalue("postgres_url") if postgres else str(tmp_path / "store.db")
    ours, theirs = multiprocessing.Pipe()
    beside = start(neighbour, where, theirs)
    try:
        count, longest = (times(40, 1_000), 0.006) if postgres else (times(150, 4_000), 0.0012)
        run(interrupt, where, count, longest, ours, seconds=600.0)
    finally:
        ours.send(0)
        beside.join(20)
    assert 0 == beside.exitcode


@pytest.mark.parametrize("kind", ["memory", "sqlite", POSTGRES])
def test_a_signals_handler_may_report(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A report from a handler in the middle of another one counts or is refused, and never hangs.

    The same task is concerned, so that one of the two would overwrite what the other has counted.
    """
    wheres = {"memory": "memory", "sqlite": str(tmp_path / "store.db")}
    run(report_from_handlers, wheres.get(kind) or request.getfixturevalue("postgres_url"))
