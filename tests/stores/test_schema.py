"""A file that an older version wrote opens, and a migration happens whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from failhook.stores.sql.queries import migrations
from failhook.stores.sqlite import SqliteStore
from failhook.stores.sqlite.schema import PACKAGE, prepare
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
    with store.transaction() as transaction:
        assert an_account(task) == transaction.account(task.key)
        assert [a_failed_attempt(task)] == list(transaction.attempts(task.key))
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


LATER = {
    2: "CREATE TABLE more (value); -- a comment; with a semicolon\nCREATE TABLE yet_more (value);"
}


def test_an_older_schema_is_migrated_step_by_step(first_version):
    """Only the steps that a file lacks are taken, in order, and its version says so."""
    connection = sqlite3.connect(first_version, isolation_level=None)

    prepare(
        connection, "file", {**migrations(PACKAGE), **LATER, 3: "ALTER TABLE more ADD COLUMN b;"}
    )

    assert (3,) == connection.execute("PRAGMA user_version").fetchone()
    assert [] == connection.execute("SELECT value, b FROM more").fetchall()
    assert (1,) == connection.execute("SELECT count(*) FROM attempts").fetchone()
    connection.close()


def test_a_migration_that_fails_changes_nothing(first_version):
    """When one step fails, the file stays at the version it had, and opens as before."""
    connection = sqlite3.connect(first_version, isolation_level=None)

    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        prepare(
            connection,
            "file",
            {**migrations(PACKAGE), **LATER, 3: "INSERT INTO nowhere VALUES (1);"},
        )

    assert (1,) == connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    SqliteStore(first_version).close()
