"""Ledger and outbox in one transaction of a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from logging import ERROR
from types import TracebackType
from typing import Any, Self, TypeVar

from failhook.errors import StoreError
from failhook.event import FailureEvent
from failhook.gate.ledger import MOST_LAST_FAILURES, Account, Attempt, LastFailure
from failhook.log import say
from failhook.stores.records import Texts, from_micros, to_micros
from failhook.stores.rows import account_from, account_row, attempt_from, attempt_row
from failhook.stores.sql.bounds import Headroom, keep_within
from failhook.stores.sql.database import Cursor, Database
from failhook.stores.sql.read_rows import unreadable

T = TypeVar("T")


class SqlTransaction:
    """One transaction, in which nobody else changes the tasks that it has looked at.

    Args:
        database: where.
        texts: what was last written, as JSON.
        headroom: how much may wait.
    """

    __slots__ = (
        "_cursor",
        "_database",
        "_fresh",
        "_headroom",
        "_held",
        "_session",
        "_sql",
        "_texts",
    )

    _cursor: Cursor

    def __init__(self, database: Database, texts: Texts, headroom: Headroom) -> None:
        self._database = database
        self._session = database.transaction()
        self._sql = database.sql
        self._texts = texts
        self._headroom = headroom
        self._held: set[str] = set()
        self._fresh: set[str] = set()

    def __enter__(self) -> Self:
        try:
            self._cursor = self._session.__enter__()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.__exit__(kind, error, traceback)

    def end(self) -> None:
        """Roll back, unless it is over already."""
        self._session.end()

    def account(self, key: str) -> Account | None:
        self._hold(key)
        row = self._ask("account", key).fetchone()
        if row is None:
            self._fresh.add(key)  # a task without an account has no events either
            return None
        return self._account(row)

    def attempt(self, attempt_key: str) -> Attempt | None:
        key, _, number = attempt_key.rpartition("/")
        if not number.isdecimal():
            return None
        self._hold(key)
        row = self._ask("attempt", key, int(number)).fetchone()
        return None if row is None else self._attempt(row)

    def attempts(self, key: str) -> Sequence[Attempt]:
        self._hold(key)
        return [self._attempt(row) for row in self._ask("attempts", key).fetchall()]

    def open_attempts(self, host: str | None = None) -> Sequence[Attempt]:
        return self._those(self._attempt, self._ask("open_attempts", host).fetchall())

    def held_accounts(self) -> Sequence[Account]:
        return self._those(self._account, self._ask("held_accounts").fetchall())

    def between_attempts(self) -> Sequence[Account]:
        return self._those(self._account, self._ask("between_attempts").fetchall())

    def save_account(self, account: Account) -> None:
        self._hold(account.key)
        self._cursor.execute(self._sql["save_account"], account_row(account, self._texts))

    def save_attempt(self, attempt: Attempt) -> None:
        self._hold(attempt.task.key)
        self._cursor.execute(self._sql["save_attempt"], attempt_row(attempt, self._texts))

    def last_failures(self, job: str) -> Sequence[LastFailure]:
        rows = self._ask("last_failures", job).fetchall()
        return [LastFailure(job, key, from_micros(failed_at)) for key, failed_at in rows]

    def save_last_failure(self, failure: LastFailure) -> None:
        self._ask("save_last_failure", failure.job, failure.key, to_micros(failure.failed_at))
        self._ask("trim_last_failures", failure.job, MOST_LAST_FAILURES)

    def forget_last_failure(self, failure: LastFailure) -> bool:
        at = to_micros(failure.failed_at)
        return self._ask("forget_last_failure", failure.job, failure.key, at).rowcount > 0

    def enqueue(self, event: FailureEvent, plugins: Sequence[str], due: datetime) -> None:
        task_key = event.task.key
        self._hold(task_key)
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
        body = self._texts.event(event)
        if row is None:
            values = (
                *(event.event_id, task_key, body, str(event.failure_details.kind)),
                to_micros(event.observed_at),
            )
            row = self._database.insert(self._cursor, self._sql["add_event"], values)
        due_at, size, final = to_micros(due), len(body), int(event.final)
        self._cursor.executemany(
            self._sql["add_row"],
            [
                (row, task_key, plugin, int(plugin not in behind), due_at, size, final)
                for plugin in absent
            ],
        )
        if self._headroom.used(size):
            keep_within(self._headroom.bounds, self._database, self._cursor)

    def _line(self, task_key: str) -> Sequence[tuple[str, str, int | None, int, str]]:
        """Return what waits for plugins of this task; it holds newer events back."""
        if task_key in self._fresh:
            self._fresh.remove(task_key)
            return ()
        return self._ask("line", task_key).fetchall()

    def _account(self, row: Any) -> Account:
        try:
            return account_from(row, self._texts)
        except Exception as error:
            raise unreadable(self._database.where, f"task {row[0]}", error) from error

    def _attempt(self, row: Any) -> Attempt:
        try:
            return attempt_from(row, self._texts)
        except Exception as error:
            raise unreadable(self._database.where, f"the attempt {row[7]}", error) from error

    def _those(self, read: Callable[[Any], T], rows: Sequence[Any]) -> list[T]:
        """Return the rows that can be read, and say which cannot: one of them blocks no other."""
        found: list[T] = []
        for row in rows:
            try:
                found.append(read(row))
            except StoreError as error:
                say(ERROR, "it is left out: %s", error)
        return found

    def _hold(self, key: str) -> None:
        if key not in self._held:
            self._held.add(key)
            self._database.hold(self._cursor, (key,))

    def _ask(self, query: str, *values: Any) -> Cursor:
        return self._cursor.execute(self._sql[query], values)
