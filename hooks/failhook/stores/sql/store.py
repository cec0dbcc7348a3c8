"""The store in a database: ledger, outbox and plugin state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from failhook.outbox.port import Bounds
from failhook.stores.records import Texts, to_json
from failhook.stores.sql.bounds import Headroom
from failhook.stores.sql.database import Database
from failhook.stores.sql.reading import SqlReading
from failhook.stores.sql.transaction import SqlTransaction
from failhook.text import clean

_LAST: Final = "\U0010ffff"
"""No key goes on like this: it is no character."""


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

    # Values are kept as JSON: any text comes back as it was, also where no database takes it.

    def get_state(self, plugin: str, key: str) -> str | None:
        with self._database.reading() as cursor:
            row = cursor.execute(self._sql["get_state"], (plugin, clean(key))).fetchone()
        return None if row is None else str(json.loads(row[0]))

    def state_items(self, plugin: str, prefix: str) -> Mapping[str, str]:
        first = clean(prefix)
        values = (plugin, first, f"{first}{_LAST}")
        with self._database.reading() as cursor:
            rows = cursor.execute(self._sql["state_items"], values).fetchall()
        return {key: str(json.loads(value)) for key, value in rows}

    def put_state(self, plugin: str, key: str, value: str | None) -> None:
        with self._database.transaction() as cursor:
            if value is None:
                cursor.execute(self._sql["forget_state"], (plugin, clean(key)))
            else:
                values = (plugin, clean(key), to_json(value))
                cursor.execute(self._sql["put_state"], values)

    def close(self) -> None:
        self._database.close()
