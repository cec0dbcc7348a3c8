"""A file that an older version wrote opens, and a migration happens whole or not at all."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from failhook.outbox.port import Bounds
from failhook.stores.sql.queries import migrations
from failhook.stores.sqlite import SqliteStore
from failhook.stores.sqlite.schema import PACKAGE, prepare
from tests.stores.children import output_of, start
from tests.stores.rows import claim, claim_group, names, put
from tests.stores.samples import NOW, a_failed_attempt, a_task, an_account, an_event

FIRST_VERSION = Path(__file__).with_name("first_version.sql")


@pytest.fixture
def first_version(tmp_path):
    """A store as the first version of the schema left it."""
    path = tmp_path / "store.db"
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_VERSION.read_text("utf-8"))
    connection.close()
    return path


def test_what_the_first_version_wrote_is_read_by_this_one(first_version):
    """Every account, attempt and event of the oldest file comes back whole."""
    store = SqliteStore(first_version)

    task = a_task()
    written = a_failed_attempt(task)  # by a version that did not know of PID namespaces
    owner = replace(written.owner, pid_namespace=0)
    written = written._replace(owner=owner, moved_to=None)  # nor of charges that moved
    with store.transaction() as transaction:
        assert an_account(task) == transaction.account(task.key)
        assert [written] == list(transaction.attempts(task.key))
    (delivery,) = store.claim("log", now=NOW, lease=60, limit=9, owner="me")
    assert an_event(task) == delivery.event
    store.close()


def test_a_new_file_has_the_schema_of_a_migrated_one(first_version, tmp_path):
    """It makes no difference to the schema with which version a file began."""

    def schema(path):
        SqliteStore(path).close()
        connection = sqlite3.connect(path)
        rows = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        connection.close()
        return rows

    assert schema(tmp_path / "new.db") == schema(first_version)


def test_what_waited_in_the_first_version_is_dated_sized_and_bounded(first_version):
    """A row of the oldest file counts, is told and gives way as a new one does."""
    store = SqliteStore(first_version, Bounds(events=1))

    (waiting,) = store.waiting()
    assert (1, an_event(a_task()).observed_at) == (waiting.count, waiting.since)
    assert Bounds().bytes > sum(size_in(first_version)) > 500
    put(store, an_event(a_task("new")))

    (dropped,) = store.drops()
    assert (1, 0, {"infra": 1}) == (dropped.events, dropped.final, dropped.by_kind)
    assert ["new"] == names(claim(store))
    store.close()


def opened_after(path, change):
    """Change a file behind everybody's back, and open it."""
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    return SqliteStore(path)


def size_in(path):
    """The sizes of the rows in a file."""
    connection = sqlite3.connect(path)
    sizes = [row[0] for row in connection.execute("SELECT bytes FROM outbox")]
    connection.close()
    return sizes


def test_rows_that_waited_together_in_the_first_version_are_a_group_now(first_version):
    """They come together, at the time that the first of them waited for."""
    store = opened_after(
        first_version, "UPDATE outbox SET group_key = 'g', due_at = 0, owner = 'gone'"
    )

    assert [] == list(claim(store))
    assert ["load"] == names(claim_group(store).rows)
    store.close()


def test_the_state_of_plugins_is_kept(first_version):
    """What a plugin kept in the oldest file is there for it now."""
    store = opened_after(
        first_version, "INSERT INTO plugin_state VALUES ('log', 'k', '\"1\" \u2603')"
    )

    assert '"1" \u2603' == store.get_state("log", "k")
    store.close()


def test_a_poisoned_event_keeps_no_file_from_being_migrated(first_version):
    """What the first version could not read either is told as a row of its own."""
    store = opened_after(first_version, "UPDATE events SET body = substr(body, 1, 50)")

    (row,) = claim(store)
    assert (None, an_event(a_task()).event_id) == (row.event, row.event_id)
    store.close()


def test_processes_that_migrate_at_once_do_it_once(first_version):
    """However many open an old file together, all of them work with it, and nothing is lost."""
    printed = output_of(*(start("drain", first_version, owner) for owner in "abcd"))

    assert ["1"] == [line for lines in printed for line in lines.split()]


NEXT = {
    **{number: script for number, script in migrations(PACKAGE).items() if number < 3},
    3: "CREATE TABLE more (value); -- a comment; with a semicolon\nCREATE TABLE yet_more (value);",
}


def test_an_older_schema_is_migrated_step_by_step(first_version):
    """Only the steps that a file lacks are taken, in order, and its version says so."""
    connection = sqlite3.connect(first_version, isolation_level=None)

    prepare(connection, "file", {**NEXT, 4: "ALTER TABLE more ADD COLUMN b;"})

    assert (4,) == connection.execute("PRAGMA user_version").fetchone()
    assert [] == connection.execute("SELECT value, b FROM more").fetchall()
    assert (1,) == connection.execute("SELECT count(*) FROM attempts").fetchone()
    connection.close()


def test_a_migration_that_fails_changes_nothing(first_version):
    """When one step fails, the file stays at the version it had, and opens as before."""
    connection = sqlite3.connect(first_version, isolation_level=None)

    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        prepare(connection, "file", {**NEXT, 4: "INSERT INTO nowhere VALUES (1);"})

    assert (1,) == connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    SqliteStore(first_version).close()
