"""The schema of the file: made, checked, and brought up to date by numbered migrations."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from failhook.errors import StoreError
from failhook.stores.sql.queries import left_alone

APPLICATION_ID: Final = 0x66686F6B
"""Marks the file as ours (SQLite's PRAGMA application_id): "fhok"."""

_OLDEST: Final = (3, 24, 0)
"""The first SQLite with ``ON CONFLICT DO UPDATE``."""

PACKAGE: Final = "failhook.stores.sqlite"
"""Where the statements and the migrations are."""


def prepare(
    connection: sqlite3.Connection, path: str, steps: Mapping[int, str], *, migrate: bool = True
) -> None:
    """Make the schema in an empty file, or migrate an older one; each step happens whole or not.

    Raises:
        StoreError: the file is something else, a later version wrote it, or it would have to be
            changed and `migrate` is False; or the SQLite of this Python is too old.
        sqlite3.Error: it cannot be read or written.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        needed = ".".join(map(str, _OLDEST))
        msg = (
            f"store {path}: this Python has SQLite {sqlite3.sqlite_version}; {needed} or later is "
            "needed: use another Python, or another store"
        )
        raise StoreError(msg)
    newest = max(steps)
    found = _version(connection, path, newest)
    if found == newest:
        return
    if not migrate:
        raise StoreError(left_alone(path, found, newest))
    if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        msg = f"store {path}: this file system cannot hold an SQLite write-ahead log"
        raise StoreError(msg)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path, newest)
        for number, script in steps.items():
            if number > version:
                for statement in _statements(script):
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: str, newest: int) -> int:
    """Return the version of the schema in the file, 0 for an empty one."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID:
        if version > newest:
            msg = (
                f"store {path}: a later failhook wrote it (schema {version}, this version reads "
                f"{newest}); upgrade failhook, or name another file"
            )
            raise StoreError(msg)
        return int(version)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application or version or tables:
        msg = f"store {path}: this is the SQLite database of something else; name another file"
        raise StoreError(msg)
    return 0


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
