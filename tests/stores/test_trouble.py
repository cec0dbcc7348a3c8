"""Bad files and bad days: one clear line with file and way out, and nothing half-written."""

from __future__ import annotations

import os
import resource
import sqlite3
import time
from contextlib import contextmanager

import pytest

from failhook.errors import StoreError
from failhook.stores.sqlite import SqliteStore
from tests.stores.children import forked, names_of, output_of, report, start
from tests.stores.samples import NOW, a_task, an_account, an_event

NOBODY = 65_534


@pytest.fixture
def path(tmp_path):
    """Where the store is."""
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    """An open store."""
    opened = SqliteStore(path)
    yield opened
    opened.close()


def refused(path, words, **settings):
    """Check that opening is refused in one line that names the file."""
    with pytest.raises(StoreError, match=words) as refusal:
        SqliteStore(path, **settings)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def foreign(path):
    """Another program's database."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (value)")
    connection.close()


def empty_but_marked(path):
    """Another program's database before its first table."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 1")
    connection.close()


def from_the_future(path):
    """A store with a schema that nobody knows yet."""
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def damaged(path):
    """A store whose pages were overwritten."""
    SqliteStore(path).close()
    content = bytearray(path.read_bytes())
    content[100:] = b"\xff" * len(content[100:])
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("just text, and long enough\n" * 40), "name another file"),
        (foreign, "something else; name another file"),
        (empty_but_marked, "something else; name another file"),
        (from_the_future, r"a later failhook wrote it \(schema 99.*upgrade failhook"),
        (damaged, "damaged; move it away"),
        (lambda path: path.mkdir(), "this is a folder; name a file in it"),
    ],
    ids=["text", "foreign", "marked", "newer", "damaged", "folder"],
)
def test_what_is_not_a_store_is_refused_and_left_alone(path, make, words):
    """Each wrong file gives its own clear line, and not a byte of it changes."""
    make(path)
    before = None if path.is_dir() else path.read_bytes()

    refused(path, words)

    assert before == (None if path.is_dir() else path.read_bytes())


def test_an_sqlite_that_is_too_old_is_told(path, monkeypatch):
    """A Python with a library that lacks what the store needs hears so before anything is made."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 23, 1))

    refused(path, r"3\.24\.0 or later is needed")


def test_a_missing_folder_is_named(tmp_path):
    """A store is created, its folder is not."""
    refused(tmp_path / "nowhere" / "store.db", f"there is no folder {tmp_path}/nowhere; make it")
    (tmp_path / "file").touch()
    refused(tmp_path / "file" / "store.db", f"{tmp_path}/file is no folder; name another file")


def test_an_unknown_synchronous_is_refused(path):
    """Only the settings that a store keeps its promises with are allowed."""
    refused(path, "synchronous is 'OFF'; it is NORMAL or FULL", synchronous="OFF")
    assert not path.exists()


def test_a_file_that_is_locked_too_long_is_reported(store, path):
    """A file held past the busy timeout is an error, and none once it is free."""
    report(store, "a")
    impatient = SqliteStore(path, busy_timeout=0.01)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="locked for longer than the busy timeout"):
        report(impatient, "b")

    other.execute("ROLLBACK")
    other.close()
    report(impatient, "c")
    assert ["a", "c"] == names_of(store)
    impatient.close()


def test_a_patient_writer_waits_for_another(store, path):
    """A lock that goes within the busy timeout is no error."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    child = start("count", path, 1, "child")
    time.sleep(0.3)
    other.execute("COMMIT")
    other.close()

    output_of(child)

    assert ["child-0"] == names_of(store)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_vanished_file_is_reported_once(store, path, replaced):
    """When the file is gone or another, the next use says so, and the one after begins anew."""
    report(store, "lost")
    for file in path.parent.iterdir():
        file.unlink()
    if replaced:
        other = SqliteStore(path)
        report(other, "theirs")

    with pytest.raises(StoreError, match="deleted or replaced while it was in use"):
        report(store, "refused")

    report(store, "new")
    assert (["new", "theirs"] if replaced else ["new"]) == names_of(store)


def test_a_read_only_file_is_reported(tmp_path, path):
    """A user who may read but not write hears what to make writable."""
    store = SqliteStore(path)
    report(store, "a")
    store.close()
    for file in (path, tmp_path):
        file.chmod(0o555 if file.is_dir() else 0o444)

    def work():
        if os.getuid() == 0:
            os.setuid(NOBODY)
        refused(path, "make the file and its folder writable")

    with passable(tmp_path), forked(work):
        pass
    tmp_path.chmod(0o755)


@contextmanager
def passable(folder):
    """Let other users pass through the folders above, which pytest keeps to their owner."""
    modes = {each: each.stat().st_mode for each in folder.parents if each.owner() == folder.owner()}
    for each, mode in modes.items():
        each.chmod(mode | 0o111)
    try:
        yield
    finally:
        for each, mode in modes.items():
            each.chmod(mode)


def limit_pages(store):
    """Let the database grow no further."""
    with store._database.transaction() as cursor:
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")


def limit_files(_):
    """Let no file of this process grow past what the store has by now."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))


def free_pages(store):
    """Let the database grow again."""
    with store._database.transaction() as cursor:
        cursor.execute("PRAGMA max_page_count = 1000000")


def free_files(_):
    """Let files grow again."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def report_big(store, name):
    """Write what takes several pages."""
    task = a_task(name)
    with store.transaction() as transaction:
        transaction.save_account(an_account(task, first_error="x" * 20_000))
        transaction.enqueue(an_event(task, first_error="x" * 20_000), ["log"], NOW)


def until_refused(store, words):
    """Write until the store refuses; return how often it did not."""
    for written in range(100):
        try:
            report_big(store, f"t{written}")
        except StoreError as refusal:
            assert words in str(refusal)  # noqa: PT017 - the first of many that is refused
            return written
    pytest.fail("nothing was refused")


@pytest.mark.parametrize(
    ("fill", "empty", "words"),
    [
        (limit_pages, free_pages, "full; free some space"),
        (limit_files, free_files, "check the disk and its free space"),
    ],
    ids=["database", "files"],
)
def test_a_full_disk_leaves_nothing_half_written(store, fill, empty, words):
    """What did not fit is told and is gone as a whole; what was there stays, and may grow later."""

    def work():
        fill(store)
        written = until_refused(store, words)

        with store.transaction() as transaction:
            assert None is transaction.account(a_task(f"t{written}").key)
        assert written == store.pending()
        empty(store)
        report(store, "later")
        assert 1 + written == store.pending()

    with forked(work):
        pass
