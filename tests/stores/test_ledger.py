"""What every store promises of its ledger and its transactions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from failhook.gate.ledger import MOST_LAST_FAILURES, AttemptState, LastFailure, Owner
from tests.stores.samples import (
    LATER,
    NOW,
    a_failed_attempt,
    a_task,
    an_account,
    an_event,
    an_open_attempt,
)


def saved(store, *attempts):
    """Save attempts in one transaction."""
    with store.transaction() as transaction:
        for attempt in attempts:
            transaction.save_attempt(attempt)


def test_nothing_is_known_of_a_task_that_nobody_reported(store):
    """An unknown key gives None and no attempts, whatever it looks like."""
    with store.transaction() as transaction:
        assert None is transaction.account("nobody")
        assert None is transaction.attempt("nobody")
        assert None is transaction.attempt(a_task().attempt_key)
        assert [] == list(transaction.attempts("nobody"))
        assert [] == list(transaction.open_attempts())


def test_an_account_comes_back_as_it_was_saved(store):
    """Every field of an account survives, to the microsecond."""
    account = an_account(a_task())
    with store.transaction() as transaction:
        transaction.save_account(account)
        assert account == transaction.account(account.key)

    with store.transaction() as transaction:
        assert account == transaction.account(account.key)


def test_a_bare_account_comes_back_as_it_was_saved(store):
    """What was never set stays unset."""
    account = an_account(
        a_task(), first_started_at=None, first_failure=None, first_error="", closed=""
    )
    with store.transaction() as transaction:
        transaction.save_account(account)

    with store.transaction() as transaction:
        assert account == transaction.account(account.key)


@pytest.mark.parametrize(
    "make", [an_open_attempt, a_failed_attempt, lambda task: an_open_attempt(task, owner=None)]
)
def test_an_attempt_comes_back_as_it_was_saved(store, make):
    """Every field of an attempt survives, open or failed, with an owner or without."""
    attempt = make(a_task(map_index=3, generation=2, attempt=11))
    with store.transaction() as transaction:
        transaction.save_attempt(attempt)
        assert attempt == transaction.attempt(attempt.task.attempt_key)

    with store.transaction() as transaction:
        assert attempt == transaction.attempt(attempt.task.attempt_key)


def test_saving_again_replaces(store):
    """An account or attempt that is saved again holds the newer values only."""
    task = a_task()
    saved(store, an_open_attempt(task))
    with store.transaction() as transaction:
        transaction.save_account(an_account(task, user=1))
        transaction.save_account(an_account(task, user=2))
        transaction.save_attempt(a_failed_attempt(task))

    with store.transaction() as transaction:
        assert an_account(task, user=2) == transaction.account(task.key)
        assert [a_failed_attempt(task)] == list(transaction.attempts(task.key))


def test_attempts_come_first_to_last(store):
    """Attempts of one task come in the order of their numbers, without any other task's."""
    expected = [an_open_attempt(a_task(attempt=number)) for number in (1, 2, 9, 10, 11)]
    saved(store, *reversed(expected[1:]), an_open_attempt(a_task("other")))

    with store.transaction() as transaction:
        transaction.save_attempt(expected[0])
        assert expected == list(transaction.attempts(a_task().key))


def test_open_attempts_are_those_that_nobody_closed(store):
    """Open attempts come oldest first, of all hosts or of one, without those that are closed."""
    here, there = Owner("here", 1), Owner("there", 2)
    newer = an_open_attempt(a_task("newer"), owner=here, opened_at=LATER)
    older = an_open_attempt(a_task("older"), owner=there, opened_at=NOW)
    closed = an_open_attempt(a_task("closed"), owner=here)
    saved(store, newer, older, closed)
    saved(store, closed._replace(state=AttemptState.SUCCEEDED, closed_at=LATER))

    with store.transaction() as transaction:
        assert [older, newer] == list(transaction.open_attempts())
        assert [newer] == list(transaction.open_attempts("here"))
        transaction.save_attempt(newer._replace(state=AttemptState.FAILED))
        assert [] == list(transaction.open_attempts("here"))


class Boom(BaseException):
    """Not even an Exception."""


def test_held_accounts_are_those_on_hold(store):
    """Whoever asks what waits for a person sees each such task, also one of this transaction."""
    held, failed = a_task("held"), a_task("failed")
    with store.transaction() as ledger:
        ledger.save_account(an_account(held, closed="held"))
        ledger.save_account(an_account(failed, closed="failed"))
        assert [held.key] == [account.key for account in ledger.held_accounts()]
    with store.transaction() as ledger:
        assert [an_account(held, closed="held")] == list(ledger.held_accounts())
        ledger.save_account(an_account(held, closed=""))
    with store.transaction() as ledger:
        assert [] == list(ledger.held_accounts())


def test_between_attempts_are_those_that_are_granted_another(store):
    """Their last attempt failed, nothing closed them, and the next has not begun."""
    between, running, ended, other = map(a_task, ("between", "running", "ended", "other"))
    with store.transaction() as ledger:
        for task, closed in ((between, ""), (running, ""), (ended, "failed"), (other, "held")):
            ledger.save_attempt(a_failed_attempt(task))
            ledger.save_account(an_account(task, closed=closed))
        ledger.save_attempt(an_open_attempt(running.next_attempt()))
        ledger.save_account(an_account(running.next_attempt(), closed=""))
        assert [between.key] == [account.key for account in ledger.between_attempts()]
    with store.transaction() as ledger:
        assert [an_account(between, closed="")] == list(ledger.between_attempts())
        ledger.save_attempt(an_open_attempt(between.next_attempt()))
        ledger.save_account(an_account(between.next_attempt(), closed=""))
        assert [] == list(ledger.between_attempts())


def test_a_raise_inside_the_block_changes_nothing(store):
    """Ledger and outbox are as they were before a transaction that raised."""
    task = a_task()
    before = an_account(task, user=0)
    with store.transaction() as transaction:
        transaction.save_account(before)
        transaction.save_attempt(an_open_attempt(task))
        transaction.enqueue(an_event(task), ["log"], NOW)

    def fail_half_way():
        with store.transaction() as transaction:
            transaction.save_account(an_account(task, user=1))
            transaction.save_attempt(a_failed_attempt(task))
            transaction.save_attempt(an_open_attempt(a_task("new")))
            transaction.enqueue(an_event(task, revision=1), ["log", "other"], NOW)
            raise Boom

    with pytest.raises(Boom):
        fail_half_way()

    with store.transaction() as transaction:
        assert before == transaction.account(task.key)
        assert [an_open_attempt(task)] == list(transaction.open_attempts())
        assert None is transaction.attempt(a_task("new").attempt_key)
    assert 1 == store.pending()
    assert 0 == store.pending(["other"])


def test_threads_do_not_lose_each_others_changes(store):
    """Reading an account, deciding and writing it back is one step, whatever other threads do."""
    task = a_task()
    rounds = 50

    def count(thread):
        for _ in range(rounds):
            with store.transaction() as transaction:
                account = transaction.account(task.key) or an_account(task, user=0)
                transaction.save_account(account._replace(user=account.user + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))

    with store.transaction() as transaction:
        assert 4 * rounds == transaction.account(task.key).user


def test_a_plugins_state_is_its_own(store):
    """A value is kept under plugin and key, replaced by a newer one, and forgotten by None."""
    store.put_state("alerts", "thread", "1")
    store.put_state("alerts", "thread", "2")
    store.put_state("other", "thread", "\N{SNOWMAN}")

    assert "2" == store.get_state("alerts", "thread")
    assert "\N{SNOWMAN}" == store.get_state("other", "thread")
    assert None is store.get_state("alerts", "nothing")

    store.put_state("alerts", "thread", None)
    store.put_state("alerts", "never", None)

    assert None is store.get_state("alerts", "thread")


def test_a_plugins_state_is_listed_by_the_beginning_of_its_keys(store):
    """Of that plugin alone, and with no character of a pattern meaning anything."""
    for key in ("job/a%/1", "job/a%/2", "job/a_/1", "job/b/1", "job/a%"):
        store.put_state("alerts", key, f"value of {key}")
    store.put_state("other", "job/a%/3", "another's")

    found = store.state_items("alerts", "job/a%/")

    assert {"job/a%/1": "value of job/a%/1", "job/a%/2": "value of job/a%/2"} == found
    assert ["job/a%", "job/a%/1", "job/a%/2", "job/a_/1", "job/b/1"] == list(
        store.state_items("alerts", "")
    )
    assert {} == store.state_items("nobody", "")


def test_any_text_is_a_value_of_a_plugin(store):
    """What no UTF-8 writer accepts comes back as it was, also under such a key."""
    odd = "a\x00\udc80\n\N{SNOWMAN}"
    store.put_state("alerts", odd, odd)

    assert odd == store.get_state("alerts", odd)
    store.put_state("alerts", odd, None)
    assert None is store.get_state("alerts", odd)


def test_times_are_exact_and_sort(store):
    """Attempts opened a microsecond apart, in any zone, come in the order they were opened."""
    zone = (NOW + timedelta(microseconds=1)).astimezone(tz=None)
    second, first = (
        an_open_attempt(a_task("second"), opened_at=zone),
        an_open_attempt(a_task("first"), opened_at=NOW),
    )
    saved(store, second, first)

    with store.transaction() as transaction:
        assert [first, second] == list(transaction.open_attempts())


def test_text_that_no_utf8_writer_accepts_is_kept(store):
    """A broken owner or error line is no reason to lose an attempt."""
    task = a_task(owner="o\udc80", labels={"l\udc80": "\x00"})
    saved(store, a_failed_attempt(task)._replace(error_line="E: \udc80"))

    with store.transaction() as transaction:
        assert task == transaction.attempt(task.attempt_key).task


def test_the_last_failures_of_a_job_are_each_runs_newest_and_are_forgotten_once(store):
    """Whoever reports it last; of two that recover from one of them one is told so."""
    newer, older = LastFailure("a/b/c", "a/b/c/2/1", LATER), LastFailure("a/b/c", "a/b/c/1/1", NOW)
    beside = LastFailure("a/b/d", "a/b/d/1/1", NOW)
    with store.transaction() as transaction:
        for failure in (newer, older, newer._replace(failed_at=NOW), beside):
            transaction.save_last_failure(failure)
    with store.transaction() as transaction:
        assert [newer, older] == transaction.last_failures("a/b/c")
        assert not transaction.forget_last_failure(newer._replace(failed_at=NOW))
        assert transaction.forget_last_failure(newer)
        assert not transaction.forget_last_failure(newer)
    with store.transaction() as transaction:
        assert [older] == transaction.last_failures("a/b/c")
        assert [beside] == transaction.last_failures("a/b/d")

    store.forget(LATER)

    with store.transaction() as transaction:
        assert [] == transaction.last_failures("a/b/d")


def test_a_job_that_always_fails_is_known_by_its_newest_failures_alone(store):
    """What is kept of it does not grow with its runs."""
    failures = [
        LastFailure("a/b/c", f"a/b/c/{number}/1", NOW + timedelta(seconds=number))
        for number in range(MOST_LAST_FAILURES + 2)
    ]
    with store.transaction() as transaction:
        for failure in failures:
            transaction.save_last_failure(failure)
    with store.transaction() as transaction:
        assert failures[:1:-1] == transaction.last_failures("a/b/c")
