"""What an SQLite store promises beyond the contract: it outlives processes and shares its file."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from contextlib import closing

import pytest

from failhook.errors import StoreError
from failhook.outbox.port import Bounds
from failhook.stores import open_store
from failhook.stores.sql.queries import migrations
from failhook.stores.sqlite import SqliteStore
from failhook.stores.sqlite.health import examined
from failhook.stores.sqlite.schema import PACKAGE
from tests.stores.children import names_of, output_of, report, start
from tests.stores.samples import (
    LATER,
    NOW,
    a_failed_attempt,
    a_task,
    an_account,
    an_event,
)


@pytest.fixture
def path(tmp_path):
    """Where the store is."""
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    """An open store."""
    opened = SqliteStore(path)
    yield opened
    opened.close()


def test_a_killed_process_loses_nothing_that_it_committed(path):
    """After kill -9 right behind a commit, another process sees that, and nothing unfinished."""
    child = start("die", path)
    child.communicate()
    assert -9 == child.returncode

    store = open_store(path)
    task = a_task("committed")
    with store.transaction() as transaction:
        assert an_account(task) == transaction.account(task.key)
        assert a_failed_attempt(task) == transaction.attempt(task.attempt_key)
        assert None is transaction.account(a_task("unfinished").key)
    assert [an_event(task)] == [
        delivery.event for delivery in store.claim("log", now=NOW, lease=60, limit=9, owner="me")
    ]
    store.close()


def test_processes_that_write_at_once_lose_nothing(path):
    """Four processes that create the file together and write to it leave every change in it."""
    rounds = 60
    output_of(*(start("count", path, rounds, name) for name in "abcd"))

    store = open_store(path)
    with store.transaction() as transaction:
        assert 4 * rounds == transaction.account(a_task("counted").key).user
    assert 4 * rounds == store.pending(["log"])
    store.close()


def test_processes_never_hold_the_same_row(store, path):
    """However many processes claim at once, each row is handed out once."""
    for number in range(100):
        report(store, f"t{number}")

    printed = output_of(*(start("drain", path, owner) for owner in "abc"))

    found = [line for lines in printed for line in lines.split()]
    assert 100 == len(found) == len(set(found))


def test_a_delivered_event_leaves_nothing_behind(store, path):
    """When the last plugin has it, or it is dropped, an event's text is gone from the file."""
    with store.transaction() as transaction:
        transaction.enqueue(an_event(a_task("a")), ["log", "alerts"], NOW)
        transaction.enqueue(an_event(a_task("b")), ["log"], NOW)
    done, dropped = store.claim("log", now=NOW, lease=60, limit=9, owner="me")
    store.done([done.id])
    store.bury([dropped.id], error="no", now=NOW, owner="me")
    store.drop([dropped.id])
    assert [1] == counts(path, "events")

    (last,) = store.claim("alerts", now=NOW, lease=60, limit=9, owner="me")
    store.done([last.id])

    assert [0, 0] == counts(path, "events", "outbox")


def counts(path, *tables):
    """Look into the file from outside."""
    connection = sqlite3.connect(path)
    rows = [connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables]  # noqa: S608 - names from here
    connection.close()
    return rows


def test_what_history_asks_for_is_a_column(store, path):
    """Kind, reason, charge, node, owner and times of every attempt can be queried as they are."""
    report(store, "load")

    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT job_key, state, kind, reason, charge, node, host, task_owner,"
        " closed_at - opened_at FROM attempts"
    ).fetchall()
    connection.close()

    assert [
        (
            *("default/nightly/load", "failed", "infra", "KilledBySignal", "system", "node-7"),
            *("node-7", "data@example.org", 3_600_000_000),
        )
    ] == rows


@pytest.mark.parametrize(("synchronous", "level"), [("NORMAL", 1), ("FULL", 2)])
def test_synchronous_is_what_was_asked_for(path, synchronous, level):
    """The file is in WAL mode and commits as durably as the setting says."""
    store = SqliteStore(path, synchronous=synchronous)

    with store._database.transaction() as cursor:
        assert ("wal",) == cursor.execute("PRAGMA journal_mode").fetchone()
        assert (level,) == cursor.execute("PRAGMA synchronous").fetchone()
    store.close()


def test_a_closed_store_opens_again_when_used(store):
    """Closing lets go of the file only."""
    report(store, "a")
    store.close()
    store.close()

    assert ["a"] == names_of(store)


def test_a_transaction_inside_a_transaction_is_an_error(store):
    """The same thread cannot begin twice: it hears so at once, and the outer one goes on."""
    with store.transaction() as transaction:
        with pytest.raises(StoreError, match="in a transaction already"):
            store.pending()
        transaction.enqueue(an_event(a_task()), ["log"], NOW)

    assert 1 == store.pending()


def test_a_healthy_file_has_no_problems(store, path):
    """An examination finds the file, its schema and its size, and complains of nothing."""
    report(store, "a")

    found = store.examine(LATER)

    assert (str(path), 1, []) == (found.where, found.tasks, list(found.problems))
    assert found.schema == max(migrations(PACKAGE))
    assert found.bytes >= path.stat().st_size > 0


def test_damage_is_found_before_it_is_read(store, path):
    """A page that no query has touched yet is looked at, and the way out is named."""
    for number in range(200):
        report(store, f"t{number}")
    store.close()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 8_192)

    problems = SqliteStore(path).examine(LATER).problems

    assert "is damaged" in problems[0]
    assert "move it away and restore a copy" in problems[0]
    assert "\n" not in "".join(problems)


def test_a_disk_that_is_nearly_full_is_told(store, path):
    """Before a commit fails, the doctor hears how little room is left."""
    (problem,) = examined(path, least_free=2**62).problems

    assert f"the disk of {path} has only" in problem
    assert "free some space" in problem


def test_reading_waits_for_no_writer(store, path):
    """While another process writes, whoever looks or polls is neither held out nor in the way."""
    report(store, "a")
    impatient = SqliteStore(path, busy_timeout=0)

    with store.transaction() as transaction:
        transaction.enqueue(an_event(a_task("b")), ["log"], NOW)
        assert 1 == impatient.pending()
        assert NOW == impatient.next_due(["log"], NOW)
        assert [1] == [each.count for each in impatient.waiting()]
        assert [] == list(impatient.dead_letters())

    assert 2 == impatient.pending()
    impatient.close()


def test_short_lived_processes_keep_to_the_bounds(path):
    """Each process looks at the bounds with its first event, however few it adds."""
    for number in range(6):
        store = SqliteStore(path, Bounds(events=500))
        for more in range(100):
            report(store, f"t{number}-{more}")
        store.close()

    store = SqliteStore(path, Bounds(events=100))
    report(store, "last")

    assert 100 == store.pending()
    assert 600 - 99 == sum(each.events for each in store.drops())
    store.close()


@pytest.mark.parametrize(
    "query",
    [
        *("line", "due", "lease", "touched", "done", "retry", "bury", "forget_events", "advance"),
        *("holders", "renew_rows", "release_rows", "next_due", "due_group", "group_rows"),
        *("lose_rows", "lose_groups", "deaths", "suspect"),
        *("group_size", "bury_grouped", "attempts", "between_attempts", "history_of_job", "tally"),
    ],
)
def test_work_does_not_grow_with_what_waits(store, query):
    """What reporters and drainers ask is found by an index, none of which holds all rows."""
    sql = store._sql[query]
    with store._database.reading() as cursor:
        plan = cursor.execute(f"EXPLAIN QUERY PLAN {sql}", [1] * sql.count("?")).fetchall()
    steps = [row[3] for row in plan]

    scans = [step for step in steps if re.match("SCAN(?!.*(json_each|given|CONSTANT ROW))", step)]
    searches = [step for step in steps if step.endswith("outbox_ready (plugin=?)")]
    assert [] == [step for step in scans if not step.endswith("outbox_leased")] + searches


def modes(path):
    """The permissions of a store's files, by what comes after its name."""
    return {
        file.name.removeprefix(path.name): stat.S_IMODE(file.stat().st_mode)
        for file in path.parent.iterdir()
    }


def test_a_new_file_is_its_owners_alone(path):
    """Whatever the umask says, nobody else reads what tasks say of themselves."""
    before = os.umask(0o022)
    try:
        with closing(open_store(path)) as store:
            report(store, "a")
            assert {"": 0o600, "-wal": 0o600, "-shm": 0o600} == modes(path)
    finally:
        os.umask(before)


def test_a_file_that_is_there_keeps_its_mode(path):
    """Who made the file beforehand has said who may read it."""
    path.touch()
    path.chmod(0o640)

    with closing(open_store(path)) as store:
        report(store, "a")
        assert {"": 0o640, "-wal": 0o640, "-shm": 0o640} == modes(path)


def test_no_statement_names_its_values(path):
    """Python 3.12.0 to 3.12.3 warns where a sequence of values meets a placeholder with a name."""
    store = SqliteStore(path)

    named = re.compile(r"[?:@$]\w")
    found = [name for name, text in store._database.sql.items() if named.search(text)]
    store.close()

    assert [] == found
