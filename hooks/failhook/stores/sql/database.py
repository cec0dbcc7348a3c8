"""What a database must be able to do to hold a store. Its statements are in its own dialect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from failhook.stores.session import Session

Values = Sequence[str | int | float | None]


class Cursor(Protocol):
    """Runs statements in one transaction; the usual four methods and a count (PEP 249)."""

    @property
    def rowcount(self) -> int:
        """How many rows the last statement changed."""
        ...

    def execute(self, sql: str, values: Values = ..., /) -> Cursor: ...
    def executemany(self, sql: str, values: Iterable[Values], /) -> object: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Health:
    """What a database says of itself.

    Attributes:
        schema: the version of its schema.
        bytes: its size; None where it cannot be told.
        problems: what is wrong with it, a line each, with the way out.
    """

    schema: int
    bytes: int | None
    problems: Sequence[str]


class Database(Protocol):
    """A database with the schema of a store.

    Every error of the driver comes out of its context managers as a `StoreError`. Lists go into
    statements as the text of a JSON array.
    """

    @property
    def where(self) -> str:
        """As `open_store` takes it, without a password."""
        ...

    @property
    def sql(self) -> Mapping[str, str]:
        """The statements by name; which values each takes is said in SQLite's ``queries.sql``."""
        ...

    def transaction(self) -> Session[Any]:
        """Begin to write: it commits when the block ends and rolls back when it raises."""
        ...

    def reading(self) -> Session[Any]:
        """Begin to read only; nobody who writes is held out, or waits."""
        ...

    def insert(self, cursor: Cursor, sql: str, values: Values, /) -> int:
        """Add one row and return its ``id``."""
        ...

    def hold(self, cursor: Cursor, keys: Collection[str], /) -> None:
        """Hold out every other writer of these tasks until the transaction ends.

        Whoever holds several takes them in the order of their text, so that no two wait for each
        other. A database that has one writer at a time has nothing to do.
        """
        ...

    def hold_free(self, cursor: Cursor, keys: Collection[str], /) -> Collection[str]:
        """Hold those of these tasks that nobody else holds just now, and return them."""
        ...

    def health(self, now: datetime, /) -> Health:
        """Look for damage, a full disk and the like; it may take seconds."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
