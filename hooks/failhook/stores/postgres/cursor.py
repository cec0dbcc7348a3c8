"""What runs the statements of one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, Self

from psycopg import DataError, Error, pq
from psycopg.errors import InFailedSqlTransaction

from failhook.stores.postgres.connections import Connections
from failhook.stores.postgres.refusals import is_gone
from failhook.stores.records import to_json
from failhook.stores.sql.database import Values
from failhook.text import clean

_IDLE: Final = pq.TransactionStatus.IDLE
_GOING: Final = pq.TransactionStatus.INTRANS
_FAILED: Final = pq.TransactionStatus.INERROR


class Cursor:
    """Runs statements; the first one begins the transaction.

    Where a connection that was kept turns out to be dead then, nothing has happened yet, and a new
    one takes its place.

    Attributes:
        held: the numbers of the tasks that this transaction holds.
    """

    __slots__ = ("_alive", "_begin", "_connection", "_connections", "_cursor", "held")

    def __init__(self, connections: Connections, begin: str) -> None:
        self._connections = connections
        self._connection, self._alive = connections.take()
        self._cursor = self._connection.cursor()
        self._begin = begin
        self.held: set[int] = set()

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def begin(self, also: str = "") -> None:
        """Begin the transaction, and run a statement without values in the same breath."""
        begin, self._begin = self._begin, ""
        self._run("; ".join(filter(None, (begin, also))), None)

    def execute(self, sql: str, values: Values = (), /) -> Self:
        if self._begin:
            self.begin()
        try:
            self._run(sql, values)
        except UnicodeEncodeError:
            self._run(sql, _cleaned(values))
        except DataError as error:
            if error.sqlstate is not None:
                raise
            self._run(sql, _cleaned(values))  # a NUL, of which the server has not heard yet
        return self

    def executemany(self, sql: str, values: Iterable[Values], /) -> None:
        """Run a statement once, with all rows as one JSON array of arrays."""
        self.execute(sql, (to_json([_cleaned(row) for row in values]),))

    def fetchone(self) -> Any:
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()

    def end(self, *, commit: bool, whole: bool = True) -> None:
        """Commit or roll back, and let go of the connection; a second time changes nothing.

        Args:
            commit: whether to commit.
            whole: False where a statement may have been cut off by what a signal's handler raised.

        Raises:
            psycopg.Error: it is not committed, or that cannot be known.
        """
        if not self._connections.mine(self._connection):
            return
        try:
            status = self._connection.pgconn.transaction_status
            if not commit:
                if status in (_GOING, _FAILED):
                    with suppress(Error):  # what has lost its connection is rolled back anyway
                        self._cursor.execute("ROLLBACK", prepare=False)
            elif status == _GOING:
                self._cursor.execute("COMMIT", prepare=False)
            elif status != _IDLE:
                raise InFailedSqlTransaction("one of its statements failed before")
        finally:
            self._connections.give_back(self._connection, whole=whole)

    def _run(self, sql: str, values: Values | None) -> None:
        try:
            self._cursor.execute(sql.encode(), values)
        except Error as error:
            if self._alive or not is_gone(error):
                raise
            self._connection = self._connections.renew(self._connection)
            self._cursor = self._connection.cursor()
            self._cursor.execute(sql.encode(), values)
        finally:
            self._alive = True


def _cleaned(values: Values) -> Values:
    return [clean(each) if isinstance(each, str) else each for each in values]
