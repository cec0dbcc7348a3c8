"""What the URL of a PostgreSQL store says, and how it is shown: without a password."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from failhook.errors import StoreError

_LOCATION: Final = re.compile(
    r"postgres(?:ql)?://"
    r"(?:(?P<user>[^:@/]*)(?::[^@/]*)?@)?"
    r"(?P<hosts>[^@/]*)"
    r"(?:/(?P<database>[^@/]*))?"
)
_HOST: Final = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?")
_SCHEMA: Final = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_SECRETS: Final = ("password", "sslpassword", "oauth_client_secret", "scram_client_key")
_MAX_SECONDS: Final = 3600
_MAX_CONNECTIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Url:
    """Where a PostgreSQL store is.

    Attributes:
        conninfo: for libpq; it may hold a password.
        where: the same for people: no password in it.
        schema: whose tables are ours.
        connections: how many this process may have at once.
        connect_timeout: seconds for each address of the server.
        lock_timeout: seconds to wait for another transaction, or for a connection of our own.
        statement_timeout: seconds for one statement.
        prepare: whether statements are prepared; not every pooler can bear it.
    """

    conninfo: str
    where: str
    schema: str = "failhook"
    connections: int = 4
    connect_timeout: float = 5.0
    lock_timeout: float = 10.0
    statement_timeout: float = 15.0
    prepare: bool = True


def read_url(given: str) -> Url:
    """Read the URL of a store: settings of ours, and whatever else libpq knows.

    Raises:
        StoreError: it is no such URL, or a setting of ours is wrong. What is no URL is not shown,
            since it may hold a password anywhere.
    """
    location, _, query = given.partition("?")
    found = _LOCATION.fullmatch(location)
    if (
        found is None
        or "@" in query
        or not all(_HOST.fullmatch(host) for host in found["hosts"].split(","))
    ):
        raise no_url()
    pairs = [
        (unquote(name), unquote(value))  # as libpq reads it: a plus is no space
        for name, _, value in (part.partition("=") for part in query.split("&") if part)
    ]
    who = "" if found["user"] is None else f"{found['user']}@"
    database = "" if found["database"] is None else f"/{found['database']}"
    where = f"postgresql://{who}{found['hosts']}{database}" + _query(
        {name: value for name, value in pairs if name not in _SECRETS}
    )
    ours: dict[str, Any] = {
        name: SETTINGS[name](where, name, value) for name, value in pairs if name in SETTINGS
    }
    theirs = {name: value for name, value in pairs if name not in SETTINGS}
    return Url(location + _query(theirs), where, **ours)


def no_url() -> StoreError:
    """Return the error for what cannot be read as a URL, and must not be shown."""
    return StoreError(
        "store 'postgresql://...': it must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        "?schema=failhook, with what is special in a URL percent-encoded in its parts "
        "(@ is %40, / is %2F, : is %3A, ? is %3F, % is %25, a space is %20)"
    )


def _query(pairs: Mapping[str, str]) -> str:
    parts = "&".join(f"{name}={quote(value, safe='/:,')}" for name, value in pairs.items())
    return f"?{parts}" if parts else ""


def _seconds(where: str, name: str, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MAX_SECONDS:
        msg = f"store {where}: {name} is {value!r}; it is more than 0 to {_MAX_SECONDS} seconds"
        raise StoreError(msg)
    return seconds


def _connections(where: str, name: str, value: str) -> int:
    number = int(value) if value.isdecimal() else 0
    if not 0 < number <= _MAX_CONNECTIONS:
        msg = f"store {where}: {name} is {value!r}; it is 1 to {_MAX_CONNECTIONS}"
        raise StoreError(msg)
    return number


def _schema(where: str, name: str, value: str) -> str:
    if not _SCHEMA.fullmatch(value):
        msg = (
            f"store {where}: {name} is {value!r}; it is up to 63 lower-case letters, digits and _, "
            "not beginning with a digit or pg_"
        )
        raise StoreError(msg)
    return value


def _switch(where: str, name: str, value: str) -> bool:
    if value not in ("on", "off"):
        msg = f"store {where}: {name} is {value!r}; it is on or off"
        raise StoreError(msg)
    return value == "on"


SETTINGS: Final[Mapping[str, Callable[[str, str, str], object]]] = {
    "schema": _schema,
    "connections": _connections,
    "connect_timeout": _seconds,
    "lock_timeout": _seconds,
    "statement_timeout": _seconds,
    "prepare": _switch,
}
"""The settings of ours, and what reads each."""
