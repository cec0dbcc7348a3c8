"""A setting names a store, or is refused with what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from failhook.errors import StoreError
from failhook.stores import file_of, open_store, shown
from failhook.stores.memory import MemoryStore
from failhook.stores.sqlite import SqliteStore


@pytest.mark.parametrize("where", ["memory", "memory:", "memory://", ":memory:"])
def test_memory_is_a_store_in_memory(where):
    """Each way to say memory gives a store that touches no file."""
    assert isinstance(open_store(where), MemoryStore)


@pytest.mark.parametrize(
    ("where", "file"),
    [
        ("store.db", "store.db"),
        ("./deep/store.db", "deep/store.db"),
        ("sqlite:///store.db", "store.db"),
        ("sqlite:///{folder}/absolute.db", "absolute.db"),
        ("{folder}/absolute.db", "absolute.db"),
        ("sqlite:///a%20b.db", "a b.db"),
        ("C:store.db", "C:store.db"),
    ],
)
def test_a_file_is_an_sqlite_store(tmp_path, monkeypatch, where, file):
    """A path, relative or absolute, bare or as a URL, opens that file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()

    store = open_store(where.format(folder=tmp_path))

    assert isinstance(store, SqliteStore)
    assert (tmp_path / file).exists()
    store.close()


def test_a_url_may_end_in_settings(tmp_path):
    """A URL says how durable commits are, in any case, and how long to wait."""
    store = open_store(f"sqlite:///{tmp_path}/store.db?synchronous=full&busy_timeout=2.5")

    with store._database.transaction() as cursor:
        assert (2,) == cursor.execute("PRAGMA synchronous").fetchone()
        assert (2500,) == cursor.execute("PRAGMA busy_timeout").fetchone()
    store.close()


def test_a_path_object_is_a_file_whatever_its_name(tmp_path, monkeypatch):
    """A `Path` is never read as a URL."""
    monkeypatch.chdir(tmp_path)

    open_store(tmp_path / "memory").close()

    assert [tmp_path / "memory"] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("mysql://user:secret@db/failhook", "it must be memory, a file name"),
        ("memory:name", "it must be memory, a file name"),
        ("", "it must be memory, a file name"),
        ("sqlite://", "sqlite:///relative"),
        ("sqlite:///", "sqlite:///relative"),
        ("sqlite://host/file", "sqlite:///relative"),
        ("sqlite:file", "sqlite:///relative"),
        ("sqlite:///gone/a.db", "an absolute path has four slashes: sqlite:////gone/a.db"),
        ("sqlite:///a.db?synchronous=OFF", "synchronous is 'OFF'; it is NORMAL or FULL"),
        ("sqlite:///a.db?busy_timeout=soon", "busy_timeout is 'soon'; it must be seconds"),
        ("sqlite:///a.db?busy_timeout=-1", "busy_timeout is -1.0; it is 0 to 3600 seconds"),
        ("sqlite:///a.db?busy_timeout=nan", "busy_timeout is nan; it is 0 to 3600 seconds"),
        ("sqlite:///a.db?mode=ro", "mode is not a setting; known: synchronous, busy_timeout"),
    ],
)
def test_anything_else_is_refused_without_its_password(tmp_path, monkeypatch, where, words):
    """The message says what is allowed, and repeats no secret."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreError, match=words) as refusal:
        open_store(where)

    assert "secret" not in str(refusal.value)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("where", "file"),
    [
        ("memory", None),
        (":memory:", None),
        ("postgresql://db", None),
        ("a/b.db", "a/b.db"),
        ("sqlite:///a%20b.db?busy_timeout=5", "a b.db"),
        ("sqlite:////srv/b.db", "/srv/b.db"),
    ],
)
def test_the_file_of_a_store_is_known_without_opening_it(where, file):
    """Whoever only wants to look can see first whether the file is there."""
    assert (None if file is None else Path(file)) == file_of(where)


def test_a_url_is_shown_with_its_user_and_without_its_secrets():
    """However a secret is given to libpq, no command shows it."""
    secrets = "password=a&sslpassword=b&oauth_client_secret=c&scram_client_key=d&pass%77ord=e"

    assert "postgresql://me@host/db?sslmode=require&schema=s" == shown(
        f"postgresql://me:hidden@host/db?sslmode=require&{secrets}&schema=s"
    )
