"""A fork leaves both sides able to report, and nothing is lost, heard twice or waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from failhook.stores import open_store
from tests.delivery.plugins import taken
from tests.delivery.scale import times

ROOT = Path(__file__).parents[2]


def forked(how: str, where: str, folder: Path, forks: int, *more: str) -> Counter[str]:
    """Run the forking program; return how often a plugin heard of each task."""
    command = [sys.executable, "-W", "error", "-m", "tests.delivery.forking"]
    process = subprocess.Popen(
        [*command, how, where, str(folder), str(forks), *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=times(100, 1_500))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the children too, which wait for each other
        process.communicate()
        pytest.fail("some process waits for ever")
    assert (0, "") == (process.returncode, said)
    one, two = taken(folder / "one"), taken(folder / "two")
    assert set(one) == set(two)
    return Counter({name: count for (name, _), count in (one | two).items()})


def each(name: str, count: int) -> Counter[str]:
    """Return each of so many tasks once."""
    return Counter(f"{name}-{number}" for number in range(count))


def nothing_waits(where: str) -> bool:
    """Return whether the store has nothing left to deliver."""
    store = open_store(where)
    try:
        return store.pending() == 0 and not store.dead_letters()
    finally:
        store.close()


def test_many_forks_with_events_before_and_after(where: str, tmp_path: Path) -> None:
    """Parent and child report around each fork; each event is heard once by each plugin."""
    forks = times(20, 500)

    heard = forked("one-by-one", where, tmp_path, forks)

    assert each("before", forks) + each("after", forks) + each("child", forks) == heard
    assert nothing_waits(where)


def test_children_that_end_without_a_word(where: str, tmp_path: Path) -> None:
    """What a child had reported, or had claimed, when it was gone is delivered by its parent."""
    forks = times(10, 500)

    heard = forked("abruptly", where, tmp_path, forks)

    assert set(each("child", forks)) == set(heard)
    assert nothing_waits(where)


def test_forks_in_memory_share_nothing(tmp_path: Path) -> None:
    """With the memory store each process delivers its own events, and no other one's."""
    forks = times(20, 500)

    heard = forked("one-by-one", "memory", tmp_path, forks)

    assert each("before", forks) + each("after", forks) + each("child", forks) == heard


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="newer Pythons warn of any fork beside a thread"
)
def test_forks_while_threads_report(where: str, tmp_path: Path) -> None:
    """A fork in the middle of other threads' reports harms neither side."""
    forks = times(10, 500)

    heard = forked("busy-threads", where, tmp_path, forks)

    assert {1} == set(heard.values())
    assert each("after", forks) + each("child", forks) <= heard
    for thread in ("busy-0", "busy-1"):
        numbers = [int(name.rpartition("-")[2]) for name in heard if name.startswith(thread)]
        assert list(range(len(numbers))) == sorted(numbers)
    assert nothing_waits(where)


def test_prefork_workers(where: str, tmp_path: Path) -> None:
    """Workers that were forked from one parent serve side by side."""
    reports = times(20, 500)

    heard = forked("prefork", where, tmp_path, reports)

    assert each("before", 1) + each("after", 1) + each("child", reports) == heard
    assert nothing_waits(where)


def test_children_of_children(where: str, tmp_path: Path) -> None:
    """A child may fork the next one, each with its own threads, to any depth."""
    depth = times(5, 12)  # each has connections of its own

    heard = forked("generations", where, tmp_path, depth)

    assert each("before", depth) + each("after", depth) == heard
    assert nothing_waits(where)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_multiprocessing_pool(where: str, tmp_path: Path, method: str) -> None:
    """However `multiprocessing` makes its workers, each report of theirs is heard once.

    A pool ends its workers without a word, so they flush after each report.
    """
    reports = times(6, 500)

    heard = forked("pool", where, tmp_path, reports, method)

    assert each("before", 1) + each("after", 1) + each("child", reports) == heard
    assert nothing_waits(where)
