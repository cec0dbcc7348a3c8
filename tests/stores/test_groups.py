"""What every store promises of groups: rows that wait together, and the notification log."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from failhook.groups import Group, Handled
from tests.stores.rows import after, bury, claim, claim_group, events, ids, names, put
from tests.stores.samples import LATER, NOW, a_task, an_event


def gather(store, *tasks, key="g", at=NOW, plugin="log"):
    """Put one event of each task into a group; return their rows."""
    put(store, *(an_event(a_task(name)) for name in tasks), plugins=[plugin])
    rows = claim(store, plugin, owner="gatherer", now=LATER)
    for row in rows:
        store.group(row.id, [Group(key, at)], owner="gatherer")
    return ids(rows)


def settle(store, group, *, now=NOW, **handled):
    """Say that a group was handed over."""
    store.settle(group, Handled(**handled), now=now)


def test_rows_of_a_group_come_together_at_its_time(store):
    """Oldest first, untried, with what is known of the group, and nothing before its time."""
    gather(store, "a", "b", "c", key="team=data", at=after(30))

    assert None is claim_group(store, now=after(29))
    assert [] == list(claim(store, now=LATER))
    group = claim_group(store, now=after(30))

    assert ["a", "b", "c"] == names(group.rows)
    assert [("log", 0)] * 3 == [(row.plugin, row.tries) for row in group.rows]
    assert ("log", "team=data", 0, 0) == (group.plugin, group.key, group.remaining, group.tries)
    assert ("", None) == (group.note, group.sent_at)


def test_a_group_that_waits_keeps_its_time(store):
    """The first event sets the time; one that joins changes nothing of it."""
    gather(store, "a", at=after(30))
    gather(store, "b", at=after(5))
    gather(store, "c", at=after(90))

    assert None is claim_group(store, now=after(29))
    assert ["a", "b", "c"] == names(claim_group(store, now=after(30)).rows)


def test_a_group_in_retry_keeps_its_time_and_counts_its_tries(store):
    """Who joins a group that is tried again waits for that try too."""
    gather(store, "a")
    group = claim_group(store)
    store.retry_group(group, not_before=after(30), error="busy", owner="me")
    gather(store, "b", at=NOW)

    assert ["busy"] == [each.error for each in store.waiting()]
    assert None is claim_group(store, now=after(29))
    again = claim_group(store, now=after(30))
    assert (["a", "b"], 1) == (names(again.rows), again.tries)
    settle(store, again, again_at=after(60))
    assert 0 == claim_group(store, now=after(60)).tries


def test_a_claim_takes_no_more_than_its_limit_and_says_what_remains(store):
    """The oldest rows come first; the others are due at once when these are settled."""
    gather(store, "a", "b", "c", at=after(30))
    group = claim_group(store, now=after(30), limit=2)

    assert (["a", "b"], 1) == (names(group.rows), group.remaining)
    settle(store, group, now=after(31), note="1/2", again_at=LATER)

    rest = claim_group(store, now=after(31), limit=2)
    assert (["c"], 0, "1/2", after(31)) == (
        names(rest.rows),
        rest.remaining,
        rest.note,
        rest.sent_at,
    )


def test_the_group_that_is_due_first_comes_first(store):
    """Groups are handed out one at a time, in the order of their times."""
    gather(store, "a", key="g", at=after(30))
    gather(store, "b", key="h", at=after(20))

    assert ["h", "g"] == [claim_group(store, now=LATER).key for _ in "12"]
    assert None is claim_group(store, now=LATER)


def test_an_event_may_be_in_several_groups(store):
    """It is handed over with each of them, and counts as delivered when all have it."""
    put(store, an_event(a_task("a")))
    (row,) = claim(store)
    store.group(row.id, [Group("g", NOW), Group("h", after(9)), Group("g", LATER)], owner="me")
    assert 2 == store.pending()

    first = claim_group(store)
    assert None is claim_group(store)
    settle(store, first)
    second = claim_group(store, now=after(9))

    assert ["g", "h"] == [first.key, second.key]
    assert events(first.rows) == events(second.rows) == [an_event(a_task("a"))]
    put(store, an_event(a_task("a")))
    assert 1 == store.pending()
    settle(store, second)
    assert 0 == store.pending()


def test_a_row_in_no_group_stays_where_it_is(store):
    """To name no group changes nothing."""
    put(store, an_event(a_task("a")))
    (row,) = claim(store)

    store.group(row.id, [], owner="me")

    assert ["me"] == list(store.holders("log"))
    assert None is claim_group(store, now=LATER)


def test_groups_of_plugins_do_not_mix(store):
    """The same key under two plugins is two groups."""
    gather(store, "a", plugin="log")
    gather(store, "b", plugin="alerts")

    settle(store, claim_group(store), note="logged")
    group = claim_group(store, "alerts")

    assert (["b"], "") == (names(group.rows), group.note)
    assert None is claim_group(store, now=LATER)


def test_a_settled_group_leaves_its_note(store):
    """The notification log says what was noted and when something went out, for the next time."""
    gather(store, "a")
    settle(store, claim_group(store), now=after(1), note="thread 1")
    assert None is claim_group(store, now=LATER)
    assert 0 == store.pending()

    gather(store, "b", at=after(60))
    group = claim_group(store, now=after(60))
    assert ("thread 1", after(1), 0) == (group.note, group.sent_at, group.tries)

    settle(store, group, now=after(61), note="thread 2", sent=False)
    gather(store, "c", at=LATER)
    again = claim_group(store, now=LATER)
    assert ("thread 2", after(1)) == (again.note, again.sent_at)


def test_a_group_may_come_again_without_new_events(store):
    """Its plugin asks for it, gets it empty at that time, and may let it end then."""
    gather(store, "a")
    settle(store, claim_group(store), note="n", again_at=after(300))

    assert after(300) == store.next_due(["log"], NOW)
    assert None is claim_group(store, now=after(299))
    group = claim_group(store, now=after(300))
    assert ([], 0, "n") == (list(group.rows), group.remaining, group.note)
    settle(store, group, now=after(300))

    assert None is claim_group(store, now=LATER)
    assert None is store.next_due(["log"], NOW)


def test_who_joins_a_group_that_comes_again_waits_for_its_time(store):
    """Between two notifications nothing is sent, however early a new event wants it."""
    gather(store, "a")
    settle(store, claim_group(store), again_at=after(300))
    gather(store, "b", at=after(30))

    assert None is claim_group(store, now=after(299))
    assert ["b"] == names(claim_group(store, now=after(300)).rows)


def test_who_joins_a_group_that_is_out_begins_a_new_one_when_it_ends(store):
    """It is neither lost nor sent at once: it waits as the first of a group does."""
    gather(store, "a")
    group = claim_group(store)
    gather(store, "b", at=after(30))
    gather(store, "c", at=after(90))
    settle(store, group)

    assert None is claim_group(store, now=after(29))
    assert ["b", "c"] == names(claim_group(store, now=after(30)).rows)


def test_who_joins_a_group_that_is_out_waits_for_its_next_time(store):
    """Where the plugin wants the group again, that time holds for the new ones as well."""
    gather(store, "a")
    group = claim_group(store)
    gather(store, "b", at=after(30))
    settle(store, group, again_at=after(300))

    assert None is claim_group(store, now=after(299))
    assert ["b"] == names(claim_group(store, now=after(300)).rows)


def test_two_drainers_never_get_one_group(store):
    """A leased group is nobody else's until its lease ends, then it comes whole."""
    gather(store, "a")
    assert None is not claim_group(store, owner="one", lease=60)
    gather(store, "b")

    assert None is claim_group(store, owner="two", now=after(59))
    assert ["one"] == list(store.holders("log"))
    assert ["a", "b"] == names(claim_group(store, owner="two", now=after(60)).rows)


def test_threads_never_hold_the_same_group(store):
    """However many claim at once, each group is handed out once."""
    for number in range(30):
        gather(store, f"t{number}", key=f"g{number}")

    def drain(owner):
        found = []
        while group := claim_group(store, owner=owner):
            found.append(group.key)
        return found

    with ThreadPoolExecutor(4) as pool:
        found = [key for keys in pool.map(drain, "abcd") for key in keys]

    assert 30 == len(found) == len(set(found))


def test_the_lease_of_a_group_is_renewed_and_released(store):
    """It lasts as long as its owner says, and what is given back is due at once, untried."""
    gather(store, "a", at=after(30))
    claim_group(store, now=after(30), lease=60)
    store.renew("log", owner="me", until=after(300))
    assert None is claim_group(store, now=after(299))

    store.release("me", "alerts")
    assert None is claim_group(store, now=after(299))
    store.release("me", "log")

    assert (["a"], 0) == (names((again := claim_group(store, now=NOW)).rows), again.tries)


@pytest.mark.parametrize("what", ["retry", "bury"])
def test_what_is_done_under_a_lost_lease_changes_nothing(store, what):
    """Whose lease has passed to another can neither put off nor bury the group."""
    gather(store, "a")
    late = claim_group(store, lease=0, owner="late")
    held = claim_group(store, owner="holder")

    {
        "retry": lambda: store.retry_group(late, not_before=LATER, error="late", owner="late"),
        "bury": lambda: store.bury_group(late, error="late", now=NOW, owner="late"),
    }[what]()

    assert ["holder"] == list(store.holders("log"))
    assert [] == list(store.dead_letters())
    assert ["", 1] == [each for one in store.waiting() for each in (one.error, one.count)]
    settle(store, held)
    assert 0 == store.pending()


def test_a_late_word_that_a_group_was_sent_holds(store):
    """Its rows are gone and the log says so, but the new holder keeps the group."""
    gather(store, "a", "b")
    late = claim_group(store, lease=0, owner="late", limit=1)
    held = claim_group(store, owner="holder")
    settle(store, late, now=after(1), note="from late", again_at=LATER)

    assert ["holder"] == list(store.holders("log"))
    assert 1 == store.pending()
    store.retry_group(held, not_before=after(9), error="down", owner="holder")
    again = claim_group(store, now=after(9))
    assert (["b"], "from late", after(1), 1) == (
        names(again.rows),
        again.note,
        again.sent_at,
        again.tries,
    )


def test_a_late_word_does_not_overwrite_what_was_sent_since(store):
    """What the new holder has noted stays, whatever the clock says when the old one wakes up."""
    gather(store, "a")
    late = claim_group(store, lease=0, owner="late")
    held = claim_group(store, owner="holder")
    settle(store, held, now=after(1), note="from holder", again_at=after(9))

    settle(store, late, now=after(2), note="from late")

    again = claim_group(store, now=after(9))
    assert ("from holder", after(1)) == (again.note, again.sent_at)


def test_a_buried_group_leaves_dead_letters_and_its_note(store):
    """Each row is a dead letter with all its tries, and what joined meanwhile waits on."""
    gather(store, "a", "b")
    settle(store, claim_group(store, limit=1), note="n")
    group = claim_group(store)
    store.retry_group(group, not_before=NOW, error="busy", owner="me")
    group = claim_group(store)
    gather(store, "c", at=after(30))

    store.bury_group(group, error="gone", now=after(1), owner="me")

    assert [("b", "gone", 2, after(1))] == [
        (letter.event.task.name, letter.error, letter.tries, letter.died_at)
        for letter in store.dead_letters()
    ]
    assert None is claim_group(store, now=after(29))
    last = claim_group(store, now=after(30))
    assert (["c"], "n", 0) == (names(last.rows), last.note, last.tries)


def test_a_revived_letter_of_a_group_is_asked_for_its_group_again(store):
    """It is claimed as a row of its own, as when it was new."""
    gather(store, "a")
    store.bury_group(claim_group(store), error="gone", now=NOW, owner="me")
    (letter,) = store.dead_letters()

    assert 1 == store.revive([letter.id], NOW)

    assert None is claim_group(store, now=LATER)
    assert ["a"] == names(claim(store))


def test_an_event_of_several_groups_is_revived_as_one_row(store):
    """However often its dead letters are replayed, it does not multiply."""
    groups = [Group("g", NOW), Group("h", NOW)]
    put(store, an_event(a_task()), an_event(a_task("other")))
    for row in claim(store):
        store.group(row.id, groups, owner="me")
    for key in "gh":
        group = claim_group(store)
        assert (key, 2) == (group.key, len(group.rows))
        store.bury_group(group, error="gone", now=NOW, owner="me")
    letters = sorted(store.dead_letters(), key=lambda letter: letter.id)
    assert 4 == len(letters)

    assert 1 == store.revive([letters[-1].id], NOW)
    assert 2 == len(store.dead_letters())  # those of the other event
    assert 1 == store.revive([letter.id for letter in store.dead_letters()], NOW)

    assert [] == list(store.dead_letters())
    assert 2 == store.pending() == len(claim(store))


def test_a_copy_that_is_handed_over_just_now_is_left_alone(store):
    """A replay takes a copy that waits in another group with it, but not one that is held."""
    put(store, an_event(a_task()))
    (row,) = claim(store)
    store.group(row.id, [Group("g", NOW), Group("h", NOW), Group("i", NOW)], owner="me")
    store.bury_group(claim_group(store), error="gone", now=NOW, owner="me")
    held = claim_group(store)

    assert 1 == store.revive([letter.id for letter in store.dead_letters()], NOW)

    assert ("h", 2) == (held.key, store.pending())
    settle(store, held)
    assert 1 == store.pending() == len(claim(store))


def test_a_grouped_row_lets_its_task_go_on(store):
    """The plugin has heard of a grouped row, so what happens to the task next reaches it."""
    first, second = an_event(a_task()), an_event(a_task(attempt=2))
    put(store, first, second)
    (row,) = claim(store)

    store.group(row.id, [Group("g", NOW)], owner="me")
    (row,) = claim(store)
    assert second == row.event
    store.group(row.id, [Group("g", NOW)], owner="me")

    assert [first, second] == events(claim_group(store).rows)


def test_a_grouped_row_keeps_its_tries(store):
    """What was tried before it was grouped still counts when it dies in the end."""
    put(store, an_event(a_task()))
    (row,) = claim(store)
    store.retry([row.id], not_before=NOW, error="down", owner="me")
    (row,) = claim(store)
    store.group(row.id, [Group("g", NOW), Group("h", LATER)], owner="me")
    group = claim_group(store)

    assert [1] == [each.tries for each in group.rows]
    store.bury_group(group, error="gone", now=NOW, owner="me")
    assert [2] == [letter.tries for letter in store.dead_letters()]
    assert [1] == [each.tries for each in claim_group(store, now=LATER).rows]


def test_settling_removes_only_what_was_handed_over(store):
    """Dead letters and other plugins' rows of the same events stay."""
    put(store, an_event(a_task("a")), an_event(a_task("b")), plugins=["log", "alerts"])
    first, second = claim(store)
    bury(store, [first.id])
    store.group(second.id, [Group("g", NOW)], owner="me")

    settle(store, claim_group(store))

    assert [first.id] == ids(store.dead_letters())
    assert ["a", "b"] == names(claim(store, "alerts"))


def test_any_text_is_a_key_and_a_note(store):
    """What no UTF-8 writer accepts keeps no group from being handed over and settled."""
    gather(store, "a", key="g\udc80\x00")
    group = claim_group(store)
    settle(store, group, note="n\udc80\x00", again_at=after(9))

    again = claim_group(store, now=after(9))
    assert again.key == group.key
    store.retry_group(again, not_before=NOW, error="e\udc80\x00", owner="me")
    store.bury_group(claim_group(store), error="e\udc80\x00", now=NOW, owner="me")
    assert [] == list(store.waiting())


def test_a_group_that_a_process_lost_counts_it(store):
    """Lost by lease or by death, it comes back with the count; an answer ends that."""
    gather(store, "a")
    claim_group(store, lease=0, owner="one")
    lapsed = claim_group(store, owner="gone")
    store.lose("gone", "log", not_before=after(30))

    assert (1, 2) == (lapsed.deaths, store.deaths("log"))
    assert None is claim_group(store, now=after(29))
    group = claim_group(store, now=after(30))
    assert (2, 0) == (group.deaths, group.tries)
    store.bury_group(group, error="no", now=NOW, owner="me")
    (letter,) = store.dead_letters()
    assert (2, 0) == (letter.tries, store.deaths("log"))
