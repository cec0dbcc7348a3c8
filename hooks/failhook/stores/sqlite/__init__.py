"""A store in one SQLite file, for any number of processes of one machine."""

from __future__ import annotations

from pathlib import Path

from failhook.outbox.port import Bounds
from failhook.stores.sql.store import SqlStore
from failhook.stores.sqlite.database import Database


class SqliteStore(SqlStore):
    """Ledger, outbox and plugin state in one SQLite file in WAL mode.

    Threads, processes and forked children may use it at the same time. The file must be on a local
    disk: SQLite's locks do not hold on network file systems.

    Args:
        path: the file; it is created where it does not exist.
        bounds: how much may wait for one plugin; the default of `Bounds` unless given.
        synchronous: what a commit survives. ``NORMAL``: the death of any process, at any moment,
            loses nothing; a power cut or a crash of the system may lose the commits of the last
            moments, and never spoils the file. ``FULL``: these survive as well; each commit waits
            for the disk.
        busy_timeout: seconds to wait for another process that is writing.
        migrate: whether to make the schema, or bring an older one up to date.

    Raises:
        StoreError: the file cannot be opened, or is not a store that this version can use.
    """

    def __init__(
        self,
        path: Path,
        bounds: Bounds | None = None,
        *,
        synchronous: str = "NORMAL",
        busy_timeout: float = 10.0,
        migrate: bool = True,
    ) -> None:
        database = Database(
            path, synchronous=synchronous, busy_timeout=busy_timeout, migrate=migrate
        )
        super().__init__(database, bounds)
