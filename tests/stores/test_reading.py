"""What every store answers to people: history, jobs, tallies, what is forgotten, and its health."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from failhook.decision import Charge
from failhook.details import Kind
from failhook.gate.ledger import AttemptState
from failhook.groups import Group, Handled
from failhook.outbox.port import HookCalls
from failhook.outbox.reading import Tally
from failhook.task import Task
from tests.stores.rows import after, claim, claim_group, put
from tests.stores.samples import (
    DECISION,
    DETAILS,
    LATER,
    NOW,
    a_failed_attempt,
    a_task,
    an_account,
    an_event,
    an_open_attempt,
)

SIDES = ("kind", "reason", "node", "owner", "workflow")
RUN_1, RUN_2 = {"run_id": "1"}, {"run_id": "2"}


def keep(store, *attempts, closed="failed"):
    """Save attempts and the accounts of their tasks."""
    with store.transaction() as transaction:
        for attempt in attempts:
            transaction.save_attempt(attempt)
            transaction.save_account(an_account(attempt.task, closed=closed))


def failed(task, *, at=NOW, ran=None, details=None, charge=Charge.USER):
    """An attempt that failed at a time, after so many seconds."""
    return a_failed_attempt(task)._replace(
        opened_at=None if ran is None else at - timedelta(seconds=ran),
        closed_at=at,
        details=replace(DETAILS, **(details or {})),
        decision=replace(DECISION, charge=charge),
        moved_to=None,
    )


def test_the_history_of_one_run_is_its_newest_attempts(store):
    """Asked by its key, a run gives its own attempts, oldest first, no more than the limit."""
    expected = [
        an_open_attempt(a_task(attempt=number, **RUN_1), opened_at=after(number))
        for number in (1, 2, 3)
    ]
    keep(store, *expected, an_open_attempt(a_task(**RUN_2)))

    assert expected == list(store.history(expected[0].task.key, limit=9))
    assert expected[1:] == list(store.history(expected[0].task.key, limit=2))
    assert [] == list(store.history("default/nightly/nothing/1/1", limit=9))


def test_the_history_of_a_job_covers_its_runs_and_namespaces(store):
    """Asked by its job key a task gives all runs; by workflow and name those of any namespace."""
    first = an_open_attempt(a_task(**RUN_1), opened_at=after(1))
    second = an_open_attempt(a_task(**RUN_2), opened_at=after(2))
    elsewhere = an_open_attempt(a_task(namespace="prod", **RUN_1), opened_at=after(3))
    similar = an_open_attempt(a_task("load2", **RUN_1), opened_at=after(4))
    keep(store, first, second, elsewhere, similar)

    assert [first, second] == list(store.history("default/nightly/load", limit=9))
    assert [second] == list(store.history("default/nightly/load", limit=1))
    assert [first, second, elsewhere] == list(store.history("nightly/load", limit=9))
    assert [] == list(store.history("ightly/load", limit=9))
    assert [] == list(store.history("load", limit=9))


def test_jobs_are_those_that_began_last_first(store):
    """A job that began again is new again; no more than the limit come."""
    for number, (name, run) in enumerate((("a", "1"), ("b", "1"), ("c", "1"), ("a", "2"))):
        keep(store, an_open_attempt(a_task(name, run_id=run), opened_at=after(number)))

    assert ["default/nightly/a", "default/nightly/c", "default/nightly/b"] == list(
        store.jobs(limit=9)
    )
    assert ["default/nightly/a"] == list(store.jobs(limit=1))


def test_failures_are_counted_by_each_side(store):
    """Attempts, tasks, those of infrastructure with their hours, and refunds, most first."""
    bug = {"kind": Kind.APPLICATION, "reason": "UserException", "node": None}
    other = Task("a/b", "b", run_id="1")
    keep(
        store,
        failed(a_task("a"), ran=3600, charge=Charge.INFRA),
        failed(a_task("a", attempt=2), ran=0.5),
        failed(other, details=bug, ran=60),
        failed(other.next_attempt(), details={"node": "n2"}),
        failed(a_task("old"), at=NOW - timedelta(microseconds=1)),
        an_open_attempt(a_task("open")),
        failed(a_task("well"))._replace(state=AttemptState.SUCCEEDED),
    )

    assert {
        "kind": [Tally("infra", 3, 2, 3, 3600.5, 1), Tally("application", 1, 1, 0, 0.0, 0)],
        "reason": [
            Tally("KilledBySignal", 3, 2, 3, 3600.5, 1),
            Tally("UserException", 1, 1, 0, 0.0, 0),
        ],
        "node": [
            Tally("node-7", 2, 1, 2, 3600.5, 1),
            Tally("", 1, 1, 0, 0.0, 0),
            Tally("n2", 1, 1, 1, 0.0, 0),
        ],
        "owner": [
            Tally("", 2, 1, 1, 0.0, 0),
            Tally("data@example.org", 2, 1, 2, 3600.5, 1),
        ],
        "workflow": [Tally("a/b", 2, 1, 1, 0.0, 0), Tally("nightly", 2, 1, 2, 3600.5, 1)],
    } == {
        side: list(store.tally(side, NOW))
        for side in ("kind", "reason", "node", "owner", "workflow")
    }
    assert [] == list(store.tally("kind", LATER))


def test_a_clock_that_was_set_back_gives_no_negative_hours(store):
    """An attempt that seems to have ended before it began has run for no time."""
    keep(store, failed(a_task(), ran=-60))

    assert [0.0] == [tally.infra_seconds for tally in store.tally("kind", NOW)]


@pytest.mark.parametrize("closed", ["failed", "succeeded"])
def test_what_ended_long_ago_is_forgotten(store, closed):
    """A task that ended, well or for good, goes with its attempts; one that ended later stays."""
    old, recent = failed(a_task("old")), failed(a_task("recent"), at=LATER)
    keep(store, old, recent, closed=closed)

    assert 1 == store.forget(LATER)
    assert 0 == store.forget(LATER)

    with store.transaction() as transaction:
        assert None is transaction.account(old.task.key)
        assert [] == list(transaction.attempts(old.task.key))
        assert [recent] == list(transaction.attempts(recent.task.key))


def test_what_goes_on_or_waits_for_somebody_is_not_forgotten(store):
    """Open, on hold, between two attempts, or with an event to deliver: it stays, however old."""
    keep(store, failed(a_task("held")), closed="held")
    keep(store, failed(a_task("between")), closed="")
    keep(store, an_open_attempt(a_task("open")), closed="failed")
    keep(store, failed(a_task("waiting")), failed(a_task("dead")))
    put(store, an_event(a_task("waiting")), an_event(a_task("dead")))
    _, dead = claim(store)
    store.bury([dead.id], error="no", now=NOW, owner="me")

    assert 0 == store.forget(LATER + timedelta(days=365))

    store.drop([dead.id])
    assert 1 == store.forget(LATER)


def test_what_the_log_says_of_groups_is_forgotten_in_time(store):
    """A group that ended before then is new when it comes again; one that waits keeps its note."""
    for key, again_at in (("ended", None), ("waits", LATER)):
        put(store, an_event(a_task(key)))
        (row,) = claim(store)
        store.group(row.id, [Group(key, NOW)], owner="me")
        store.settle(claim_group(store), Handled(note=key, again_at=again_at), now=after(1))

    store.forget(after(1))
    assert ["ended"] == [group.note for group in regrouped(store, "ended")]
    store.forget(LATER)

    assert [""] == [group.note for group in regrouped(store, "ended", attempt=2)]
    assert "waits" == claim_group(store, now=LATER).note


def regrouped(store, key, attempt=1):
    """Put another event into a group that ended, and hand it over."""
    put(store, an_event(a_task(f"again {attempt}")))
    (row,) = claim(store)
    store.group(row.id, [Group(key, NOW)], owner="me")
    group = claim_group(store)
    store.settle(group, Handled(note=group.note), now=after(1))
    return [group]


def test_a_store_says_how_much_it_knows(store):
    """An examination tells where the store is and how many tasks it knows."""
    keep(store, failed(a_task("a")), failed(a_task("b")))

    report = store.examine(NOW)

    assert 2 == report.tasks
    assert report.where


def test_a_clock_that_jumped_is_seen(store):
    """A record of what has not happened yet means that some clock is wrong."""
    keep(store, failed(a_task("a"), at=LATER))

    def told(now):
        return [problem for problem in store.examine(now).problems if "newest record" in problem]

    assert [] == told(LATER - timedelta(minutes=5))
    (problem,) = told(NOW)
    assert "2026-03-29T02:59:59" in problem
    assert "set the clocks" in problem


def test_calls_of_hooks_add_up(store):
    """Per plugin, hook and host: the counts of all processes, and what happened last."""
    store.note_calls(
        [
            HookCalls("log", "on_task_failed", "here", 1, after(1), after(1), delivered=2),
            HookCalls("log", "on_task_failed", "there", 7, after(1), None, failed=1, error="boom"),
        ]
    )
    store.note_calls(
        [
            HookCalls("log", "on_task_failed", "here", 2, after(3), None, 1, 2, 3, 1, "late\x00"),
            HookCalls("alerts", "on_group_due", "here", 2, after(3), after(2), delivered=1),
        ]
    )
    store.note_calls(
        [HookCalls("log", "on_task_failed", "here", 1, after(2), after(2), delivered=1)]
    )

    alerts, here, there = store.calls()

    assert HookCalls("alerts", "on_group_due", "here", 2, after(3), after(2), 1) == alerts
    assert ("here", 2, after(3), after(2)) == (
        *(here.host, here.pid, here.called_at, here.delivered_at),
    )
    assert (4, 2, 3, 1) == (here.delivered, here.undelivered, here.failed, here.slow)
    assert here.error.startswith("late")
    assert (
        HookCalls("log", "on_task_failed", "there", 7, after(1), None, 0, 0, 1, 0, "boom") == there
    )


def test_a_refund_is_counted_where_it_stands_after_an_amendment(store):
    """A charge that moved comes back as it was saved, and counts for the budget that pays now."""
    moved = failed(a_task("a"), charge=Charge.USER)._replace(revision=1, moved_to=Charge.INFRA)
    keep(store, moved, failed(a_task("b"), charge=Charge.INFRA)._replace(moved_to=Charge.USER))

    assert [1] == [tally.refunds for tally in store.tally("kind", NOW)]
    assert [moved] == list(store.history(moved.task.key, limit=9))


def test_what_failed_lately_is_listed_oldest_first(store):
    """Of every task, the newest of those that failed since then; nothing else."""
    failures = [
        failed(a_task("a"), at=after(1)),
        failed(a_task("b", attempt=2), at=after(2)),
        failed(a_task("a", attempt=2), at=after(3)),
    ]
    well = failed(a_task("well"), at=after(4))._replace(state=AttemptState.SUCCEEDED)
    keep(store, failures[2], an_open_attempt(a_task("open")), failures[0], well, failures[1])

    assert failures[1:] == list(store.failures(after(2), limit=9))
    assert failures[1:] == list(store.failures(NOW, limit=2))
    assert [] == list(store.failures(after(9), limit=2))
