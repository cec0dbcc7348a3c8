"""Where ledger, outbox and plugin state are kept: in memory, an SQLite file or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote

from failhook.errors import StoreError

if TYPE_CHECKING:
    from failhook.outbox.port import Bounds, Store

ALLOWED: Final = (
    "memory, a file name, sqlite:///path/to/file, or postgresql://user:password@host/database"
)


def open_store(where: str | Path, bounds: Bounds | None = None, *, migrate: bool = True) -> Store:
    """Open the store that a setting names, and create it where it does not exist yet.

    Args:
        where: ``memory`` (or ``:memory:``); or a file, as a path or as ``sqlite:///relative`` or
            ``sqlite:////absolute``, which becomes an SQLite store. A URL may end in settings of
            `SqliteStore`: ``?synchronous=FULL&busy_timeout=5``. A URL of PostgreSQL is as libpq
            takes it: ``postgresql://user:password@host:port/database``.
        bounds: how much may wait for one plugin; the store's default unless given.
        migrate: False only looks: no store is made, and one that an older version wrote is refused
            and left as it is, since that version could not use it any more.

    Raises:
        StoreError: the scheme or a setting is not known, the store cannot be reached, or it is not
            one that this version can use.
    """
    if isinstance(where, Path):
        return _sqlite(where, bounds, migrate=migrate)
    scheme, colon, rest = where.partition(":")
    if is_memory(where):
        from failhook.stores.memory import MemoryStore

        return MemoryStore(bounds)
    if scheme == "sqlite" and colon:
        return _sqlite_at(where, rest, bounds, migrate=migrate)
    if scheme in ("postgresql", "postgres") and colon:
        return _postgres(where, bounds, migrate=migrate)
    if not where or rest.startswith("//") or (scheme == "memory" and colon):
        msg = f"store {_shown(where)}: it must be {ALLOWED}"
        raise StoreError(msg)
    return _sqlite(Path(where), bounds, migrate=migrate)


def is_memory(where: str) -> bool:
    """Return whether a setting names a store that ends with its process."""
    scheme, _, rest = where.partition(":")
    return where == ":memory:" or (scheme == "memory" and not rest.strip("/"))


def file_of(where: str) -> Path | None:
    """Return the file that a setting names; None where it names none."""
    if is_memory(where):
        return None
    scheme, _, rest = where.partition(":")
    if scheme == "sqlite" and rest.startswith("///"):
        return Path(unquote(rest.partition("?")[0].removeprefix("///")))
    return None if rest.startswith("//") else Path(where)


def shown(where: str) -> str:
    """Return a setting as it may be shown: a URL of a server without the password in it."""
    scheme, separator, rest = where.partition("://")
    if not scheme.startswith("postgres"):
        return where
    location, question, query = rest.partition("?")
    user, at, place = location.rpartition("@")
    pairs = [pair for pair in query.split("&") if not _is_secret(pair.partition("=")[0])]
    end = question + "&".join(pairs) if pairs else ""
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{place}{end}"


def _is_secret(setting: str) -> bool:
    return any(word in unquote(setting) for word in ("password", "secret", "client_key"))


def _sqlite_at(where: str, rest: str, bounds: Bounds | None, *, migrate: bool) -> Store:
    location, _, query = rest.partition("?")
    path = location.removeprefix("///")
    if not path or path == location:
        msg = f"store {where!r}: name the file as sqlite:///relative or sqlite:////absolute"
        raise StoreError(msg)
    settings = dict(parse_qsl(query, keep_blank_values=True))
    synchronous = settings.pop("synchronous", "NORMAL").upper()
    busy_timeout = settings.pop("busy_timeout", "10")
    if settings:
        msg = f"store {where!r}: {min(settings)} is not a setting; known: synchronous, busy_timeout"
        raise StoreError(msg)
    try:
        seconds = float(busy_timeout)
    except ValueError:
        msg = f"store {where!r}: busy_timeout is {busy_timeout!r}; it must be seconds"
        raise StoreError(msg) from None
    file = Path(unquote(path))
    if not file.is_absolute() and not file.parent.is_dir():
        msg = (
            f"store {where!r}: there is no folder {file.parent} here; "
            f"an absolute path has four slashes: sqlite:////{path}"
        )
        raise StoreError(msg)
    return _sqlite(file, bounds, synchronous, seconds, migrate=migrate)


def _sqlite(
    path: Path,
    bounds: Bounds | None,
    synchronous: str = "NORMAL",
    busy_timeout: float = 10.0,
    *,
    migrate: bool,
) -> Store:
    from failhook.stores.sqlite import SqliteStore

    return SqliteStore(
        path, bounds, synchronous=synchronous, busy_timeout=busy_timeout, migrate=migrate
    )


def _postgres(where: str, bounds: Bounds | None, *, migrate: bool) -> Store:
    try:
        from failhook.stores.postgres import PostgresStore
    except ImportError as error:
        if error.name not in ("psycopg", None):  # None: psycopg lacks a part of its own
            raise
        why = str(error).partition("\n")[0]
        msg = (
            f"store {_shown(where)}: a PostgreSQL store needs psycopg 3 ({why}): "
            "pip install 'failhook[postgres]'"
        )
        raise StoreError(msg) from error
    return PostgresStore(where, bounds, migrate=migrate)


def _shown(where: str) -> str:
    """Keep a password out of the message."""
    scheme, _, rest = where.partition("://")
    return f"'{scheme}://...'" if rest else repr(where)
