"""What other processes do to a store: run as ``python -m tests.stores.children WHAT FILE ...``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from failhook.stores import open_store
from tests.stores.samples import LATER, NOW, a_failed_attempt, a_task, an_account, an_event

ROOT = Path(__file__).parents[2]


def start(what, path, *arguments):
    """Start a child process that does one of the things below."""
    command = [sys.executable, "-m", __name__, what, path, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def output_of(*children):
    """Wait for child processes and return what each of them printed."""
    printed = [child.communicate()[0] for child in children]
    assert [0] * len(children) == [child.returncode for child in children]
    return printed


@contextmanager
def forked(work, fork=os.fork):
    """Fork; do `work` in the child, and check in the end that it came through."""
    pid = fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    try:
        yield pid
    finally:
        _, status = os.waitpid(pid, 0)
    assert 0 == os.waitstatus_to_exitcode(status)


def await_file(path):
    """Wait until another process made this file; give up when it never will."""
    for _ in range(3_000):
        if path.exists():
            return
        time.sleep(0.01)
    raise TimeoutError(path)


def report(store, name):
    """Do what `failed()` does: account, attempt and event in one transaction."""
    task = a_task(name)
    with store.transaction() as transaction:
        transaction.save_account(an_account(task))
        transaction.save_attempt(a_failed_attempt(task))
        transaction.enqueue(an_event(task), ["log"], NOW)


def names_of(store):
    """The tasks whose events wait, as another drainer would find them."""
    claimed = store.claim("log", now=LATER, lease=0, limit=10_000, owner="reader")
    return sorted(delivery.event.task.name for delivery in claimed)


def _die(path):
    """Commit once, begin once more, and be killed in the middle of it."""
    store = open_store(path)
    report(store, "committed")
    with store.transaction() as transaction:
        transaction.save_account(an_account(a_task("unfinished")))
        os.kill(os.getpid(), signal.SIGKILL)


def _count(path, rounds, name):
    """Raise one account's counter again and again, with an event each time."""
    store = open_store(path)
    task = a_task("counted")
    for number in range(int(rounds)):
        with store.transaction() as transaction:
            account = transaction.account(task.key) or an_account(task, user=0)
            transaction.save_account(account._replace(user=account.user + 1))
            transaction.enqueue(an_event(a_task(f"{name}-{number}")), ["log"], NOW)
    store.close()


def _drain(path, owner):
    """Claim until nothing is left; print what was claimed."""
    store = open_store(path)
    while batch := store.claim("log", now=LATER, lease=600, limit=7, owner=owner):
        print(*(delivery.id for delivery in batch), sep="\n")
    store.close()


if __name__ == "__main__":
    {"die": _die, "count": _count, "drain": _drain}[sys.argv[1]](*sys.argv[2:])
