"""The schema in the database: made, checked, and brought up to date by numbered migrations."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from failhook.errors import StoreError
from failhook.stores.postgres.patience import PatientConnection
from failhook.stores.postgres.url import Url
from failhook.stores.sql.queries import left_alone

_OLDEST_SERVER: Final = 13
_LONG: Final = 3600.0
"""Seconds that a migration may take."""


def lock_number(schema: str, key: str) -> int:
    """Return the number of the advisory lock for a task's key; for ``""`` that of the schema.

    Advisory locks are the whole database's, so the schema is part of it. Two tasks that share a
    number wait for each other now and then, which harms nothing.
    """
    name = f"failhook/{schema}/{key}".encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big", signed=True)


def in_schema(text: str, schema: str) -> str:
    """Return statements with the name of the schema in them; a `Url` has only plain names."""
    return text.replace("{schema}", schema)


def prepare(
    connection: PatientConnection, url: Url, steps: Mapping[int, str], *, migrate: bool = True
) -> None:
    """Make the schema where there is none, or migrate an older one; all steps or none.

    Any number of processes may do so at once: one does it, the others wait for it.

    Args:
        connection: in no transaction.
        url: where the store is.
        steps: scripts, by the version that each leads to.
        migrate: False refuses what would have to be changed.

    Raises:
        StoreError: the server or the database cannot hold a store, the schema is something else's,
            or a later version made it.
        psycopg.Error: it cannot be read or written.
    """
    newest, schema = max(steps), url.schema
    found = _version(connection, url, newest)
    if found == newest:
        return
    if not migrate:
        raise StoreError(left_alone(url.where, found, newest))
    _check_server(connection, url)
    patience, connection.patience = connection.patience, _LONG
    with connection.transaction():
        _ask(connection, f"SET LOCAL lock_timeout = {int(url.lock_timeout * 1000)}")
        _ask(connection, "SELECT pg_advisory_xact_lock($1)", lock_number(schema, ""))
        version = _version(connection, url, newest)
        # Who may not create schemas may have been given one.
        if not version and not _ask(connection, "SELECT to_regnamespace($1)", schema)[0][0]:
            _ask(connection, in_schema("CREATE SCHEMA {schema}", schema))
        for number, script in steps.items():
            if number > version:
                _ask(connection, in_schema(script, schema))
        _ask(connection, in_schema("UPDATE {schema}.version SET schema = $1", schema), newest)
    connection.patience = patience


def _ask(connection: PatientConnection, sql: str, *values: str | int) -> list[tuple[Any, ...]]:
    cursor = connection.execute(sql.encode(), values or None)
    return cursor.fetchall() if cursor.description else []


def _version(connection: PatientConnection, url: Url, newest: int) -> int:
    """Return the version of the schema in the database, 0 where there is none."""
    schema = url.schema
    ours, something = _ask(
        connection,
        "SELECT to_regclass($1) IS NOT NULL, "
        "EXISTS (SELECT FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace($2))",
        *(f"{schema}.version", schema),
    )[0]
    if not ours and something:
        msg = (
            f"store {url.where}: the schema {schema} holds something else; name another one in the "
            "URL: ?schema=..."
        )
        raise StoreError(msg)
    if not ours:
        return 0
    version = _ask(connection, in_schema("SELECT schema FROM {schema}.version", schema))[0][0]
    if version > newest:
        msg = (
            f"store {url.where}: a later failhook wrote it (schema {version}, this version reads "
            f"{newest}); upgrade failhook, or name another schema in the URL: ?schema=..."
        )
        raise StoreError(msg)
    return int(version)


def _check_server(connection: PatientConnection, url: Url) -> None:
    version, encoding, standby = _ask(
        connection,
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), "
        "pg_is_in_recovery()",
    )[0]
    major = version // 10_000
    if major < _OLDEST_SERVER:
        msg = f"this is PostgreSQL {major}; it must be {_OLDEST_SERVER} or later"
    elif encoding != "UTF8":
        msg = (
            f"the database is encoded in {encoding}, which cannot hold every text; create one: "
            "CREATE DATABASE ... TEMPLATE template0 ENCODING 'UTF8'"
        )
    elif standby:
        msg = "this server is a standby, which is read-only; name the primary"
    else:
        return
    raise StoreError(f"store {url.where}: {msg}")
