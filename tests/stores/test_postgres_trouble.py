"""What a PostgreSQL server refuses: one clear line with the way out, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from failhook.errors import StoreError
from failhook.stores import open_store
from tests.postgres import PASSWORD
from tests.stores.children import names_of, report
from tests.stores.samples import NOW, a_failed_attempt, a_task, an_account, an_event

pytestmark = pytest.mark.requires_service("postgres")

_ROLES = count(1)
WORD = "s3cret"


@pytest.fixture
def store(postgres_url):
    """An open store."""
    opened = open_store(postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def admin(postgres_server):
    """Runs what only a superuser may."""
    import psycopg

    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        yield connection.execute


@pytest.fixture
def poor(admin, postgres_server):
    """A user without any right; returns its name, and the URL of its stores."""
    name = f"poor{next(_ROLES)}"
    admin(f"CREATE ROLE {name} LOGIN PASSWORD '{WORD}'")
    return name, f"{postgres_server.tcp(name, WORD)}?schema={name}"


def refused(where, words):
    """Check that opening is refused in one line, without a password."""
    with pytest.raises(StoreError, match=words) as refusal:
        open_store(where)
    error = refusal.value
    while error is not None:
        assert PASSWORD not in str(error)
        assert WORD not in str(error)
        error = error.__cause__
    assert "\n" not in str(refusal.value)


def test_who_is_not_let_in_hears_why(admin, poor, postgres_server):
    """Each closed door has its own line."""
    name, theirs = poor
    server = postgres_server
    refused(server.tcp(name, WORD + "2"), f'password authentication failed.*"{name}"; check user')
    refused(server.tcp("nobody", WORD), "check user and password")
    refused(server.tcp(database="gone"), r'database "gone" does not exist; create it: CREATE DATA')
    refused(theirs, "permission denied for database.*let this user CREATE in the database, or own")
    refused(f"postgresql://{name}:{WORD}@127.0.0.1:1/postgres", "refused; the server must be runn")
    refused(f"postgresql://{name}:{WORD}@nowhere.invalid/x", "the server must be running, reachab")
    refused(f"postgresql:///x?host=/nowhere&password={WORD}", "the server must be running, reacha")
    admin(f"ALTER ROLE {name} CONNECTION LIMIT 0")
    refused(theirs, "too many connections.*lower `connections` in the URL")
    admin(f"ALTER ROLE {name} NOLOGIN")
    refused(theirs, "not permitted to log in; let this user CONNECT")


def test_a_user_who_was_given_a_schema_needs_no_other_right(admin, poor):
    """A store is made in an empty schema that somebody else has created."""
    name, theirs = poor
    admin(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
    store = open_store(theirs)
    report(store, "a")
    assert ["a"] == names_of(store)
    assert theirs.replace(f":{WORD}", "") == store.examine(NOW).where
    store.close()


def test_a_read_only_user_reads_and_hears_what_it_may_not(admin, poor):
    """Where nothing may be written, what is there can be read, and a report says why it fails."""
    name, theirs = poor
    admin(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
    open_store(theirs).close()
    admin(f"ALTER ROLE {name} SET default_transaction_read_only = on")
    store = open_store(theirs)

    assert 0 == store.pending()
    with pytest.raises(StoreError, match="it is read-only: name the primary"):
        report(store, "a")
    store.close()


def test_a_database_that_cannot_hold_every_text_is_refused(admin, postgres_server):
    """A store needs UTF-8, and says so before it makes a table."""
    admin("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")

    refused(postgres_server.tcp(database="latin"), "encoded in LATIN1, which cannot hold every te")

    admin("DROP DATABASE latin")


def test_what_is_no_store_of_this_version_is_left_alone(admin, postgres_url, store):
    """A schema of something else, or from the future, is named, and nothing in it changes."""
    schema = postgres_url.rpartition("=")[2]
    version = f"{schema}.version"
    admin(f"UPDATE {version} SET schema = 99")  # noqa: S608 - a schema of our own
    refused(postgres_url, r"a later failhook wrote it \(schema 99, .*upgrade failhook")
    assert (99,) == admin(f"TABLE {version}").fetchone()

    admin(f"CREATE SCHEMA {schema}_theirs; CREATE TABLE {schema}_theirs.version_of_theirs ()")
    refused(f"{postgres_url}_theirs", r"holds something else; name another one in the URL: \?sche")


def test_a_schema_that_goes_away_is_reported_and_made_anew(admin, postgres_url, store):
    """When the tables are gone the next use says so, and the one after begins anew."""
    report(store, "lost")
    admin(f"DROP SCHEMA {postgres_url.rpartition('=')[2]} CASCADE")

    with pytest.raises(StoreError, match="its tables are gone, and what they held; the next use m"):
        report(store, "refused")

    report(store, "new")
    assert ["new"] == names_of(store)


def test_a_task_that_is_held_too_long_is_reported_and_others_are_not_held(store, postgres_url):
    """Who waits longer than lock_timeout for a task gives up; other tasks go on meanwhile."""
    impatient = open_store(f"{postgres_url}&lock_timeout=0.2")
    with store.transaction() as transaction:
        transaction.account(a_task("held").key)

        with pytest.raises(StoreError, match="kept it locked for longer than lock_timeout"):
            report(impatient, "held")
        report(impatient, "other")

    report(impatient, "held")
    assert ["held", "other"] == names_of(store)
    impatient.close()


def test_a_frozen_process_holds_a_task_for_a_bounded_time(store, postgres_url, monkeypatch):
    """The server ends a transaction in which nothing happens, and who waits for it goes on."""
    monkeypatch.setattr("failhook.stores.postgres.database._IDLE", 200)
    frozen = open_store(postgres_url)
    with pytest.raises(StoreError, match="the connection was lost"):
        with frozen.transaction() as transaction:
            transaction.save_account(an_account(a_task("held"), user=99))
            report(store, "held")

    with store.transaction() as transaction:
        account = transaction.account(a_task("held").key)
    assert account is not None
    assert 1 == account.user
    frozen.close()


def test_a_statement_that_takes_too_long_is_ended(postgres_url):
    """The server ends what takes longer than statement_timeout, and the next call works."""
    store = open_store(f"{postgres_url}&statement_timeout=0.1")

    with (
        pytest.raises(StoreError, match="it took longer than statement_timeout, or somebody canc"),
        store._database.transaction() as cursor,
    ):
        cursor.execute("SELECT pg_sleep(10)")

    report(store, "a")
    store.close()


def test_more_dead_letters_are_revived_than_a_server_has_locks(admin, store, postgres_url):
    """Everything that a plugin lost in a bad week comes back with one call."""
    table = f"{postgres_url.rpartition('=')[2]}.outbox"
    admin(
        f"INSERT INTO {table} (event, task_key, plugin, ready, due_at, died_at, bytes, final) "  # noqa: S608 - a table of our own
        "SELECT n, 't' || n, 'log', 0, 0, 1, 1, 1 FROM generate_series(1, 10000) AS n"
    )
    letters = [letter.id for letter in store.dead_letters("log")]

    assert 10_000 == store.revive(letters, NOW) == store.pending()


def test_one_process_has_no_more_connections_than_it_may(postgres_url):
    """A thread waits for one of the process's connections, and not for ever."""
    store = open_store(f"{postgres_url}&connections=1&lock_timeout=0.2")
    refusals = []

    def work():
        try:
            report(store, "b")
        except StoreError as error:
            refusals.append(str(error))

    thread = threading.Thread(target=work)
    with store.transaction() as transaction:
        transaction.enqueue(an_event(a_task("a")), ["log"], NOW)
        thread.start()
        thread.join()
        with pytest.raises(StoreError, match="this thread is in a transaction already"):
            store.pending()

    assert "all 1 connections of this process were in use" in refusals[0]
    assert ["a"] == names_of(store)
    store.close()


def test_an_error_that_is_passed_over_commits_nothing(store):
    """A transaction in which a statement failed is never half committed."""
    from psycopg import Error

    with pytest.raises(StoreError, match="one of its statements failed before"):
        with store.transaction() as transaction:
            transaction.save_account(an_account(a_task()))
            with pytest.raises(Error):
                transaction._cursor.execute("SELECT nonsense")

    with store.transaction() as transaction:
        assert None is transaction.account(a_task().key)


def test_text_that_postgresql_cannot_hold_is_kept(store):
    """An event with NULs and lone surrogates comes back as it was; columns hold an escape."""
    odd = "a\x00b\udc80"
    task = a_task(owner=odd, labels={odd: odd})
    event = an_event(task, first_error=odd, observer=odd)
    with store.transaction() as transaction:
        transaction.save_account(an_account(task, first_error=odd))
        transaction.save_attempt(a_failed_attempt(task)._replace(error_line=odd))
        transaction.enqueue(event, ["log"], NOW)

    (delivery,) = store.claim("log", now=NOW, lease=60, limit=9, owner=odd)
    store.retry([delivery.id], not_before=NOW, error=odd, owner=odd)
    store.put_state("log", odd, odd)

    assert event == delivery.event
    assert (odd, None) == (store.get_state("log", odd), store.get_state("log", "a"))
    assert [task] == [attempt.task for attempt in store.history(task.key, limit=9)]
    assert [r"a\x00b\udc80"] == [each.value for each in store.tally("owner", NOW)]
    assert [r"a\x00b\udc80"] == [each.error for each in store.waiting()]


def test_a_pooler_that_keeps_no_prepared_statements_is_borne(postgres_url):
    """With prepare=off nothing is prepared on the server; else what is used often is."""

    def prepared(where):
        store = open_store(where)
        for number in range(8):
            report(store, f"t{number}")
        with store._database.reading() as cursor:
            (found,) = cursor.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        store.close()
        return found

    assert 0 == prepared(f"{postgres_url}&prepare=off")
    assert prepared(postgres_url) >= 3


def test_the_doctor_sees_size_and_clock(store):
    """A store tells its schema and size, and that its server's clock and ours differ."""
    report(store, "a")
    now = datetime.now(UTC)
    well, fast = store.examine(now), store.examine(now + timedelta(minutes=1))

    assert (1, []) == (well.tasks, list(well.problems))
    assert well.bytes is not None
    assert well.bytes > 100_000
    assert len(fast.problems) == 1
    assert fast.problems[0].startswith("the server's clock is 60 s behind this machine's")


@contextmanager
def small_disk(folder, admin):
    """A table space of a few megabytes."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], check=True)
    try:
        subprocess.run(["chown", "postgres", folder], check=True)
        admin(f"CREATE TABLESPACE small LOCATION '{folder}'")
        yield
        admin("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_leaves_nothing_half_written(admin, postgres_server, postgres_url):
    """What does not fit is told and gone as a whole; what was there stays, and may grow later."""
    folder = postgres_server.folder / "small"
    folder.mkdir()
    with small_disk(folder, admin):
        store = open_store(f"{postgres_url}&options=-c%20default_tablespace%3Dsmall")
        written = 0
        with pytest.raises(StoreError, match="free some space on the server's disk"):
            while written < 5_000:
                task = a_task(f"t{written}")
                with store.transaction() as transaction:
                    transaction.save_account(an_account(task, first_error=os.urandom(20_000).hex()))
                    transaction.enqueue(an_event(task), ["log"], NOW)
                written += 1

        assert written > 0
        with store.transaction() as transaction:
            assert None is transaction.account(a_task(f"t{written}").key)
        assert written == store.pending()
        subprocess.run(["mount", "-o", "remount,size=16m", folder], check=True)
        report(store, "later")
        assert written + 1 == store.pending()
        store.close()
        admin(f"DROP SCHEMA {postgres_url.rpartition('=')[2]} CASCADE")
