"""A store in a PostgreSQL database, for any number of machines."""

from __future__ import annotations

from failhook.outbox.port import Bounds
from failhook.stores.postgres.database import Database
from failhook.stores.postgres.url import read_url
from failhook.stores.sql.store import SqlStore


class PostgresStore(SqlStore):
    """Ledger, outbox and plugin state in one schema of a PostgreSQL database.

    Threads, processes, forked children and other machines may use it at the same time. What was
    committed survives whatever the server's own settings let it survive.

    Args:
        where: ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE``, as libpq takes it, also with its
            parameters. Settings of ours are ``schema`` (whose tables are ours, ``failhook``; it is
            created where it does not exist), ``connections`` (of one process at once, 4),
            ``connect_timeout`` (seconds for each address, 5), ``lock_timeout`` (seconds to wait for
            another transaction, 10), ``statement_timeout`` (seconds, 15), and ``prepare``
            (``off`` for poolers that do not keep prepared statements).
        bounds: how much may wait for one plugin; the default of `Bounds` unless given.
        migrate: whether to make the schema, or bring an older one up to date.

    Raises:
        StoreError: the server cannot be reached, or it holds no store that this version can use.
    """

    def __init__(self, where: str, bounds: Bounds | None = None, *, migrate: bool = True) -> None:
        super().__init__(Database(read_url(where), migrate=migrate), bounds)
