"""The few connections that one process has to its database."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from threading import RLock, get_ident
from time import monotonic, sleep
from typing import Final

from psycopg import Error, ProgrammingError, RawCursor, pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper

from failhook.errors import StoreError
from failhook.stores.forks import watch_forks
from failhook.stores.postgres.patience import PatientConnection
from failhook.stores.postgres.refusals import not_connected, refused
from failhook.stores.postgres.url import SETTINGS, Url, no_url

_DEFAULTS: Final = {
    "fallback_application_name": "failhook",
    # A server that vanished without a word is noticed within half a minute.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
_GRACE: Final = 2.0
"""Seconds that a server has to end a statement itself."""

_TURN: Final = 0.002
"""Seconds between two looks whether a connection is free, where all are in use."""

_PREPARED: Final = 500
"""Statements that a connection keeps prepared: more than there are."""


class Connections:
    """Hands each transaction a connection of its own, and keeps it for the next one.

    No thread looks after them, so that a process may fork at any time. A child does not use what
    it inherits, nor does it say good-bye on it, which would end the parent's session.

    Args:
        url: where the database is.
        greet: is called with each new connection.

    Attributes:
        busy: what each thread has taken, by its number; None while it connects.

    Raises:
        StoreError: the URL has a parameter that nobody knows, or is none.
    """

    def __init__(self, url: Url, greet: Callable[[PatientConnection], None]) -> None:
        self._url = url
        self._greet = greet
        self._conninfo = _conninfo(url)
        self._kept: list[PatientConnection] = []
        self.busy: dict[int, PatientConnection | None] = {}
        self._pid = os.getpid()
        self.lock = RLock()
        watch_forks(self)

    def check_free(self) -> int:
        """Return this thread's number: what it takes is kept under it in `busy`.

        Raises:
            StoreError: it has taken a connection already.
        """
        if self._pid != os.getpid():  # forked behind Python's back
            self.lock = RLock()
            self.after_fork_in_child()
        thread = get_ident()
        if thread in self.busy:
            msg = f"store {self._url.where}: this thread is in a transaction already"
            raise StoreError(msg)
        return thread

    def mine(self, connection: PatientConnection) -> bool:
        """Return whether this thread has taken a connection and has not given it back."""
        return self.busy.get(get_ident()) is connection

    def take(self) -> tuple[PatientConnection, bool]:
        """Return a connection for this thread alone, and whether it was just made.

        Whatever comes of it, the caller takes the thread out of `busy` in the end.

        Raises:
            StoreError: none can be had.
        """
        kept = self._reserve(get_ident())
        connection = kept or self._connect()
        self.busy[get_ident()] = connection
        return connection, kept is None

    def renew(self, connection: PatientConnection) -> PatientConnection:
        """Return a new connection in the place of one that turned out to be dead.

        Those that are kept will be dead too.

        Raises:
            StoreError: the server cannot be reached.
        """
        connection.close()
        self.close()
        renewed = self.busy[get_ident()] = self._connect()
        return renewed

    def give_back(self, connection: PatientConnection, *, whole: bool) -> None:
        """Keep a connection for the next one; one that is not at rest, or not whole, is closed."""
        at_rest = connection.pgconn.transaction_status == pq.TransactionStatus.IDLE
        if not (at_rest and whole):
            connection.close()
        with self.lock:
            mine = self.busy.pop(get_ident(), None) is connection
            if mine and at_rest and whole:
                self._kept.append(connection)

    def close(self) -> None:
        """Close what is kept; the next use connects anew."""
        with self.lock:
            kept, self._kept = self._kept, []
        for connection in kept:
            connection.close()

    def before_fork(self) -> None:
        """Nothing is to be done: the lock is held, so the child knows every connection."""

    def after_fork_in_child(self) -> None:
        """Let go of what is the parent's, without a word to the server."""
        for connection in (*self._kept, *self.busy.values()):
            if connection is not None:
                _cut_off(connection)
        self._kept = []
        self.busy = {}
        self._pid = os.getpid()

    def _reserve(self, thread: int) -> PatientConnection | None:
        """Wait for one of our places; return a connection that was kept, if there is one.

        A `threading.Condition` is not safe from what a signal's handler raises, hence the turns.
        """
        url = self._url
        end = monotonic() + url.lock_timeout
        while True:
            with self.lock:
                if len(self.busy) < url.connections:
                    self.busy[thread] = None
                    return self._kept.pop() if self._kept else None
            if monotonic() > end:
                msg = (
                    f"store {url.where}: all {url.connections} connections of this process were in "
                    "use for longer than lock_timeout; raise `connections` in the URL"
                )
                raise StoreError(msg)
            sleep(_TURN)

    def _connect(self) -> PatientConnection:
        url = self._url
        try:
            connection = PatientConnection.connect(
                self._conninfo, autocommit=True, cursor_factory=RawCursor
            )
        except Error as error:
            raise not_connected(url, error) from error
        connection.patience = url.statement_timeout + _GRACE
        connection.prepared_max = _PREPARED
        if not url.prepare:
            connection.prepare_threshold = None
        # Each number as a bigint, so that a statement is prepared once and not for each size.
        connection.adapters.register_dumper(int, Int8Dumper)
        try:
            self._greet(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, Error):
                raise refused(url, error) from error
            raise
        return connection


def _conninfo(url: Url) -> str:
    """Return the connection string, with our defaults under it."""
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    query = url.conninfo.partition("?")[2]
    for name in (part.partition("=")[0] for part in query.split("&") if part):
        if name not in known:
            msg = (
                f"store {url.where}: {name} is not a setting; known: {', '.join(SETTINGS)}, and "
                "the parameters of libpq"
            )
            raise StoreError(msg)
    try:
        given = conninfo_to_dict(url.conninfo)
    except ProgrammingError:
        raise no_url() from None  # what it says holds parts of the URL
    ours = {"client_encoding": "UTF8", "connect_timeout": f"{url.connect_timeout:g}"}
    return make_conninfo("", **{**_DEFAULTS, **given, **ours})


def _cut_off(connection: PatientConnection) -> None:
    """Let a connection of the parent lead nowhere in this process.

    It is not enough to leave it alone: while the child has the socket open, a server does not
    notice that the parent has died, and keeps its locks.
    """
    with suppress(Error):  # it is closed
        socket = connection.fileno()
        nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(nowhere, socket, inheritable=False)
        os.close(nowhere)
