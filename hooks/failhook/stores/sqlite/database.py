"""One SQLite file and the one connection that this process has to it."""

from __future__ import annotations

import ctypes
import os
import sqlite3
from collections.abc import Collection, Generator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Final, cast
from weakref import finalize

from failhook.errors import StoreError
from failhook.stores.forks import watch_forks
from failhook.stores.session import Session
from failhook.stores.sql.database import Cursor, Health, Values
from failhook.stores.sql.queries import migrations
from failhook.stores.sqlite.health import examined
from failhook.stores.sqlite.schema import PACKAGE, prepare
from failhook.stores.sqlite.statements import statements

_SYNCHRONOUS: Final = ("NORMAL", "FULL")

_MAX_TIMEOUT: Final = 3600
_WAYS_OUT: Final = {
    sqlite3.SQLITE_BUSY: "another process kept it locked for longer than the busy timeout",
    sqlite3.SQLITE_LOCKED: "another process kept it locked for longer than the busy timeout",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or name another file",
    sqlite3.SQLITE_FULL: "free some space on its disk",
    sqlite3.SQLITE_IOERR: "check the disk and its free space",
    sqlite3.SQLITE_CANTOPEN: "make the file and its folder readable and writable",
    sqlite3.SQLITE_PERM: "make the file and its folder writable, or name another file",
    sqlite3.SQLITE_NOTADB: "this is no SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; move it away and restore a copy, or begin anew",
}


class Database:
    """A guarded connection: every thread may use it, one at a time, and no forked child does.

    SQLite has one writer at a time anyway, and threads that wait for a lock of this process go on
    at once where those that wait for the file's lock would poll it.

    Args:
        path: the file; it is created where it does not exist.
        synchronous: ``NORMAL`` survives the death of any process; a power cut may take the last
            commits, but never spoils the file. ``FULL`` survives power cuts too, and waits for the
            disk at each commit.
        busy_timeout: seconds to wait for another process before giving up.
        migrate: whether to make the schema, or bring an older one up to date.

    Raises:
        StoreError: the file cannot be opened, or is not a store that this version can use.
    """

    def __init__(
        self, path: Path, *, synchronous: str, busy_timeout: float, migrate: bool = True
    ) -> None:
        if synchronous not in _SYNCHRONOUS:
            msg = f"store {path}: synchronous is {synchronous!r}; it is NORMAL or FULL"
            raise StoreError(msg)
        if not 0 <= busy_timeout <= _MAX_TIMEOUT:
            msg = f"store {path}: busy_timeout is {busy_timeout}; it is 0 to {_MAX_TIMEOUT} seconds"
            raise StoreError(msg)
        self.path = str(path.absolute())
        self.where = self.path
        self.sql: Mapping[str, str] = statements(PACKAGE)
        self._migrations = migrations(PACKAGE)
        self._migrate = migrate
        self._synchronous = synchronous
        self._busy_timeout = busy_timeout
        self.lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._cursor: sqlite3.Cursor | None = None
        self._live = False
        self._file = (0, 0)
        self._spoilt = ""
        self._pid = os.getpid()
        watch_forks(self)
        with self.transaction():
            pass

    def transaction(self) -> Session[sqlite3.Cursor]:
        """Begin a transaction that holds out every other writer, of whatever task."""
        return Session(self._steps("BEGIN IMMEDIATE"))

    def reading(self) -> Session[sqlite3.Cursor]:
        return Session(self._steps("BEGIN"))

    def _steps(self, statement: str) -> Generator[sqlite3.Cursor]:
        """Commit; roll back when the block raised or the commit fails."""
        with self.lock:
            try:
                cursor = self._usable()
                self._live = True
                try:
                    cursor.execute(statement)
                    yield cursor
                    if self._cursor is not cursor:
                        msg = f"store {self.path}: it was closed in the middle of a transaction"
                        raise StoreError(self._spoilt or msg)
                    cursor.execute("COMMIT")
                finally:
                    self._live = False
                    if self._cursor is cursor and cursor.connection.in_transaction:
                        cursor.execute("ROLLBACK")
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise self._said(error) from error

    def insert(self, cursor: Cursor, sql: str, values: Values, /) -> int:
        cursor.execute(sql, values)
        return cast("sqlite3.Cursor", cursor).lastrowid or 0

    def hold(self, _cursor: Cursor, _keys: Collection[str], /) -> None:
        """Do nothing: whoever writes holds the whole file."""

    def hold_free(self, _cursor: Cursor, keys: Collection[str], /) -> Collection[str]:
        return keys

    def health(self, _now: datetime, /) -> Health:
        try:
            return examined(Path(self.path))
        except sqlite3.Error as error:
            raise self._said(error) from error

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self.lock:
            if self._connection is not None:
                self._forgotten()
            self._connection = self._cursor = None

    def _usable(self) -> sqlite3.Cursor:
        if self._pid != os.getpid():
            self.after_fork_in_child()
        if self._live:
            msg = f"store {self.path}: this thread is in a transaction already"
            raise StoreError(msg)
        if self._spoilt:
            raise StoreError(self._spoilt)
        if self._cursor is not None and self._cursor.connection.in_transaction:
            self.close()  # it could not be rolled back
        cursor = self._cursor
        if cursor is None:
            return self._open()
        if self._file != self._file_now():
            self.close()
            msg = (
                f"store {self.path}: the file was deleted or replaced while it was in use, and "
                "what it held is gone; the next use opens what is there then"
            )
            raise StoreError(msg)
        return cursor

    def _file_now(self) -> tuple[int, int]:
        try:
            status = os.stat(self.path)  # noqa: PTH116 - each failure waits for it; Path is slower
        except OSError:
            return (0, 0)
        return status.st_dev, status.st_ino

    def _open(self) -> sqlite3.Cursor:
        if self._migrate:
            self._make()
        connection = sqlite3.connect(
            self.path, timeout=self._busy_timeout, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            prepare(connection, self.path, self._migrations, migrate=self._migrate)
        except BaseException:
            connection.close()
            raise
        self._file = self._file_now()
        self._connection = connection
        # Python 3.13 warns of a connection that is collected open, as that of a forgotten store is.
        self._forgotten = finalize(self, connection.close)
        self._forgotten.atexit = False
        self._cursor = connection.cursor()
        return self._cursor

    def _make(self) -> None:
        """Make a new file which its owner alone may read: what tasks say of themselves is in it.

        SQLite gives the files beside it the same permissions.
        """
        with suppress(OSError):  # it is there, or SQLite will say what is wrong
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def _said(self, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
        damaged = isinstance(error, UnicodeDecodeError)  # SQLite names what is wrong with its bytes
        code = sqlite3.SQLITE_CORRUPT if damaged else getattr(error, "sqlite_errorcode", 0) & 0xFF
        line = " ".join(str(error).split())
        way_out = self._unopened() if code == sqlite3.SQLITE_CANTOPEN else _WAYS_OUT.get(code)
        return StoreError(f"store {self.path}: {line}" + (f"; {way_out}" if way_out else ""))

    def _unopened(self) -> str:
        """Say what keeps the file from being opened."""
        path = Path(self.path)
        if path.is_dir():
            return "this is a folder; name a file in it"
        if not path.parent.exists():
            return f"there is no folder {path.parent}; make it, or name another file"
        if not path.parent.is_dir():
            return f"{path.parent} is no folder; name another file"
        return _WAYS_OUT[sqlite3.SQLITE_CANTOPEN]

    def before_fork(self) -> None:
        """Close, so that the child inherits no lock; either side opens anew when it needs to."""
        if self._connection is not None and not self._connection.in_transaction:
            self.close()

    def after_fork_in_child(self) -> None:
        """Leave a connection alone that the parent could not close in time.

        Even closing it here could harm the parent's work (sqlite.org/howtocorrupt.html, 2.6), so
        nothing ever frees it. And if it was in a transaction, SQLite would wait in this process for
        ever for that to end.
        """
        if self._connection is not None:
            self._forgotten.detach()
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
            if self._connection.in_transaction:
                self._spoilt = (
                    f"store {self.path}: this process was forked in the middle of a transaction, "
                    "and cannot use the file; fork between transactions"
                )
        self._connection = self._cursor = None
        self._live = False
        self._pid = os.getpid()
