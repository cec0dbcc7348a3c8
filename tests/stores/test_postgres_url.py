"""The URL of a PostgreSQL store: what it may say, and that its password is never said again."""

from __future__ import annotations

import subprocess
import sys

import pytest

from failhook.errors import StoreError
from failhook.stores import open_store, shown
from failhook.stores.postgres.url import Url, read_url
from failhook.stores.sql.queries import queries

SECRET = "hunter2"  # noqa: S105 - it looks for this one


def test_our_settings_are_taken_out_and_libpqs_are_left():
    """What is ours is read, what is libpq's goes to libpq, and only the password is not shown."""
    url = read_url(
        f"postgres://me:{SECRET}@[::1]:5433,other/db?schema=a_1&sslmode=require&connections=2"
        "&connect_timeout=1.5&lock_timeout=2&statement_timeout=3&prepare=off&options=-c%20a%3Db"
    )

    theirs = "?sslmode=require&options=-c%20a%3Db"
    assert url == Url(
        conninfo=f"postgres://me:{SECRET}@[::1]:5433,other/db{theirs}",
        where="postgresql://me@[::1]:5433,other/db?schema=a_1&sslmode=require&connections=2"
        "&connect_timeout=1.5&lock_timeout=2&statement_timeout=3&prepare=off&options=-c%20a%3Db",
        schema="a_1",
        connections=2,
        connect_timeout=1.5,
        lock_timeout=2.0,
        statement_timeout=3.0,
        prepare=False,
    )


def test_a_password_among_the_parameters_is_not_shown_either():
    """A password may stand in the query too, where it goes to libpq and nowhere else."""
    url = read_url(f"postgresql:///db?user=me&password={SECRET}&sslpassword={SECRET}2&sslkey=k")

    assert "postgresql:///db?user=me&sslkey=k" == url.where
    assert f"&password={SECRET}&" in url.conninfo


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (f"postgresql://me:{SECRET}@host/db?schema=a", "postgresql://me@host/db?schema=a"),
        (f"postgres://me:{SECRET}@x@host?password={SECRET}", "postgres://me@host"),
        ("postgresql:///db?user=me", "postgresql:///db?user=me"),
        ("sqlite:////srv/a:1@b.db?synchronous=FULL", "sqlite:////srv/a:1@b.db?synchronous=FULL"),
        ("folder/a:1@b.db", "folder/a:1@b.db"),
    ],
)
def test_a_setting_is_shown_without_its_password(setting, expected):
    """Only a server's URL has a password, and that is left out, however it is written."""
    assert expected == shown(setting)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (f"postgresql://me:{SECRET}@x@host/db", "percent-encoded"),
        (f"postgresql://me:a/{SECRET}@host/db", "percent-encoded"),
        (f"postgresql://me:a?{SECRET}@host/db", "percent-encoded"),
        (f"postgresql://me:%zz{SECRET}@host/db", "percent-encoded"),
        (f"postgresql://me:{SECRET}", "percent-encoded"),
        (f"postgresql:me:{SECRET}", "percent-encoded"),
        (f"postgresql://me:{SECRET}@host/db?schema=A", "schema is 'A'; it is up to 63 lower-case"),
        (f"postgresql://me:{SECRET}@host/db?schema=pg_x", "not beginning with a digit or pg_"),
        (f"postgresql://me:{SECRET}@host/db?connections=0", "connections is '0'; it is 1 to 100"),
        (f"postgresql://me:{SECRET}@host/db?lock_timeout=soon", "lock_timeout is 'soon'; it is"),
        (f"postgresql://me:{SECRET}@host/db?connect_timeout=nan", "connect_timeout is 'nan'; it"),
        (f"postgresql://me:{SECRET}@host/db?prepare=1", "prepare is '1'; it is on or off"),
        (f"postgresql://me:{SECRET}@host/db?shema=a", "shema is not a setting; known: schema, "),
    ],
)
def test_what_cannot_be_read_is_refused_without_its_password(given, words):
    """Each slip gives one line that names it and the way out, and never the password."""
    with pytest.raises(StoreError, match=words) as refusal:
        open_store(given)

    assert SECRET not in str(refusal.value)
    assert SECRET not in str(refusal.value.__cause__)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "broken", ['sys.modules["psycopg"] = None', 'os.environ["PSYCOPG_IMPL"] = "none"']
)
def test_a_missing_driver_names_the_extra(broken):
    """Without psycopg, or with one that does not work, the error says what to install."""
    code = f"""
import os, sys
{broken}
from failhook.errors import StoreError
from failhook.stores import open_store, shown
try:
    open_store("postgresql://me:{SECRET}@host/db")
except StoreError as error:
    print(error)
"""
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, capture_output=True, check=True, text=True).stdout

    assert said.endswith("pip install 'failhook[postgres]'\n")
    assert SECRET not in said


def test_only_a_url_of_postgresql_loads_the_driver(tmp_path):
    """Other stores are opened without psycopg."""
    code = f"""
import sys
from failhook.stores import open_store, shown
open_store("memory")
open_store({str(tmp_path / "store.db")!r}).close()
print("psycopg" in sys.modules)
"""
    run = [sys.executable, "-c", code]
    assert "False\n" == subprocess.run(run, capture_output=True, check=True, text=True).stdout


def test_both_dialects_have_the_same_statements():
    """What SQLite is asked, PostgreSQL is asked too, and nothing else."""
    names = [set(queries(f"failhook.stores.{each}")) for each in ("sqlite", "postgres")]
    assert names[0] == names[1]
