"""A PostgreSQL server that goes away and comes back, freezes, or wakes up as a standby."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import pytest

from failhook.errors import StoreError
from failhook.stores import open_store
from tests.stores.children import names_of, report
from tests.stores.samples import NOW, a_task, an_account, an_event

pytestmark = pytest.mark.requires_service("postgres")


@pytest.fixture
def server(postgres_server):
    """The server, which each test leaves running."""
    return postgres_server


@pytest.fixture
def settings(postgres_url):
    """The settings of a fresh and not very patient store."""
    schema = postgres_url.rpartition("&")[2]
    return f"statement_timeout=0.2&connect_timeout=2&lock_timeout=0.2&{schema}"


@pytest.fixture
def store(server, settings):
    """The same, open."""
    opened = open_store(f"{server.url}&{settings}")
    yield opened
    opened.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
@pytest.mark.parametrize("way", ["socket", "tcp"])
def test_what_was_committed_stays_and_each_call_connects_anew(server, settings, how, way):
    """While the server is away each call fails with one line; then all goes on as before."""
    store = open_store(
        f"{server.url}&{settings}" if way == "socket" else f"{server.tcp()}?{settings}"
    )
    report(store, "before")
    server.stop(how)
    try:
        for _ in range(2):
            with pytest.raises(
                StoreError, match=r"the server must be running.*; then try again$"
            ) as refusal:
                report(store, "lost")
            assert "\n" not in str(refusal.value)
            assert all(part in str(refusal.value) for part in ("/postgres", str(server.port)))
    finally:
        server.start()

    report(store, "after")
    assert ["after", "before"] == names_of(store)
    store.close()


@pytest.mark.parametrize(
    "use", [lambda store: report(store, "b"), lambda store: store.pending()], ids=["write", "read"]
)
def test_a_restart_between_two_calls_goes_unnoticed(server, store, use):
    """A call on a connection that died meanwhile takes a new one, and does not fail."""
    report(store, "a")
    server.stop()
    server.start()

    use(store)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_a_transaction_in_the_middle_of_a_restart_changes_nothing(server, store, how):
    """Either all of a transaction is there or nothing, and the caller hears that it is not."""
    task = a_task("torn")
    with pytest.raises(StoreError, match="the connection was lost, and nothing was changed"):
        with store.transaction() as transaction:
            transaction.save_account(an_account(task))
            server.stop(how)
            server.start()
            transaction.enqueue(an_event(task), ["log"], NOW)

    with store.transaction() as transaction:
        assert None is transaction.account(task.key)


def test_a_commit_without_an_answer_may_be_made_again(server, store):
    """Who hears that it is not known whether a change was kept makes it again: it counts once."""
    task = a_task("unsure")

    def change(transaction):
        transaction.save_account(an_account(task))
        transaction.enqueue(an_event(task), ["log"], NOW)

    with pytest.raises(StoreError, match="not known whether the change was kept: make it again"):
        with store.transaction() as transaction:
            change(transaction)
            server.stop()
            server.start()
    for _ in range(2):
        with store.transaction() as transaction:
            change(transaction)

    assert ["unsure"] == names_of(store)


@contextmanager
def frozen(server):
    """Let the server neither answer nor end."""
    pids = server.pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_a_frozen_server_is_not_waited_for_for_ever(server, store):
    """A server that is there and says nothing is given up, on an old connection and a new one."""
    report(store, "before")
    with frozen(server), pytest.raises(StoreError, match="timeout expired; the server must be run"):
        report(store, "lost")

    report(store, "after")
    assert ["after", "before"] == names_of(store)


def test_a_server_that_is_a_standby_now_is_read_only(server, store):
    """After a failover the old primary may be read, and says where to write."""
    report(store, "before")
    server.stop()
    (server.data / "standby.signal").touch()
    server.start()
    try:
        assert 1 == store.pending()
        assert any("is a standby now" in line for line in store.examine(NOW).problems)
        with pytest.raises(StoreError, match="name the primary"):
            report(store, "lost")
        with pytest.raises(StoreError, match="a standby, which is read-only; name the primary"):
            open_store(f"{server.url}&schema=new")
    finally:
        server.stop()
        (server.data / "standby.signal").unlink()
        server.start()

    report(store, "after")
    assert ["after", "before"] == names_of(store)
