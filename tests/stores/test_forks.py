"""A fork leaves both sides with a store that works, and no event is delivered by both."""

from __future__ import annotations

import ctypes
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from failhook.errors import StoreError
from failhook.outbox.port import Bounds
from failhook.stores import open_store
from failhook.stores.sqlite import SqliteStore
from tests.stores.children import await_file, forked, names_of, report
from tests.stores.samples import NOW, a_task, an_event

# Newer Pythons warn of what these tests are about.
with_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture
def sqlite(tmp_path):
    """An open SQLite store."""
    opened = SqliteStore(tmp_path / "store.db")
    yield opened
    opened.close()


def test_parent_and_child_go_on_with_one_file(sqlite):
    """After a fork both sides write, from any thread, and all of it is there."""
    report(sqlite, "before")

    def work():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(report, sqlite, "child").result()
        sqlite.close()

    with forked(work):
        report(sqlite, "parent")

    assert ["before", "child", "parent"] == names_of(sqlite)


def test_what_a_child_commits_stays_when_its_parent_closes(sqlite, tmp_path):
    """Closing in the parent takes no file away from under a child that goes on."""
    report(sqlite, "before")

    def work():
        report(sqlite, "early")
        (tmp_path / "early").touch()
        await_file(tmp_path / "closed")
        report(sqlite, "late")

    with forked(work):
        report(sqlite, "parent")
        await_file(tmp_path / "early")
        sqlite.close()
        (tmp_path / "closed").touch()

    assert ["before", "early", "late", "parent"] == names_of(sqlite)


def test_a_child_holds_the_locks_of_its_own_connection(sqlite, tmp_path):
    """A child's transaction holds out its parent, as any other process's does."""

    def work():
        with sqlite.transaction() as transaction:
            (tmp_path / "inside").touch()
            await_file(tmp_path / "tried")
            transaction.enqueue(an_event(a_task("child")), ["log"], NOW)

    report(sqlite, "before")
    impatient = SqliteStore(tmp_path / "store.db", busy_timeout=0.05)
    with forked(work):
        await_file(tmp_path / "inside")
        with pytest.raises(StoreError, match="locked"):
            report(impatient, "refused")
        (tmp_path / "tried").touch()
    impatient.close()

    assert ["before", "child"] == names_of(sqlite)


@with_threads
def test_a_fork_waits_for_the_transaction_of_another_thread(sqlite):
    """A fork in the middle of another thread's transaction harms neither side."""
    inside, go_on = threading.Event(), threading.Event()

    def slow():
        with sqlite.transaction() as transaction:
            inside.set()
            go_on.wait()
            transaction.enqueue(an_event(a_task("slow")), ["log"], NOW)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(slow)
        inside.wait()
        threading.Timer(0.1, go_on.set).start()
        with forked(lambda: report(sqlite, "child")):
            report(sqlite, "parent")
        running.result()

    assert ["child", "parent", "slow"] == names_of(sqlite)


def test_a_child_does_not_commit_the_transaction_of_its_parent(sqlite):
    """A block that a fork cut in two commits in the parent alone, and the child is told."""

    def work():
        with pytest.raises(StoreError, match="forked in the middle of a transaction"):
            transaction.__exit__(None, None, None)
        with pytest.raises(StoreError, match="fork between transactions"):
            report(sqlite, "child")

    transaction = sqlite.transaction()
    transaction.__enter__()
    transaction.enqueue(an_event(a_task("parent")), ["log"], NOW)
    with forked(work):
        transaction.__exit__(None, None, None)

    assert ["parent"] == names_of(sqlite)


def test_a_fork_behind_pythons_back_is_noticed(sqlite):
    """A child made without Python's fork hooks opens the file anew, by its process id."""
    report(sqlite, "before")

    with forked(lambda: report(sqlite, "child"), fork=ctypes.PyDLL(None).fork):
        report(sqlite, "parent")

    assert ["before", "child", "parent"] == names_of(sqlite)


def test_a_child_delivers_nothing_that_waits_in_its_parents_memory():
    """What waits in memory is the parent's to deliver; the ledger is known to both."""
    store = open_store("memory")
    report(store, "before")

    def work():
        assert [] == names_of(store)
        with store.transaction() as transaction:
            assert None is not transaction.account(a_task("before").key)
        report(store, "child")
        assert ["child"] == names_of(store)

    with forked(work):
        report(store, "parent")

    assert ["before", "parent"] == names_of(store)


@with_threads
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_many_forks_while_threads_write(tmp_path, kind):
    """Forks beside busy threads end in no deadlock, and in both sides' rows."""
    where = "memory" if kind == "memory" else tmp_path / "store.db"
    store = open_store(where, Bounds(events=10**9, bytes=2**40))
    over = threading.Event()

    def write(thread):
        number = 0
        while not over.is_set():
            report(store, f"thread-{thread}-{number}")
            number += 1
        return number

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(write, thread) for thread in range(2)]
        for number in range(20):
            with forked(lambda number=number: report(store, f"child-{number}")):
                report(store, f"parent-{number}")
        over.set()
        written = sum(each.result() for each in running)

    children = 20 if kind == "sqlite" else 0
    assert written + 20 + children == store.pending()
    store.close()


def test_a_store_that_is_gone_hears_of_no_fork():
    """A store may be let go of, and forks go on."""
    open_store("memory")

    with forked(lambda: None):
        assert os.getpid()
