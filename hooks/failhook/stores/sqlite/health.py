"""What is wrong with the file or its disk."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from failhook.stores.sql.database import Health

_MEBIBYTE: Final = 1024 * 1024
LEAST_FREE: Final = 100 * _MEBIBYTE
"""Bytes; a disk with less is nearly full."""

_MOST_DAMAGE: Final = 3


def examined(path: Path, *, least_free: int = LEAST_FREE) -> Health:
    """Look at every page of the file, on a connection of its own, so that nobody waits.

    Args:
        path: the file.
        least_free: bytes that its disk should have left.

    Raises:
        sqlite3.Error: the file cannot be read at all.
    """
    files = [path, path.with_name(f"{path.name}-wal")]
    size = sum(file.stat().st_size for file in files if file.exists())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA query_only = ON")
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        problems = [*_damage(connection, path), *_space(path, least_free)]
    return Health(schema, size, problems)


def _damage(connection: sqlite3.Connection, path: Path) -> Iterator[str]:
    try:
        found = [row[0] for row in connection.execute(f"PRAGMA quick_check({_MOST_DAMAGE})")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found != ["ok"]:
        told = "; ".join(" ".join(line.split()) for line in found)
        yield f"{path} is damaged ({told}); move it away and restore a copy, or begin anew"


def _space(path: Path, least_free: int) -> Iterator[str]:
    free = shutil.disk_usage(path.parent).free
    if free < least_free:
        yield f"the disk of {path} has only {free // _MEBIBYTE} MiB left; free some space on it"
