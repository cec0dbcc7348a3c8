"""What every store promises of its bounds: what goes first, and that every drop is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failhook.decision import Action
from failhook.details import Kind
from failhook.error_info import ErrorInfo
from failhook.groups import DroppedEvents, Group
from failhook.outbox.port import Bounds
from tests.stores.rows import after, bury, claim, claim_group, ids, names, put
from tests.stores.samples import DECISION, DETAILS, LATER, NOW, a_task, an_event


def passing(name, **more):
    """An event of a task that goes on."""
    return an_event(a_task(name), **more)


def final(name, **more):
    """An event of a task that failed for good."""
    return an_event(a_task(name), decision=replace(DECISION, action=Action.FAIL), **more)


def held_by(store, plugin="log"):
    """All that waits for a plugin, in no group."""
    found = sorted(names(claim(store, plugin, now=LATER, owner="reader")))
    store.release("reader")
    return found


def test_what_is_not_final_goes_first_the_oldest_first(store_within):
    """The oldest passing event goes, and a final one only when no passing one is left."""
    store = store_within(Bounds(events=3))
    put(store, final("f1"), passing("p1"), passing("p2"))
    put(store, passing("p3"))
    put(store, final("f2"))
    put(store, final("f3"))

    assert ["f1", "f2", "f3"] == held_by(store)

    put(store, final("f4"))
    put(store, passing("p4"))
    assert ["f2", "f3", "f4"] == held_by(store)


def test_each_plugin_has_bounds_of_its_own(store_within):
    """One that is full costs no other an event."""
    store = store_within(Bounds(events=2))
    put(store, passing("a"), passing("b"), plugins=["log", "alerts"])
    store.done(ids(claim(store, "alerts")))

    put(store, passing("c"), plugins=["log", "alerts"])

    assert ["b", "c"] == held_by(store)
    assert ["c"] == held_by(store, "alerts")
    assert ["log"] == [each.plugin for each in store.drops()]


def test_bytes_are_bounded_too(store_within):
    """Large events push out others before there are too many."""
    store = store_within(Bounds(bytes=20_000))
    large = ErrorInfo(type="E", message="x" * 9_000)
    for name in "abc":
        put(store, passing(name, error=large))

    assert ["c"] == held_by(store)[-1:]
    assert store.pending() < 3


def test_dead_letters_count_and_go(store_within):
    """A dead letter takes room as any other row does, and gives way as one."""
    store = store_within(Bounds(events=2))
    put(store, passing("a"), final("b"))
    bury(store, ids(claim(store)))

    put(store, passing("c"))
    put(store, final("d"))

    assert ["b"] == [letter.event.task.name for letter in store.dead_letters()]
    assert ["d"] == held_by(store)


def test_what_is_leased_is_spared(store_within):
    """A row or a group that somebody is delivering just now is not dropped under its hands."""
    store = store_within(Bounds(events=2))
    put(store, passing("leased"), passing("grouped"))
    leased, grouped = claim(store)
    store.group(grouped.id, [Group("g", NOW)], owner="me")
    group = claim_group(store)

    put(store, passing("c"), passing("d"))

    assert 2 == sum(each.events for each in store.drops())
    assert ["grouped"] == names(group.rows)
    store.done([leased.id])
    assert 1 == store.pending()


def test_a_group_that_lost_all_its_rows_does_not_come(store_within):
    """Nothing is handed over where everything was dropped, and a later group begins anew."""
    store = store_within(Bounds(events=1))
    put(store, passing("a"))
    (row,) = claim(store)
    store.group(row.id, [Group("g", NOW)], owner="me")
    put(store, final("b"))

    assert None is claim_group(store)
    (row,) = claim(store)
    store.group(row.id, [Group("g", after(30))], owner="me")
    assert None is claim_group(store, now=after(29))
    assert ["b"] == names(claim_group(store, now=after(30)).rows)


def test_a_drop_lets_the_task_go_on(store_within):
    """When the oldest row of a task is dropped, the next one is claimed."""
    store = store_within(Bounds(events=1))
    put(store, an_event(a_task(attempt=1)))
    put(store, an_event(a_task(attempt=2)))

    assert [2] == [row.event.task.attempt for row in claim(store)]


def test_drops_are_counted_by_kind_with_their_times(store_within):
    """What was dropped is told per plugin: how many, of which kinds, how many final, since when."""
    store = store_within(Bounds(events=1))
    bug = replace(DETAILS, kind=Kind.APPLICATION)
    put(store, passing("a", observed_at=after(5)))
    put(store, final("b", observed_at=after(1), failure_details=bug))
    put(store, final("c", observed_at=after(9)))
    put(store, final("d"))

    (dropped,) = store.drops()

    assert (3, 2, {"infra": 2, "application": 1}) == (
        dropped.events,
        dropped.final,
        dropped.by_kind,
    )
    assert ("log", after(1), after(9)) == (dropped.plugin, dropped.since, dropped.until)


def test_what_was_told_is_taken_off_once(store_within):
    """Drops that came after the reading stay to be told, however often the first are told."""
    store = store_within(Bounds(events=1))
    assert [] == list(store.drops())
    put(store, passing("a", observed_at=after(1)))
    put(store, passing("b", observed_at=after(2)))
    (first,) = store.drops()
    put(store, passing("c"))

    store.told(first)
    (second,) = store.drops()
    store.told(first)
    store.told(DroppedEvents("nobody", 1, 0, {"infra": 1}, NOW, NOW))

    assert (1, [second]) == (second.events, list(store.drops()))
    store.told(second)
    assert [] == list(store.drops())


def test_two_who_read_the_same_drops_take_them_off_once(store_within):
    """A second drainer that tells the same, or more, takes off no more than there is."""
    store = store_within(Bounds(events=1))
    put(store, passing("a"))
    put(store, passing("b"))
    (one,) = store.drops()
    put(store, passing("c"))
    (two,) = store.drops()
    assert (1, 2) == (one.events, two.events)

    store.told(two)
    store.told(one)
    assert [] == list(store.drops())


def test_a_drop_is_undone_with_its_transaction(store_within):
    """Where the report that made it necessary fails, nothing was dropped and nothing is told."""
    store = store_within(Bounds(events=1))
    put(store, passing("a"))

    def fail():
        with store.transaction() as transaction:
            transaction.enqueue(passing("b"), ["log"], NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert [] == list(store.drops())
    assert ["a"] == held_by(store)


def test_bounds_hold_in_the_long_run(store_within):
    """However many events come, about as many as the bound allows are there."""
    store = store_within(Bounds(events=200))
    for number in range(500):
        put(store, passing(f"t{number}"))

    assert 200 <= store.pending() <= 204
    assert 500 == store.pending() + sum(each.events for each in store.drops())
