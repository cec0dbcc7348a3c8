"""Processes that use one PostgreSQL store at once: nobody is lost, stuck, torn or counted twice."""

from __future__ import annotations

import os
import random
import signal
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import pytest

from failhook.groups import Group, Handled
from failhook.outbox.port import Bounds
from failhook.stores import open_store
from tests.stores.children import names_of, report
from tests.stores.samples import NOW, a_task, an_account, an_event

pytestmark = pytest.mark.requires_service("postgres")

PLUGINS = ("log", "alerts")
ROUNDS = 150
"""What each hammering process does; more finds more."""


def together(*works, then=lambda: None):
    """Do each of these in a process of its own, all at once; all must come through.

    `then` is called when all have begun.
    """
    pids = []
    for work in works:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work()
                status = 0
            except BaseException:  # noqa: BLE001 - the parent only sees the status
                traceback.print_exc()
            finally:
                os._exit(status)
        pids.append(pid)
    then()
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    assert [0] * len(works) == statuses


def test_eight_processes_make_one_store(postgres_url):
    """Whoever opens an empty database at the same moment as others finds a whole store."""
    wait, go = os.pipe()

    def opening(name):
        def work():
            os.close(go)
            os.read(wait, 1)
            store = open_store(postgres_url)
            report(store, name)
            store.close()

        return work

    names = [f"p{number}" for number in range(8)]
    together(*map(opening, names), then=lambda: os.close(go))
    os.close(wait)

    store = open_store(postgres_url)
    assert names == names_of(store)
    store.close()


def test_reports_of_one_task_count_one_by_one(postgres_url):
    """However many processes raise a counter, each raise counts."""
    store, task = open_store(postgres_url), a_task("counted")

    def work():
        for _ in range(25):
            with store.transaction() as transaction:
                account = transaction.account(task.key) or an_account(task, user=0)
                transaction.save_account(account._replace(user=account.user + 1))

    together(*[work] * 4)

    with store.transaction() as transaction:
        account = transaction.account(task.key)
    assert account is not None
    assert 100 == account.user
    store.close()


@contextmanager
def meanwhile(where, work):
    """Begin some work, go on when it waits for a lock or is done, and in the end await it."""
    watching = open_store(where)
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        while not working.done():
            with watching._database.reading() as cursor:
                query = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                if cursor.execute(query).fetchone() is not None:
                    break
        yield
        working.result()
    watching.close()


def test_who_waited_for_a_task_sees_what_its_last_holder_did(postgres_url):
    """A report that waited counts on from what was committed meanwhile, never from before."""
    store, task = open_store(postgres_url), a_task()

    def count_on():
        with store.transaction() as transaction:
            account = transaction.account(task.key) or an_account(task, user=0)
            transaction.save_account(account._replace(user=account.user + 1))

    with ExitStack() as stack, store.transaction() as transaction:
        transaction.save_account(an_account(task, user=41))
        stack.enter_context(meanwhile(postgres_url, count_on))

    with store.transaction() as transaction:
        account = transaction.account(task.key)
    assert account is not None
    assert 42 == account.user
    store.close()


@pytest.mark.parametrize("end", ["done", "bury", "group"])
def test_a_row_that_comes_while_the_one_before_it_goes_is_not_left_behind(postgres_url, end):
    """A report and the end of the task's last delivery may meet: the next row is ready after."""
    store = open_store(postgres_url)
    with store.transaction() as transaction:
        transaction.save_account(an_account(a_task()))
        transaction.enqueue(an_event(a_task()), ["log"], NOW)
    (row,) = store.claim("log", now=NOW, lease=60, limit=9, owner="me")
    ends = {
        "done": lambda: store.done([row.id]),
        "bury": lambda: store.bury([row.id], error="no", now=NOW, owner="me"),
        "group": lambda: store.group(row.id, [Group("g", NOW)], owner="me"),
    }

    with ExitStack() as stack, store.transaction() as transaction:
        transaction.enqueue(an_event(a_task(attempt=2)), ["log"], NOW)
        stack.enter_context(meanwhile(postgres_url, ends[end]))

    (following,) = store.claim("log", now=NOW, lease=60, limit=9, owner="me")
    assert an_event(a_task(attempt=2)) == following.event
    store.close()


def test_several_drainers_keep_the_order_of_each_task(postgres_url, tmp_path):
    """While tasks are reported, each plugin hears of each attempt once, and of a task in order."""
    store, journal = open_store(postgres_url), tmp_path / "journal"
    journal.touch()
    tasks, attempts = 4, 10
    expected = 2 * tasks * attempts

    def reporting(run):
        def work():
            for attempt in range(1, attempts + 1):
                for number in range(tasks):
                    task = a_task(f"t{number}", attempt=attempt, run_id=run)
                    with store.transaction() as transaction:
                        transaction.account(task.key)
                        transaction.save_account(an_account(task))
                        transaction.enqueue(an_event(task), ["log"], NOW)

        return work

    def delivering(owner):
        def work():
            with journal.open("ab", buffering=0) as file:
                while journal.read_bytes().count(b"\n") < expected:
                    for row in store.claim("log", now=NOW, lease=600, limit=5, owner=owner):
                        file.write(f"{row.event.task.key} {row.event.task.attempt}\n".encode())
                        store.done([row.id])

        return work

    together(*map(reporting, "ab"), *map(delivering, "cde"))

    heard = {}
    for line in journal.read_text("utf-8").splitlines():
        key, _, attempt = line.rpartition(" ")
        heard.setdefault(key, []).append(int(attempt))
    assert [list(range(1, attempts + 1))] * 2 * tasks == list(heard.values())
    assert 0 == store.pending()
    store.close()


def test_a_process_that_is_killed_leaves_nothing_half_written(postgres_url):
    """What was committed is there, what was not is gone, and nothing stays locked."""
    store = open_store(postgres_url)

    def work():
        report(store, "committed")
        with store.transaction() as transaction:
            transaction.save_account(an_account(a_task("unfinished")))
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(AssertionError):
        together(work)

    report(store, "unfinished")
    assert ["committed", "unfinished"] == names_of(store)
    store.close()


def hammer(where, seed):
    """Do anything at all to a few tasks, with leases that end while they are held."""
    store, dice = open_store(where, Bounds(events=60)), random.Random(seed)
    held = {}
    for number in range(ROUNDS):
        now = NOW + timedelta(seconds=number)
        plugin, owner = dice.choice(PLUGINS), f"{seed}-{dice.randrange(2)}"
        ids, group = held.pop((plugin, owner), ((), None))
        what = dice.choice([*["report"] * 4, *["claim"] * 3, *["done"] * 4, *_RARE])
        if what == "report":
            _report_next(store, a_task(f"t{dice.randrange(6)}"))
        elif what == "claim":
            claimed = store.claim(plugin, now=now, lease=2, limit=4, owner=owner)
            held[plugin, owner] = [row.id for row in claimed], None
        elif what == "claim group":
            due = store.claim_group(plugin, now=now, lease=2, limit=2, owner=owner)
            held[plugin, owner] = (), due
        elif what == "group":
            for row in ids:
                keys = dice.sample("abc", dice.randint(1, 3))
                store.group(row, [Group(key, now) for key in keys], owner=owner)
        elif what in {"done", "retry", "bury"}:
            _end(store, what, ids, group, owner=owner, now=now)
        else:
            _care(store, what, plugin, owner=owner, now=now)
    store.close()


_RARE = (
    *("claim group", "claim group", "group", "group", "retry", "bury"),
    *("revive", "renew", "release", "drop", "tell", "forget"),
)


def _report_next(store, task):
    with store.transaction() as transaction:
        account = transaction.account(task.key) or an_account(task, last_attempt=0)
        attempt = account.last_attempt + 1
        transaction.save_account(account._replace(last_attempt=attempt))
        transaction.enqueue(an_event(a_task(task.name, attempt=attempt)), PLUGINS, NOW)


def _end(store, what, ids, group, *, owner, now):
    if what == "done":
        store.done(ids)
        if group:
            store.settle(group, Handled(again_at=now if len(ids) % 2 else None), now=now)
    elif what == "retry":
        store.retry(ids, not_before=now, error="busy", owner=owner)
        if group:
            store.retry_group(group, not_before=now, error="busy", owner=owner)
    else:
        store.bury(ids, error="no", now=now, owner=owner)
        if group:
            store.bury_group(group, error="no", now=now, owner=owner)


def _care(store, what, plugin, *, owner, now):
    if what == "revive":
        store.revive([letter.id for letter in store.dead_letters(plugin)], now)
    elif what == "drop":
        store.drop([letter.id for letter in store.dead_letters(plugin, limit=1)])
    elif what == "renew":
        store.renew(plugin, owner=owner, until=now)
    elif what == "release":
        store.release(owner)
    elif what == "tell":
        for dropped in store.drops():
            store.told(dropped)
    else:
        store.forget(now)


LEFT_BEHIND = {
    "a row that nothing holds back is not ready, or one that something does is": """
        SELECT id FROM {schema}.outbox WHERE ready <> (
            died_at IS NULL AND group_key = '' AND NOT EXISTS (
                SELECT FROM {schema}.outbox AS older
                WHERE older.task_key = outbox.task_key AND older.plugin = outbox.plugin
                    AND older.died_at IS NULL AND older.group_key = ''
                    AND older.id < outbox.id))::int""",
    "a row without its event": """
        SELECT id FROM {schema}.outbox
        WHERE NOT EXISTS (SELECT FROM {schema}.events WHERE events.id = outbox.event)""",
    "an event without a row": """
        SELECT id FROM {schema}.events
        WHERE NOT EXISTS (SELECT FROM {schema}.outbox WHERE outbox.event = events.id)""",
    "a row in a group that has ended": """
        SELECT id FROM {schema}.outbox WHERE group_key <> '' AND NOT EXISTS (
            SELECT FROM {schema}.event_groups AS groups
            WHERE groups.plugin = outbox.plugin AND groups.group_key = outbox.group_key
                AND groups.due_at IS NOT NULL)""",
}


def test_nothing_is_left_behind_whatever_happens_at_once(postgres_url):
    """No mix of reports, deliveries, lost leases, groups and drops leaves a row stuck or torn."""
    store = open_store(postgres_url)
    together(*[lambda seed=seed: hammer(postgres_url, seed) for seed in range(4)])

    with store._database.reading() as cursor:
        schema = store._database.url.schema
        found = {
            what: cursor.execute(query.replace("{schema}", schema)).fetchall()
            for what, query in LEFT_BEHIND.items()
        }
    assert {what: [] for what in LEFT_BEHIND} == found
    store.close()
