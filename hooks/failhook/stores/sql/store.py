"""The store in a database: ledger, outbox and plugin state."""

from __future__ import annotations

from failhook.outbox.port import Bounds
from failhook.stores.records import Texts
from failhook.stores.sql.bounds import Headroom
from failhook.stores.sql.database import Database
from failhook.stores.sql.reading import SqlReading
from failhook.stores.sql.transaction import SqlTransaction


class SqlStore(SqlReading):
    """A store in a database of any dialect.

    Args:
        database: where, and in which dialect.
        bounds: how much may wait for one plugin; the default of `Bounds` unless given.
    """

    def __init__(self, database: Database, bounds: Bounds | None = None) -> None:
        super().__init__(database)
        self._texts = Texts()
        self._headroom = Headroom(bounds or Bounds())

    def transaction(self) -> SqlTransaction:
        return SqlTransaction(self._database, self._texts, self._headroom)

    def get_state(self, plugin: str, key: str) -> str | None:
        with self._database.reading() as cursor:
            row = cursor.execute(self._sql["get_state"], (plugin, key)).fetchone()
        return None if row is None else row[0]

    def put_state(self, plugin: str, key: str, value: str | None) -> None:
        with self._database.transaction() as cursor:
            if value is None:
                cursor.execute(self._sql["forget_state"], (plugin, key))
            else:
                cursor.execute(self._sql["put_state"], (plugin, key, value))

    def close(self) -> None:
        self._database.close()
