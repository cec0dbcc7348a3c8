"""Bad days of an SQLite store: one clear message each, nothing lost, and the executor goes on."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from failhook.errors import StoreError
from failhook.gate.ledger import AttemptState
from failhook.plugin import Task
from failhook.stores import open_store
from failhook.stores.sql.queries import migrations
from failhook.stores.sqlite.schema import PACKAGE
from tests.delivery import disks
from tests.delivery.nights import Night
from tests.delivery.plugins import taken, until
from tests.delivery.processes import fill, run, start
from tests.delivery.scale import times

NEWEST = max(migrations(PACKAGE))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where the store is, in a folder of its own."""
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "failhook.db"


def test_a_store_that_is_locked_for_too_long(file: Path) -> None:
    """The report is refused, the drainer waits; when the lock is gone both go on."""
    with Night(f"sqlite:///{file}?busy_timeout=0.05") as night:
        assert night.report("before")
        assert night.delivered()
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert not night.report("during")
        assert not night.report("during")
        assert not until(lambda: night.said.repeated, 0.5)
        other.execute("ROLLBACK")
        other.close()

        assert night.report("during")
        assert night.report("after")
        assert night.delivered()
        assert 1 == night.user_charges("during")

    assert Counter(before=1, during=1, after=1) == night.plugin.heard
    why = "another process kept it locked for longer than the busy timeout"
    assert {f"store {file}: database is locked; {why}"} == set(night.refusals)
    assert [] == night.said.repeated


def test_a_store_whose_folder_is_removed(file: Path) -> None:
    """It is told that the file is gone, then what to make; a new folder is a new beginning."""
    with Night(str(file)) as night:
        assert night.report("before")
        assert night.delivered()
        shutil.rmtree(file.parent)
        assert not night.report("during")
        assert not night.report("during")
        file.parent.mkdir()

        assert night.report("during")
        assert night.report("after")
        assert night.delivered()

    assert Counter(before=1, during=1, after=1) == night.plugin.heard
    gone, missing = night.refusals
    assert "the file was deleted or replaced while it was in use" in gone
    assert f"there is no folder {file.parent}; make it" in missing
    assert [] == night.said.repeated


@pytest.mark.parametrize("seed", range(times(6, 300)))
def test_a_store_with_flipped_bits(file: Path, seed: int) -> None:
    """Whatever a broken disk has made of the file, only a `StoreError` comes out of it.

    When it is moved away, as the message says, everything goes on.
    """
    run(fill, str(file), ("recorder",), 12, 2)
    _damage(file, random.Random(seed))

    refusals = _refusals(
        file, *(f"{name}-{number}" for name in ("new", "task") for number in range(12))
    )

    assert all(refusal.startswith(f"store {file}: ") for refusal in refusals)
    assert not any("\n" in refusal for refusal in refusals)

    for part in file.parent.iterdir():
        part.rename(part.with_suffix(".broken"))
    with Night(str(file)) as night:
        assert night.report("after")
        assert night.delivered()
        assert [] == night.said.lines


def _refusals(file: Path, *names: str) -> list[str]:
    """Use a store that is broken; return what was raised, be it when it was opened."""
    try:
        with Night(str(file)) as night:
            for name in names:
                night.report(name, workflow="kills", attempt=3)
            night.pipeline.flush(10.0)
    except StoreError as refusal:
        return [str(refusal)]
    return night.refusals


def _damage(file: Path, chance: random.Random) -> None:
    """Flip bits in the middle of a file, in one place or all over it."""
    content = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 8, 64, 512))):
        content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
def test_a_store_that_was_cut_short(file: Path, part: float) -> None:
    """A truncated file is refused as damaged, with the way out, and not a byte is added to it."""
    run(fill, str(file), ("recorder",), 30, 2)
    os.truncate(file, int(file.stat().st_size * part))

    (refusal,) = _refusals(file, "during")

    assert refusal.startswith(f"store {file}: ")
    assert "the file is damaged; move it away" in refusal


def test_an_event_that_cannot_be_read_blocks_nobody(file: Path) -> None:
    """It becomes a dead letter that says why; every other event arrives."""
    run(fill, str(file), ("recorder",), 5, 1)
    connection = sqlite3.connect(file)
    connection.execute("UPDATE events SET body = '[1, ' WHERE task_key LIKE '%task-2%'")
    connection.commit()
    connection.close()

    with Night(str(file)) as night:
        night.pipeline.flush(10.0)
        assert night.delivered("task-0", "task-1", "task-3", "task-4")
        (letter,) = night.pipeline.store.dead_letters()
        assert (None, "recorder") == (letter.event, letter.plugin)
        assert "task-2" in letter.task_key
        assert letter.error

    assert Counter(f"task-{number}" for number in (0, 1, 3, 4)) == night.plugin.heard


def test_a_record_that_cannot_be_read_concerns_its_own_task_alone(where: str) -> None:
    """Reports on that task are refused in one line that names it; everybody else goes on."""
    with Night(where) as night:
        bad, good = (
            night.pipeline.started(Task("night", name, run_id="r")) for name in ("bad", "good")
        )
        store = night.pipeline.store
        with store._database.transaction() as cursor:
            for query, column in (("save_account", "phases"), ("save_attempt", "task")):
                table = store._sql[query].split()[2]
                cursor.execute(f"UPDATE {table} SET {column} = '[1, ' WHERE key = '{bad.key}'", ())  # noqa: S608 - names of our own

        assert not night.report("bad")
        assert night.report("good")
        assert night.delivered("good")
        with store.transaction() as ledger:
            assert [] == list(ledger.open_attempts())
        assert AttemptState.FAILED == store.history(good.key, limit=9)[0].state

    (refusal,) = night.refusals
    assert f"what it knows of task {bad.key} cannot be read" in refusal
    (line,) = night.said.lines
    assert "it is left out: " in line


def test_no_more_files_can_be_opened(where: str, tmp_path: Path) -> None:
    """A process that has used up its descriptors reports and delivers when it has some again."""
    run(disks.without_descriptors, where, tmp_path)

    names = Counter({(f"{when}-{number}", 1): 1 for when in disks.WHEN for number in range(5)})
    assert names == taken(tmp_path / "heard")


mounting = pytest.mark.requires_service("mounts")


@mounting
def test_a_full_disk(tmp_path: Path) -> None:
    """What does not fit is refused whole; with space again, it is taken, and all is delivered."""
    night = disks.run("full", tmp_path)

    (refusal,) = set(night.refusals)
    assert "database or disk is full; free some space on its disk" in refusal
    assert set(night.counted) == set(night.heard)
    assert {"refused": 1, "after": 1} == night.charges
    assert [] == night.repeated


@mounting
def test_a_store_on_a_read_only_mount(tmp_path: Path) -> None:
    """It is refused when it is opened, and what it holds is delivered from elsewhere later."""
    night = disks.run("read-only", tmp_path)

    (refusal,) = night.refusals
    assert "writable" in refusal
    assert {"before": 1} == night.heard


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_a_process_that_dies_in_the_middle_of_a_migration(tmp_path: Path, old: bool) -> None:
    """Killed before any of its statements, it leaves a store that the next process can use."""
    for statement in count(1, times(5, 1)):
        file = tmp_path / f"{statement}.db"
        if old:
            disks.first_schema(file)
        process = start(disks.migrate_and_die, file, statement)
        process.join(30)
        with closing(open_store(file)) as store:
            report = store.examine(datetime.now(UTC))
        assert (NEWEST, []) == (report.schema, report.problems)
        if process.exitcode == 0:
            break
        assert -signal.SIGKILL == process.exitcode

    assert statement > 10
