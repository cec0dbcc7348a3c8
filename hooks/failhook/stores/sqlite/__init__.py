"""A store in one SQLite file, for any number of processes of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from sqlite3 import Cursor
from types import TracebackType
from typing import Self

from failhook.event import FailureEvent
from failhook.gate.ledger import Account, Attempt
from failhook.stores.records import Texts, to_micros
from failhook.stores.rows import Columns, account_from, account_row, attempt_from, attempt_row
from failhook.stores.sqlite.database import Database
from failhook.stores.sqlite.outbox import SqliteOutbox
from failhook.text import clean


class SqliteStore(SqliteOutbox):
    """Ledger, outbox and plugin state in one SQLite file in WAL mode.

    Threads, processes and forked children may use it at the same time. The file must be on a local
    disk: SQLite's locks do not hold on network file systems.

    Args:
        path: the file; it is created where it does not exist.
        synchronous: what a commit survives. ``NORMAL``: the death of any process, at any moment,
            loses nothing; a power cut or a crash of the system may lose the commits of the last
            moments, and never spoils the file. ``FULL``: these survive as well; each commit waits
            for the disk.
        busy_timeout: seconds to wait for another process that is writing.

    Raises:
        StoreError: the file cannot be opened, or is not a store that this version can use.
    """

    def __init__(
        self, path: Path, *, synchronous: str = "NORMAL", busy_timeout: float = 10.0
    ) -> None:
        super().__init__(Database(path, synchronous=synchronous, busy_timeout=busy_timeout))
        self._texts = Texts()

    def transaction(self) -> SqliteTransaction:
        return SqliteTransaction(self._database, self._texts)

    def get_state(self, plugin: str, key: str) -> str | None:
        with self._database as cursor:
            row = cursor.execute(self._sql["get_state"], (plugin, key)).fetchone()
        return None if row is None else row[0]

    def put_state(self, plugin: str, key: str, value: str | None) -> None:
        with self._database as cursor:
            if value is None:
                cursor.execute(self._sql["forget_state"], (plugin, key))
            else:
                cursor.execute(self._sql["put_state"], (plugin, key, value))

    def close(self) -> None:
        self._database.close()


class SqliteTransaction:
    """Ledger and outbox in one transaction of the database, which holds out every other writer."""

    __slots__ = ("_cursor", "_database", "_fresh", "_sql", "_texts")

    _cursor: Cursor

    def __init__(self, database: Database, texts: Texts) -> None:
        self._database = database
        self._sql = database.sql
        self._texts = texts
        self._fresh: set[str] = set()

    def __enter__(self) -> Self:
        self._cursor = self._database.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.__exit__(kind, error, traceback)

    def account(self, key: str) -> Account | None:
        row = self._cursor.execute(self._sql["account"], (key,)).fetchone()
        if row is None:
            self._fresh.add(key)  # a task without an account has no events either
            return None
        return account_from(row, self._texts)

    def attempt(self, attempt_key: str) -> Attempt | None:
        key, _, number = attempt_key.rpartition("/")
        row = self._cursor.execute(self._sql["attempt"], (key, number)).fetchone()
        return None if row is None else attempt_from(row, self._texts)

    def attempts(self, key: str) -> Sequence[Attempt]:
        rows = self._cursor.execute(self._sql["attempts"], (key,)).fetchall()
        return [attempt_from(row, self._texts) for row in rows]

    def open_attempts(self, host: str | None = None) -> Sequence[Attempt]:
        rows = self._cursor.execute(self._sql["open_attempts"], (host, host)).fetchall()
        return [attempt_from(row, self._texts) for row in rows]

    def held_accounts(self) -> Sequence[Account]:
        rows = self._cursor.execute(self._sql["held_accounts"]).fetchall()
        return [account_from(row, self._texts) for row in rows]

    def save_account(self, account: Account) -> None:
        self._save("save_account", account_row(account, self._texts))

    def save_attempt(self, attempt: Attempt) -> None:
        self._save("save_attempt", attempt_row(attempt, self._texts))

    def _save(self, query: str, columns: Columns) -> None:
        try:
            self._cursor.execute(self._sql[query], columns)
        except UnicodeEncodeError:
            valid = [clean(value) if isinstance(value, str) else value for value in columns]
            self._cursor.execute(self._sql[query], valid)

    def _line(self, task_key: str) -> Sequence[tuple[str, str, int | None, int, str]]:
        """Return what waits for plugins of this task; it holds newer events back."""
        if task_key in self._fresh:
            self._fresh.remove(task_key)
            return ()
        return self._cursor.execute(self._sql["line"], (task_key,)).fetchall()

    def enqueue(self, event: FailureEvent, plugins: Sequence[str], due: datetime) -> None:
        task_key = event.task.key
        behind: set[str] = set()
        present: set[str] = set()
        row: int | None = None
        for plugin, group_key, died_at, event_row, event_id in self._line(task_key):
            if event_id == event.event_id:
                row = event_row
                present.add(plugin)
            if died_at is None and not group_key:
                behind.add(plugin)
        absent = [plugin for plugin in dict.fromkeys(plugins) if plugin not in present]
        if not absent:
            return
        if row is None:
            body = self._texts.event(event)
            row = self._cursor.execute(
                self._sql["add_event"], (event.event_id, task_key, body)
            ).lastrowid
        due_at = to_micros(due)
        self._cursor.executemany(
            self._sql["add_row"],
            [(row, task_key, plugin, plugin not in behind, due_at) for plugin in absent],
        )
