"""Where ledger, outbox and plugin state are kept: in memory or in one SQLite file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from failhook.errors import StoreError

if TYPE_CHECKING:
    from failhook.outbox.port import Store

ALLOWED: Final = "memory, a file name, or sqlite:///path/to/file"


def open_store(where: str | Path) -> Store:
    """Open the store that a setting names, and create it where it does not exist yet.

    Args:
        where: ``memory``; or a file, as a path or as ``sqlite:///relative`` or
            ``sqlite:////absolute``, which becomes an SQLite store.

    Raises:
        StoreError: the scheme is not known, or the file is not a store that this version can use.
    """
    if isinstance(where, Path):
        return _sqlite(where)
    scheme, separator, rest = where.partition(":")
    if where == "memory" or (scheme == "memory" and separator and not rest.strip("/")):
        from failhook.stores.memory import MemoryStore

        return MemoryStore()
    if scheme.startswith("postgres"):
        msg = f"store {_shown(where)}: this version has no PostgreSQL store; use {ALLOWED}"
        raise StoreError(msg)
    if scheme == "sqlite" and separator:
        path = rest.removeprefix("///")
        if not path or path == rest:
            msg = f"store {where!r}: name the file as sqlite:///relative or sqlite:////absolute"
            raise StoreError(msg)
        return _sqlite(Path(unquote(path)))
    if not where or rest.startswith("//") or scheme == "memory":
        msg = f"store {_shown(where)}: it must be {ALLOWED}"
        raise StoreError(msg)
    return _sqlite(Path(where))


def _sqlite(path: Path) -> Store:
    from failhook.stores.sqlite import SqliteStore

    return SqliteStore(path)


def _shown(where: str) -> str:
    """Keep a password out of the message."""
    scheme, _, rest = where.partition("://")
    return f"'{scheme}://...'" if rest else repr(where)
