"""What PostgreSQL and its driver refuse, in one line that names the way out."""

from __future__ import annotations

import re
from typing import Final

from psycopg import Error, InterfaceError, OperationalError

from failhook.errors import StoreError
from failhook.stores.postgres.url import Url

_MAX_LENGTH: Final = 300
_AWAY: Final = "the server must be running, reachable from here and ready; then try again"
_LOST: Final = "the connection was lost, and nothing was changed; try again"
_UNSURE: Final = (
    "the connection was lost, and it is not known whether the change was kept: make it again, "
    "since nothing counts twice"
)
_RIGHTS: Final = "let this user CREATE in the database, or own the schema {schema}"

# What a server says before it lets anybody in has no SQLSTATE here, only its text.
_AT_THE_DOOR: Final = (
    (
        r"password|authentication failed|\brole .* does not exist|pg_hba",
        "check user and password (of the URL, PGPASSWORD or ~/.pgpass) and pg_hba.conf",
    ),
    (r"database .* does not exist", "create it: CREATE DATABASE ... ENCODING 'UTF8'"),
    (
        r"too many (?:clients|connections)|connection slots|no more connections",
        "raise its max_connections, lower `connections` in the URL, or put a pooler before it",
    ),
    (r"not permitted to log in|permission denied", "let this user CONNECT to the database"),
)

_WAYS_OUT: Final = {
    "25006": "it is read-only: name the primary (target_session_attrs=read-write), or another user",
    "26000": "a pooler gave this session away: add prepare=off to the URL",
    "42P05": "a pooler gave this session away: add prepare=off to the URL",
    "3F000": "its schema is gone, and what it held; the next use makes it anew",
    "42P01": "its tables are gone, and what they held; the next use makes them anew",
    "42501": _RIGHTS,
    "40P01": "it waited for one that waited for it: make the change again",
    "53100": "free some space on the server's disk",
    "53200": "the server is short of memory, or its max_locks_per_transaction is too low",
    "53300": _AT_THE_DOOR[2][1],
    "55P03": "another transaction kept it locked for longer than lock_timeout",
    "57014": "it took longer than statement_timeout, or somebody cancelled it",
    "XX001": "the server's disk is damaged; restore a copy",
    "XX002": "an index is damaged: REINDEX SCHEMA {schema}",
}

_GONE: Final = ("08", "57P", "25P03")
"""Beginnings of SQLSTATEs that end a connection."""


def not_connected(url: Url, error: Error) -> StoreError:
    """Return the error for a connection that cannot be made."""
    text = _line(error)
    ways = [way for pattern, way in _AT_THE_DOOR if re.search(pattern, text)]
    return StoreError(f"store {url.where}: {text}; {ways[0] if ways else _AWAY}")


def refused(url: Url, error: Error, *, committing: bool = False) -> StoreError:
    """Return the error for a transaction that failed.

    Args:
        url: where the store is.
        error: what the driver raised.
        committing: whether it was already being committed.
    """
    if is_gone(error):
        way = _UNSURE if committing else _LOST
    else:
        way = _WAYS_OUT.get(error.sqlstate or "", "").format(schema=url.schema)
    return StoreError(f"store {url.where}: {_line(error)}" + (f"; {way}" if way else ""))


def is_gone(error: Error) -> bool:
    """Return whether an error means that the connection is of no use any more."""
    state = error.sqlstate
    if state is None:
        return isinstance(error, (OperationalError, InterfaceError))
    return state.startswith(_GONE)


def _line(error: Error) -> str:
    """Return what matters of an error, in one line of bounded length.

    What follows the first line are hints that need not fit, and details that hold data.
    """
    text = error.diag.message_primary or str(error)
    line = " ".join(text.partition("\n")[0].split())
    return line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}..."
