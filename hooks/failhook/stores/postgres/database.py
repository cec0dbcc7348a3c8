"""One schema in a PostgreSQL database, and the transactions of this process on it."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator
from datetime import datetime
from typing import Final, cast

from psycopg import Error
from psycopg.errors import InvalidSchemaName, UndefinedTable

from failhook.errors import StoreError
from failhook.stores.postgres.connections import Connections
from failhook.stores.postgres.cursor import Cursor
from failhook.stores.postgres.health import examined
from failhook.stores.postgres.refusals import refused
from failhook.stores.postgres.schema import in_schema, lock_number, prepare
from failhook.stores.postgres.url import Url
from failhook.stores.records import to_json
from failhook.stores.session import Session
from failhook.stores.sql import database as port
from failhook.stores.sql.queries import migrations, queries

_PACKAGE: Final = "failhook.stores.postgres"

_MOST_FREE: Final = 1_000
"""Tasks that one transaction may hold where it need not: a server's table of locks is small."""

_IDLE: Final = 60_000
"""Milliseconds until the server ends a transaction whose process is frozen or out of reach."""


class Database:
    """Gives out transactions, each on a connection of its own, to threads and forked children.

    Raises:
        StoreError: the server cannot be reached, or what it holds is no store.
    """

    def __init__(self, url: Url, *, migrate: bool = True) -> None:
        self.url = url
        self.where = url.where
        self.sql = {name: in_schema(text, url.schema) for name, text in queries(_PACKAGE).items()}
        steps = migrations(_PACKAGE)
        self.connections = Connections(
            url, lambda connection: prepare(connection, url, steps, migrate=migrate)
        )
        # READ COMMITTED, whatever the server's default is: each statement sees what was committed
        # before it began. So what is read after a lock was got is what its last holder left, which
        # is all that ledger and outbox need. The settings end with the transaction, since a pooler
        # may hand the session to somebody else then.
        self._begin = (
            "BEGIN ISOLATION LEVEL READ COMMITTED; "
            f"SET LOCAL lock_timeout = {int(url.lock_timeout * 1000)}; "
            f"SET LOCAL statement_timeout = {int(url.statement_timeout * 1000)}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {_IDLE}"
        )
        with self.reading():
            pass  # a connection was made, and the schema looked at

    def transaction(self) -> Session[Cursor]:
        """Begin to write; the first statement begins the transaction."""
        return Session(self._steps(self._begin))

    def reading(self) -> Session[Cursor]:
        """Begin to read: each statement sees what is committed when it begins."""
        return Session(self._steps(""))

    def _steps(self, begin: str) -> Generator[Cursor]:
        """Commit; roll back when the block raised or the commit fails.

        A commit whose answer is lost may have happened. To try again is safe then, since nothing
        counts twice: not a report of the same attempt, an event that is there, a row that is gone.
        """
        pid, cursor, committing = os.getpid(), None, False
        connections = self.connections
        thread = connections.check_free()
        try:
            cursor = Cursor(connections, begin)
            yield cursor
            if pid == os.getpid():
                committing = True
                cursor.end(commit=True)
        except BaseException as error:
            if pid != os.getpid():
                raise self._forked() from error
            if cursor is not None:
                cursor.end(commit=False, whole=isinstance(error, (Error, StoreError)))
            if isinstance(error, (UndefinedTable, InvalidSchemaName)):
                self.close()  # a new connection makes what is not there
            if isinstance(error, Error):
                raise refused(self.url, error, committing=committing) from error
            raise
        finally:
            if pid == os.getpid():
                connections.busy.pop(thread, None)
        if pid != os.getpid():
            raise self._forked()

    def _forked(self) -> StoreError:
        return StoreError(
            f"store {self.where}: this process was forked in the middle of a transaction, which is "
            "its parent's to end; fork between transactions"
        )

    def insert(self, cursor: port.Cursor, sql: str, values: port.Values, /) -> int:
        (identity,) = cursor.execute(sql, values).fetchone()
        return int(identity)

    def hold(self, cursor: port.Cursor, keys: Collection[str], /) -> None:
        ours = cast("Cursor", cursor)
        numbers = {lock_number(self.url.schema, key) for key in keys} - ours.held
        if len(numbers) == 1:
            (number,) = numbers
            ours.begin(f"SELECT pg_advisory_xact_lock({number})")
        elif numbers:
            ours.execute(
                "SELECT pg_advisory_xact_lock(value::bigint) "
                "FROM json_array_elements_text($1::json)",
                (to_json(sorted(numbers)),),
            )
        ours.held |= numbers

    def hold_free(self, cursor: port.Cursor, keys: Collection[str], /) -> Collection[str]:
        """Hold those of these tasks that nobody else holds just now, and return them.

        One transaction at a time does so, and for a limited number of tasks. To another one none
        is free, not even what it holds: whoever drops waits for nobody who drops.
        """
        ours = cast("Cursor", cursor)
        numbers = {lock_number(self.url.schema, key): key for key in keys}
        wanted = sorted(numbers.keys() - ours.held)[: max(0, _MOST_FREE - len(ours.held))]
        (alone,) = ours.execute(
            "SELECT pg_try_advisory_xact_lock($1)", (lock_number(self.url.schema, "hold_free"),)
        ).fetchone()
        if not alone:
            return ()
        free = ours.execute(
            "SELECT value::bigint FROM json_array_elements_text($1::json) "
            "WHERE pg_try_advisory_xact_lock(value::bigint)",
            (to_json(wanted),),
        ).fetchall()
        ours.held.update(number for (number,) in free)
        return {key for number, key in numbers.items() if number in ours.held}

    def health(self, now: datetime, /) -> port.Health:
        with self.reading() as cursor:
            return examined(cursor, self.url.schema, now)

    def close(self) -> None:
        """Close what no transaction uses; the next use connects anew."""
        self.connections.close()
