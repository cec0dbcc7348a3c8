"""Processes that fork while they are connected: each side has connections of its own."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from failhook.errors import StoreError
from failhook.stores import open_store
from tests.stores.children import forked, names_of, report
from tests.stores.samples import NOW, a_task, an_event

pytestmark = pytest.mark.requires_service("postgres")


@pytest.fixture
def store(postgres_url):
    """An open store."""
    opened = open_store(postgres_url)
    yield opened
    opened.close()


def session_of(store):
    """The server's process for the connection that is used next."""
    with store._database.reading() as cursor:
        return cursor.execute("SELECT pg_backend_pid()").fetchone()


@pytest.mark.parametrize("fork", [os.fork, ctypes.PyDLL(None).fork], ids=["python", "c"])
def test_a_child_uses_a_session_of_its_own_and_leaves_its_parents_alone(store, fork):
    """Whatever a child does with the store, its parent's session goes on, in either order."""
    report(store, "before")
    mine = session_of(store)

    def work():
        assert mine != session_of(store)
        report(store, "child")
        store.close()
        gc.collect()

    with forked(work, fork=fork):
        pass

    assert mine == session_of(store)
    assert ["before", "child"] == names_of(store)


def test_a_child_that_only_ends_says_no_good_bye(store):
    """A child that lets go of the store without a word ends nothing of its parent's."""
    mine = session_of(store)

    def work():
        store._database.connections._kept.clear()
        gc.collect()

    with forked(work):
        pass

    assert mine == session_of(store)


def test_a_transaction_stays_its_own_processs(store):
    """A child that is born in a transaction cannot end it; the parent can, and both go on."""

    def work():
        with pytest.raises(StoreError, match="forked in the middle of a transaction"):
            transaction.__exit__(None, None, None)
        report(store, "child")

    transaction = store.transaction()
    transaction.__enter__()
    transaction.enqueue(an_event(a_task("parent")), ["log"], NOW)
    with forked(work):
        transaction.__exit__(None, None, None)

    assert ["child", "parent"] == names_of(store)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_many_forks_while_threads_write(store):
    """Forks beside busy threads end in no deadlock, and in the rows of all."""
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

    assert written + 40 == store.pending()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_works_however_it_starts(store, postgres_url, method):
    """Children of multiprocessing report to the store, and their parent's goes on."""
    context = multiprocessing.get_context(method)
    report(store, "parent")
    children = [
        context.Process(target=_report_at, args=(postgres_url, f"child-{number}"))
        for number in range(2)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()

    assert [0, 0] == [child.exitcode for child in children]
    assert ["child-0", "child-1", "parent"] == names_of(store)


def _report_at(where, name):
    store = open_store(where)
    report(store, name)
    store.close()


def test_a_child_that_lives_on_keeps_no_lock_of_its_dead_parent(store):
    """The server sees the death of who holds a task, although a child inherited the connection."""
    to_grandchild, to_child = os.pipe()
    held, holding = os.pipe()

    def work():
        with store.transaction() as transaction:
            transaction.account(a_task().key)
            if os.fork() == 0:
                os.close(to_child)
                os.write(holding, b".")
                os.read(to_grandchild, 1)
                os._exit(0)
            signal.pause()

    pid = os.fork()
    if pid == 0:
        work()
    assert b"." == os.read(held, 1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)

    report(store, a_task().name)

    assert [a_task().name] == names_of(store)
    for end in (to_grandchild, to_child, held, holding):
        os.close(end)
