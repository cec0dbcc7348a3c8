"""What every store promises of its outbox."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from failhook.error_info import ErrorInfo
from failhook.groups import Group
from tests.stores.rows import after, bury, claim, events, ids, names, put, retry
from tests.stores.samples import LATER, NOW, a_task, an_event


def test_each_plugin_gets_each_event(store):
    """One row per plugin waits, whole, until that plugin has taken it."""
    event = an_event(a_task())
    put(store, event, plugins=["log", "alerts"])

    (for_log,) = claim(store, "log")
    (for_alerts,) = claim(store, "alerts")

    assert [event, event] == [for_log.event, for_alerts.event]
    assert ("log", 0, event.event_id) == (for_log.plugin, for_log.tries, for_log.event_id)
    assert "" == for_log.unreadable
    store.done([for_log.id])
    assert (0, 1) == (store.pending(["log"]), store.pending(["alerts"]))
    store.done([for_alerts.id])
    assert 0 == store.pending()
    assert [] == list(claim(store, "alerts", now=LATER))


def test_no_live_exception_waits(store):
    """A delivery from the store never holds the exception object, nor its frames."""
    put(store, an_event(a_task(), error=ErrorInfo(type="E", exception=ValueError("a"))))

    (delivery,) = claim(store)

    assert "E" == delivery.event.error.type
    assert None is delivery.event.error.exception


def test_an_event_already_there_adds_nothing(store):
    """Enqueued again, in one transaction or the next, leased or dead, an event stays one row."""
    event = an_event(a_task())
    put(store, event, event, plugins=["log", "log"])
    put(store, event, plugins=["log", "late"])
    assert 2 == store.pending()

    (delivery,) = claim(store)
    put(store, event)
    assert 1 == store.pending(["log"])

    bury(store, [delivery.id])
    put(store, event)
    assert 0 == store.pending(["log"])
    assert [event] == events(claim(store, "late"))


def test_a_leased_row_is_nobody_elses_until_the_lease_expires(store):
    """Before its lease ends a row is handed to nobody, at its end to anybody."""
    put(store, an_event(a_task()))
    (first,) = claim(store, lease=60, owner="first")

    assert [] == list(claim(store, now=after(59.999999), owner="second"))
    (second,) = claim(store, now=after(60), owner="second")

    assert first.id == second.id
    assert [] == list(claim(store, now=after(61), owner="first"))


def test_a_renewed_lease_lasts_longer(store):
    """Its owner may prolong a lease; nobody else's, and no other plugin's, is."""
    for plugin in ("log", "alerts"):
        put(store, an_event(a_task("a")), an_event(a_task("b")), plugins=[plugin])
        claim(store, plugin, limit=1, owner="slow")
        claim(store, plugin, owner="other")

    store.renew("log", owner="slow", until=after(300))
    store.renew("log", owner="nobody", until=after(900))

    assert ["b"] == names(claim(store, now=after(60), lease=600))
    assert ["a"] == names(claim(store, now=after(300)))
    assert ["a"] == names(claim(store, "alerts", now=after(60)))
    assert ["b"] == names(claim(store, "alerts", now=after(60)))


def test_threads_never_hold_the_same_row(store):
    """However many claim at once, each row is handed out once."""
    put(store, *(an_event(a_task(f"t{number}")) for number in range(100)))

    def drain(owner):
        found = []
        while batch := claim(store, limit=3, owner=owner):
            found += ids(batch)
        return found

    with ThreadPoolExecutor(4) as pool:
        found = [row for rows in pool.map(drain, "abcd") for row in rows]

    assert 100 == len(found) == len(set(found))


def test_threads_that_report_and_deliver_leave_nothing_stuck(store):
    """While some add events to the same tasks, others deliver: each arrives once, in order."""
    rounds = 25

    def report(task):
        for attempt in range(1, 1 + rounds):
            put(store, an_event(a_task(task, attempt=attempt)), plugins=["log", "alerts"])

    def deliver(plugin):
        found = []
        while len(found) < 2 * rounds:
            batch = claim(store, plugin, limit=3, owner=plugin)
            found += [(row.event.task.name, row.event.task.attempt) for row in batch]
            store.done(ids(batch))
        return found

    with ThreadPoolExecutor(4) as pool:
        reporting = [pool.submit(report, task) for task in "ab"]
        delivering = [pool.submit(deliver, plugin) for plugin in ("log", "alerts")]
        for each in reporting:
            each.result()
        delivered = [each.result() for each in delivering]

    for found in delivered:
        for task in "ab":
            expected = [(task, attempt) for attempt in range(1, 1 + rounds)]
            assert expected == [row for row in found if row[0] == task]
    assert 0 == store.pending()


def test_of_one_task_only_the_oldest_is_handed_out(store):
    """A plugin hears of one task in order: the next row waits for the one before it."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    other = an_event(a_task("other"))
    put(store, first)
    put(store, second, other, now=after(1))

    batch = claim(store, now=LATER)
    assert [first, other] == events(batch)
    assert [] == list(claim(store, now=LATER, owner="second"))

    retry(store, ids(batch), at=LATER + timedelta(seconds=9))
    assert [] == list(claim(store, now=LATER + timedelta(seconds=8)))

    store.done([batch[0].id])
    assert [second] == events(claim(store, now=LATER))


def test_a_dead_letter_holds_nobody_back(store):
    """When the oldest row of a task dies, the next one goes."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    put(store, first, second)
    (delivery,) = claim(store)

    bury(store, [delivery.id])

    assert [second] == events(claim(store))


def test_what_comes_later_waits_for_no_dead_or_grouped_row(store):
    """A new event of a task goes at once when the task's older ones are dead or in a group."""
    put(store, an_event(a_task(attempt=1)))
    (row,) = claim(store)
    bury(store, [row.id])
    put(store, an_event(a_task(attempt=2)))
    (row,) = claim(store)
    store.group(row.id, [Group("g", LATER)], owner="me")

    put(store, an_event(a_task(attempt=3)))

    assert [an_event(a_task(attempt=3))] == events(claim(store))


def test_tasks_do_not_wait_for_each_other(store):
    """A row that is retried later lets the rows of other tasks pass."""
    put(store, an_event(a_task("a")))
    (slow,) = claim(store)
    retry(store, [slow.id], at=LATER)
    put(store, an_event(a_task("b")), now=after(5))

    assert ["b"] == names(claim(store, now=after(5)))


def test_a_batch_has_no_more_than_its_limit_and_the_longest_due_first(store):
    """A claim takes at most `limit` rows, those that are due longest."""
    for number in range(5):
        put(store, an_event(a_task(f"t{number}")), now=after(5 - number))

    assert ["t4", "t3"] == names(claim(store, now=LATER, limit=2))


def test_a_retried_row_counts_its_tries(store):
    """A row given back for a retry comes at its time, with one try more."""
    put(store, an_event(a_task()))
    for tries in range(3):
        (delivery,) = claim(store, now=after(10 * tries))
        assert tries == delivery.tries
        retry(store, [delivery.id], at=after(10 * tries + 10))
        assert [] == list(claim(store, now=after(10 * tries + 9)))


def test_a_closing_owner_gives_back_what_it_holds(store):
    """Released rows are due at once, untried, and nobody else's lease is touched."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    (mine,) = claim(store, limit=1, owner="me")
    claim(store, owner="other")

    store.release("me")
    store.release("nobody")

    (again,) = claim(store, owner="next")
    assert (mine.id, 0) == (again.id, again.tries)


def test_an_owner_may_give_back_the_rows_of_one_plugin(store):
    """A lane that ends gives back its own plugin's rows alone."""
    put(store, an_event(a_task()), plugins=["log", "alerts"])
    claim(store, "log")
    claim(store, "alerts")

    store.release("me", "log")

    assert [] == list(store.holders("log"))
    assert ["me"] == list(store.holders("alerts"))
    assert 1 == len(claim(store, "log", owner="next"))
    assert [] == list(claim(store, "alerts", owner="next"))


def test_holders_are_those_who_hold_something(store):
    """The owners of leases are told per plugin, also when a lease has expired."""
    put(store, an_event(a_task("a")), an_event(a_task("b")), plugins=["log", "alerts"])
    (first,) = claim(store, limit=1, owner="one")
    claim(store, limit=1, owner="two", lease=0)

    assert ["one", "two"] == sorted(store.holders("log"))
    assert [] == list(store.holders("alerts"))

    store.done([first.id])
    assert ["two"] == list(store.holders("log"))


@pytest.mark.parametrize("what", ["retry", "bury", "group"])
def test_what_is_done_under_a_lost_lease_changes_nothing(store, what):
    """Whose lease has passed to another can neither put off, bury nor group what that one holds."""
    put(store, an_event(a_task()))
    (late,) = claim(store, lease=0, owner="late")
    (held,) = claim(store, owner="holder")

    {
        "retry": lambda: retry(store, [late.id], at=LATER, owner="late"),
        "bury": lambda: bury(store, [late.id], owner="late"),
        "group": lambda: store.group(late.id, [Group("g", NOW)], owner="late"),
    }[what]()

    assert ["holder"] == list(store.holders("log"))
    assert [] == list(store.dead_letters())
    retry(store, [held.id], owner="holder")
    (again,) = claim(store)
    assert (held.id, 1) == (again.id, again.tries)


def test_what_was_delivered_is_delivered_whoever_says_so(store):
    """A late word that a row was delivered holds, also when another has it, or has given it up."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    first, second = claim(store, lease=0, owner="late")
    claim(store, owner="holder")
    bury(store, [second.id], owner="holder")

    store.done([first.id, second.id])

    assert 0 == store.pending()
    assert [] == list(store.dead_letters())
    assert [] == list(store.holders("log"))


@pytest.mark.parametrize("what", ["retry", "bury", "group", "done"])
def test_a_row_that_is_gone_is_left_alone(store, what):
    """Whoever comes back after its lease ran out and the row was delivered changes nothing."""
    put(store, an_event(a_task("a")))
    (late,) = claim(store)
    store.done([late.id])
    put(store, an_event(a_task("b")))

    {
        "retry": lambda: retry(store, [late.id], at=LATER),
        "bury": lambda: bury(store, [late.id]),
        "group": lambda: store.group(late.id, [Group("g", NOW)], owner="me"),
        "done": lambda: store.done([late.id]),
    }[what]()

    assert [] == list(store.dead_letters())
    (other,) = claim(store)
    assert ("b", 0) == (other.event.task.name, other.tries)
    assert other.id > late.id


def test_a_dead_letter_tells_what_died_and_why(store):
    """Dead letters come in the order of their ids, with event, tries, error, time and task."""
    put(store, an_event(a_task("a")), an_event(a_task("b")), plugins=["log", "alerts"])
    first, second = claim(store, "alerts")
    retry(store, [first.id])
    claim(store, "alerts")
    bury(store, [first.id], error="still down", now=after(2))
    bury(store, [second.id], error="410 gone", now=after(1))

    assert [
        (first.id, "alerts", first.event, 2, "still down", after(2)),
        (second.id, "alerts", second.event, 1, "410 gone", after(1)),
    ] == [
        (letter.id, letter.plugin, letter.event, letter.tries, letter.error, letter.died_at)
        for letter in store.dead_letters()
    ]
    assert [(row.event_id, row.event.task.key) for row in (first, second)] == [
        (letter.event_id, letter.task_key) for letter in store.dead_letters()
    ]
    assert (0, 2) == (store.pending(["alerts"]), store.pending())
    assert [] == list(claim(store, "alerts", now=LATER))


def test_dead_letters_are_read_by_plugin_by_id_and_page_by_page(store):
    """Whoever has many need not read them all."""
    put(store, *(an_event(a_task(name)) for name in "abc"), plugins=["log", "alerts"])
    bury(store, ids(claim(store)))
    bury(store, ids(claim(store, "alerts")))
    every = ids(store.dead_letters())

    logged = ids(store.dead_letters("log"))
    page = ids(store.dead_letters("log", limit=2))

    assert (6, 3, []) == (len(every), len(logged), ids(store.dead_letters("nobody")))
    assert logged == page + ids(store.dead_letters("log", after=page[-1], limit=2))
    assert sorted(every) == every
    assert logged[:1] == ids(store.dead_letters(ids=[logged[0], 4711]))
    assert [] == ids(store.dead_letters("alerts", ids=[logged[0]]))
    assert [] == ids(store.dead_letters(ids=[]))


def test_a_revived_letter_is_delivered_as_if_new(store):
    """Only dead letters are revived; their tries are forgotten, and they go before younger rows."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    put(store, first, second)
    (delivery,) = claim(store)
    bury(store, [delivery.id])

    assert 1 == store.revive([delivery.id, delivery.id, 4711], after(1))
    assert 0 == store.revive([delivery.id], after(1))

    assert [] == list(store.dead_letters())
    (again,) = claim(store, now=after(1))
    assert (delivery.id, first, 0) == (again.id, again.event, again.tries)
    store.done([again.id])
    assert [second] == events(claim(store, now=after(1)))


def test_a_dropped_letter_is_gone(store):
    """Only dead letters are dropped."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    dead, alive = claim(store)
    bury(store, [dead.id])

    assert 1 == store.drop([dead.id, alive.id, 4711])

    assert [] == list(store.dead_letters())
    assert 1 == store.pending()
    assert 0 == store.revive([dead.id], NOW)


def test_next_due_says_when_to_come_back(store):
    """It is None when nothing waits, never past when something is due, else the earliest time."""
    assert None is store.next_due(["log"], NOW)
    put(store, an_event(a_task("a")))
    put(store, an_event(a_task("b")), plugins=["alerts"])
    assert NOW == store.next_due(["alerts", "log"], NOW)
    assert store.next_due(["log"], LATER) <= LATER
    assert None is store.next_due(["nobody"], NOW)
    assert None is store.next_due([], NOW)

    (delivery,) = claim(store, lease=60)
    assert after(60) == store.next_due(["log"], NOW)
    retry(store, [delivery.id], at=after(5))
    assert after(5) == store.next_due(["log"], NOW)
    (other,) = claim(store, "alerts")
    store.group(other.id, [Group("g", after(7))], owner="me")
    assert after(7) == store.next_due(["alerts"], NOW)
    (last,) = claim(store, now=after(5))
    bury(store, [last.id])
    assert None is store.next_due(["log"], NOW)


def test_next_due_does_not_count_rows_behind_the_first(store):
    """A row that waits for the one before it does not wake anybody."""
    put(store, an_event(a_task()), an_event(a_task(attempt=2)))
    (first,) = claim(store)

    retry(store, [first.id], at=after(30))

    assert after(30) == store.next_due(["log"], after(1))


def test_pending_counts_what_is_neither_delivered_nor_dead(store):
    """Waiting, leased and grouped rows count, of the plugins asked for."""
    put(store, *(an_event(a_task(name)) for name in "abc"), plugins=["log", "alerts"])
    leased, grouped, dead = claim(store, "alerts")
    store.group(grouped.id, [Group("g", LATER)], owner="me")
    bury(store, [dead.id])

    assert 5 == store.pending()
    assert 2 == store.pending(["alerts", "nobody"])
    assert 0 == store.pending([])
    assert leased.id in ids(claim(store, "alerts", now=LATER))


def test_waiting_says_how_many_wait_for_whom_since_when_and_why(store):
    """Per plugin: the count, the newest error, the oldest time, and how many are in groups."""
    one, two, three, four = (
        an_event(a_task(name), observed_at=after(number))
        for number, name in enumerate(("one", "two", "three", "four"))
    )
    put(store, one, two, three, four, plugins=["log", "alerts"])
    first, second, third, _ = ids(claim(store, "alerts"))
    store.group(second, [Group("g", LATER)], owner="me")
    retry(store, [third], at=after(60), error="busy")
    bury(store, [first], error="gone")

    assert [("alerts", 3, "busy", after(1), 1), ("log", 4, "", after(0), 0)] == [
        (each.plugin, each.count, each.error, each.since, each.grouped) for each in store.waiting()
    ]
    assert [("alerts", 1, "gone", after(0), 0)] == [
        (each.plugin, each.count, each.error, each.since, each.grouped) for each in store.given_up()
    ]


def test_any_text_of_a_plugin_is_taken(store):
    """An error that no UTF-8 writer accepts keeps no row from being put away."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    first, second = claim(store)

    retry(store, [second.id], error="e\udc80\x00")
    claim(store, limit=1)
    bury(store, [second.id], error="e\udc80\x00")

    assert [second.id] == [letter.id for letter in store.dead_letters()]
    assert first.id != second.id


def test_what_a_process_lost_comes_alone_from_then_on(store):
    """A batch that was lost is due at once, row by row; all else comes together."""
    put(store, *(an_event(a_task(name)) for name in "abc"))
    claim(store, limit=2, owner="gone")

    store.lose("gone", "alerts", not_before=LATER)
    assert (0, ["gone"]) == (store.deaths("log"), list(store.holders("log")))
    store.lose("gone", "log", not_before=LATER)

    assert (1, []) == (store.deaths("log"), list(store.holders("log")))
    for name in "ab":
        (row,) = claim(store)
        assert (name, 0, 1) == (row.event.task.name, row.tries, row.deaths)
        store.done([row.id])
    (row,) = claim(store)
    assert ("c", 0, 0) == (row.event.task.name, store.deaths("log"), row.deaths)


def test_a_row_that_is_lost_again_waits_and_says_why(store):
    """The second death is its own: it is put off, others are not, and the store tells of both."""
    put(store, an_event(a_task("a")))
    for not_before in (LATER, after(30)):
        claim(store, owner="gone")
        store.lose("gone", "log", not_before=not_before)
    put(store, an_event(a_task("b")))

    (waiting,) = store.waiting()
    assert ("the process ended during the call", 2) == (waiting.error, waiting.deaths)
    assert NOW == waiting.due_at
    assert ["b"] == names(claim(store))
    (row,) = claim(store, now=after(30))
    assert ("a", 2) == (row.event.task.name, row.deaths)
    bury(store, [row.id])
    (letter,) = store.dead_letters()
    assert (2, 0) == (letter.tries, store.deaths("log"))


def test_a_lease_that_runs_out_is_a_death_and_an_answer_ends_the_count(store):
    """Only another owner counts it; a call that came back, however, was no death."""
    put(store, an_event(a_task("a")))
    claim(store, lease=0, owner="one")
    (again,) = claim(store, lease=0, owner="one")
    (row,) = claim(store, lease=0, owner="two")
    (last,) = claim(store, owner="three")

    assert [0, 1, 2] == [again.deaths, row.deaths, last.deaths]
    retry(store, [row.id], error="no", owner="three")
    (row,) = claim(store)
    assert (1, 0, 0) == (row.tries, row.deaths, store.deaths("log"))
