"""What every store promises of its outbox."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from failhook.error_info import ErrorInfo
from tests.stores.samples import LATER, NOW, a_task, an_event


def put(store, *events, plugins=("log",), now=NOW):
    """Enqueue events in one transaction."""
    with store.transaction() as transaction:
        for event in events:
            transaction.enqueue(event, plugins, now)


def claim(store, plugin="log", *, now=NOW, lease=60, limit=100, owner="me"):
    """Claim with what most tests want."""
    return store.claim(plugin, now=now, lease=lease, limit=limit, owner=owner)


def events(deliveries):
    """The events of a batch."""
    return [delivery.event for delivery in deliveries]


def ids(deliveries):
    """The rows of a batch."""
    return [delivery.id for delivery in deliveries]


def after(seconds):
    """A time so many seconds later."""
    return NOW + timedelta(seconds=seconds)


def test_each_plugin_gets_each_event(store):
    """One row per plugin waits, whole, until that plugin has taken it."""
    event = an_event(a_task())
    put(store, event, plugins=["log", "alerts"])

    (for_log,) = claim(store, "log")
    (for_alerts,) = claim(store, "alerts")

    assert [event, event] == [for_log.event, for_alerts.event]
    assert ("log", 0, "") == (for_log.plugin, for_log.tries, for_log.group_key)
    store.done([for_log.id])
    assert (0, 1) == (store.pending(["log"]), store.pending(["alerts"]))
    store.done([for_alerts.id])
    assert 0 == store.pending()
    assert () == tuple(claim(store, "alerts", now=LATER))


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

    store.bury([delivery.id], error="no", now=NOW)
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


def test_of_one_task_only_the_oldest_is_handed_out(store):
    """A plugin hears of one task in order: the next row waits for the one before it."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    other = an_event(a_task("other"))
    put(store, first)
    put(store, second, other, now=after(1))

    batch = claim(store, now=LATER)
    assert [first, other] == events(batch)
    assert [] == list(claim(store, now=LATER, owner="second"))

    store.retry(ids(batch), not_before=LATER + timedelta(seconds=9), error="429")
    assert [] == list(claim(store, now=LATER + timedelta(seconds=8)))

    store.done([batch[0].id])
    assert [second] == events(claim(store, now=LATER))


def test_a_dead_letter_holds_nobody_back(store):
    """When the oldest row of a task dies, the next one goes."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    put(store, first, second)
    (delivery,) = claim(store)

    store.bury([delivery.id], error="refused", now=NOW)

    assert [second] == events(claim(store))


def test_what_comes_later_waits_for_no_dead_or_parked_row(store):
    """A new event of a task goes at once when the task's older ones are dead or parked."""
    for attempt, set_aside in enumerate(
        (
            lambda row: store.bury([row.id], error="no", now=NOW),
            lambda row: store.park([row.id], group_key="g", not_before=LATER),
        ),
        start=1,
    ):
        put(store, an_event(a_task(attempt=attempt)))
        (row,) = claim(store)
        set_aside(row)

    put(store, an_event(a_task(attempt=3)))

    assert [an_event(a_task(attempt=3))] == events(claim(store))


def test_tasks_do_not_wait_for_each_other(store):
    """A row that is retried later lets the rows of other tasks pass."""
    put(store, an_event(a_task("a")))
    (slow,) = claim(store)
    store.retry([slow.id], not_before=LATER, error="down")
    put(store, an_event(a_task("b")), now=after(5))

    assert ["b"] == [event.task.name for event in events(claim(store, now=after(5)))]


def test_a_batch_has_no_more_than_its_limit_and_the_longest_due_first(store):
    """A claim takes at most `limit` rows, those that are due longest."""
    for number in range(5):
        put(store, an_event(a_task(f"t{number}")), now=after(5 - number))

    batch = claim(store, now=LATER, limit=2)

    assert ["t4", "t3"] == [event.task.name for event in events(batch)]


def test_a_retried_row_counts_its_tries(store):
    """A row given back for a retry comes at its time, with one try more."""
    put(store, an_event(a_task()))
    for tries in range(3):
        (delivery,) = claim(store, now=after(10 * tries))
        assert tries == delivery.tries
        store.retry([delivery.id], not_before=after(10 * tries + 10), error="down")
        assert [] == list(claim(store, now=after(10 * tries + 9)))


def test_parked_rows_come_together(store):
    """Rows of one group come in one batch at their time: oldest first, untried, past the limit."""
    expected = [an_event(a_task(f"t{number}")) for number in range(5)]
    put(store, *expected)
    for delivery in claim(store):
        store.park([delivery.id], group_key="team=data", not_before=after(30))
    put(store, an_event(a_task("alone")), now=after(31))

    assert [] == list(claim(store, now=after(29)))
    batch = claim(store, now=after(31), limit=2)

    assert expected == events(batch)
    assert {("team=data", 0)} == {(delivery.group_key, delivery.tries) for delivery in batch}
    assert ["alone"] == [event.task.name for event in events(claim(store, now=after(31)))]


def test_groups_do_not_mix(store):
    """A batch holds one group, or rows without any."""
    put(store, *(an_event(a_task(name)) for name in "abcd"))
    for delivery, group in zip(claim(store), ("g", "h", "g", ""), strict=True):
        store.park([delivery.id], group_key=group, not_before=after(30))

    batches = []
    while batch := claim(store, now=after(30)):
        batches.append(sorted(event.task.name for event in events(batch)))

    assert [["a", "c"], ["b"], ["d"]] == sorted(batches)


def test_a_row_may_join_a_group_that_is_out(store):
    """A row parked while its group is leased comes without it, or with it after the lease."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    first, second = claim(store)
    store.park([first.id], group_key="g", not_before=NOW)
    (held,) = claim(store, owner="one", lease=60)
    store.park([second.id], group_key="g", not_before=NOW)

    assert [second.id] == ids(claim(store, owner="two", lease=50))
    assert [held.id, second.id] == ids(claim(store, now=after(60)))


def test_a_parked_row_lets_its_task_go_on(store):
    """The plugin has heard of a parked row, so what happens to the task next reaches it at once."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    put(store, first, second)
    (delivery,) = claim(store)

    store.park([delivery.id], group_key="g", not_before=after(30))
    (next_one,) = claim(store)
    assert second == next_one.event
    store.park([next_one.id], group_key="g", not_before=after(30))

    assert [first, second] == events(claim(store, now=after(30)))


def test_a_row_given_back_without_a_group_is_in_its_line_again(store):
    """Parked under no key, the oldest row of a task holds back the others again."""
    put(store, an_event(a_task()), an_event(a_task(attempt=2)))
    (first,) = claim(store)
    store.park([first.id], group_key="g", not_before=NOW)
    (again,) = claim(store, limit=1)
    store.park([again.id], group_key="", not_before=after(5))

    assert [] == list(claim(store, now=after(4)))
    assert [first.id] == ids(claim(store, now=after(5)))


def test_a_closing_owner_gives_back_what_it_holds(store):
    """Released rows are due at once, untried, and nobody else's lease is touched."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    (mine,) = claim(store, limit=1, owner="me")
    claim(store, owner="other")

    store.release("me")
    store.release("nobody")

    (again,) = claim(store, owner="next")
    assert (mine.id, 0) == (again.id, again.tries)


def test_a_dead_letter_tells_what_died_and_why(store):
    """Dead letters come oldest first, with event, tries, error and time."""
    put(store, an_event(a_task("a")), an_event(a_task("b")), plugins=["log", "alerts"])
    first, second = claim(store, "alerts")
    store.retry([first.id], not_before=NOW, error="down")
    claim(store, "alerts")
    store.bury([first.id], error="still down", now=after(2))
    store.bury([second.id], error="410 gone", now=after(1))

    letters = store.dead_letters()

    assert [
        (second.id, "alerts", second.event, 1, "410 gone", after(1)),
        (first.id, "alerts", first.event, 2, "still down", after(2)),
    ] == [
        (letter.id, letter.plugin, letter.event, letter.tries, letter.error, letter.died_at)
        for letter in letters
    ]
    assert (0, 2) == (store.pending(["alerts"]), store.pending())
    assert [] == list(claim(store, "alerts", now=LATER))


def test_a_revived_letter_is_delivered_as_if_new(store):
    """Only dead letters are revived; their tries are forgotten, and they go before younger rows."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    put(store, first, second)
    (delivery,) = claim(store)
    store.bury([delivery.id], error="no", now=NOW)

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
    store.bury([dead.id], error="no", now=NOW)

    assert 1 == store.drop([dead.id, alive.id, 4711])

    assert [] == list(store.dead_letters())
    assert 1 == store.pending()
    assert 0 == store.revive([dead.id], NOW)


@pytest.mark.parametrize("what", ["retry", "park", "bury", "done"])
def test_a_row_that_is_gone_is_left_alone(store, what):
    """Whoever comes back after its lease ran out and the row was delivered changes nothing."""
    put(store, an_event(a_task("a")))
    (late,) = claim(store)
    store.done([late.id])
    put(store, an_event(a_task("b")))

    {
        "retry": lambda: store.retry([late.id], not_before=LATER, error="late"),
        "park": lambda: store.park([late.id], group_key="g", not_before=LATER),
        "bury": lambda: store.bury([late.id], error="late", now=NOW),
        "done": lambda: store.done([late.id]),
    }[what]()

    assert [] == list(store.dead_letters())
    (other,) = claim(store)
    assert ("b", 0) == (other.event.task.name, other.tries)
    assert other.id > late.id


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
    store.retry([delivery.id], not_before=after(5), error="down")
    assert after(5) == store.next_due(["log"], NOW)
    (other,) = claim(store, "alerts")
    store.bury([other.id], error="no", now=NOW)
    assert None is store.next_due(["alerts"], NOW)


def test_next_due_does_not_count_rows_behind_the_first(store):
    """A row that waits for the one before it does not wake anybody."""
    put(store, an_event(a_task()), an_event(a_task(attempt=2)))
    (first,) = claim(store)

    store.retry([first.id], not_before=after(30), error="down")

    assert after(30) == store.next_due(["log"], after(1))


def test_pending_counts_what_is_neither_delivered_nor_dead(store):
    """Waiting, leased and parked rows count, of the plugins asked for."""
    put(store, *(an_event(a_task(name)) for name in "abc"), plugins=["log", "alerts"])
    leased, parked, dead = claim(store, "alerts")
    store.park([parked.id], group_key="g", not_before=LATER)
    store.bury([dead.id], error="no", now=NOW)

    assert 5 == store.pending()
    assert 2 == store.pending(["alerts", "nobody"])
    assert 0 == store.pending([])
    assert leased.id in ids(claim(store, "alerts", now=LATER))


def test_waiting_says_how_many_wait_for_whom_and_why(store):
    """Per plugin: the count, and the error of the newest row that was tried; no dead letters."""
    one, two, three = (an_event(a_task(name)) for name in ("one", "two", "three"))
    put(store, one, two, three, plugins=["log", "alerts"])
    first, second, _ = ids(claim(store, "alerts"))
    store.retry([first], not_before=after(60), error="busy")
    store.bury([second], error="gone", now=NOW)

    found = [(each.plugin, each.count, each.error) for each in store.waiting()]

    assert [("alerts", 2, "busy"), ("log", 3, "")] == found


def test_any_text_of_a_plugin_is_taken(store):
    """An error or a group key that no UTF-8 writer accepts keeps no row from being put away."""
    put(store, an_event(a_task("a")), an_event(a_task("b")))
    first, second = claim(store)

    store.park([first.id], group_key="g\udc80", not_before=NOW)
    store.retry([second.id], not_before=NOW, error="e\udc80")
    store.bury([second.id], error="e\udc80\x00", now=NOW)

    assert [first.id] == ids(claim(store))
    assert [second.id] == [letter.id for letter in store.dead_letters()]
