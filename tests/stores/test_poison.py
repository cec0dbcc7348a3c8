"""A row of a database that cannot be read blocks nobody, and says what is wrong with it."""

from __future__ import annotations

import pytest

from failhook.groups import Group, Handled
from tests.stores.rows import bury, claim, claim_group, put
from tests.stores.samples import NOW, a_task, an_event

POISONS = {
    "torn": "substr(body, 1, 40)",
    "not ours": "'{}'",
    "not JSON": "'a\nb'",
    "of a later version": "'[\"exploded\"' || substr(body, 10)",
}


@pytest.fixture(params=[*POISONS, "gone"])
def poisoned(request, sql_store):
    """A store in which the first event of two tasks cannot be read."""
    put(sql_store, an_event(a_task("bad")), an_event(a_task("good")), plugins=["log", "alerts"])
    put(sql_store, an_event(a_task("bad", attempt=2)))
    table = sql_store._sql["add_event"].split()[2]
    body = POISONS.get(request.param)
    change = f"UPDATE {table} SET body = {body}" if body else f"DELETE FROM {table}"  # noqa: S608 - names and values from here
    with sql_store._database.transaction() as cursor:
        event_id = an_event(a_task("bad")).event_id
        cursor.execute(f"{change} WHERE event_id = '{event_id}'", ())
    return sql_store


def test_a_poisoned_row_is_handed_out_and_says_so(poisoned):
    """It comes with its id and one line of why, beside the rows that can be read."""
    bad, good = claim(poisoned)

    assert (None, an_event(a_task("good"))) == (bad.event, good.event)
    assert bad.unreadable.startswith("its event ")
    assert "\n" not in bad.unreadable
    assert len(bad.unreadable) < 400
    assert "" == good.unreadable


def test_a_poisoned_row_can_be_given_up_and_lets_its_task_go_on(poisoned):
    """It can be listed and dropped as a dead letter, and the next event of its task goes."""
    bad, good = claim(poisoned)
    bury(poisoned, [bad.id], error=bad.unreadable)
    poisoned.done([good.id])

    (letter,) = poisoned.dead_letters()
    assert (None, a_task("bad").key, bad.unreadable) == (
        *(letter.event, letter.task_key, letter.error),
    )
    assert [an_event(a_task("bad", attempt=2))] == [row.event for row in claim(poisoned)]
    assert 1 == poisoned.drop([letter.id])
    assert [] == list(poisoned.dead_letters())


def test_a_poisoned_row_in_a_group_spoils_no_other(poisoned):
    """The group is handed over with the rows that can be read, and settled whole."""
    for row in claim(poisoned, "alerts"):
        poisoned.group(row.id, [Group("g", NOW)], owner="me")

    group = claim_group(poisoned, "alerts")

    assert [None, an_event(a_task("good"))] == [row.event for row in group.rows]
    assert group.rows[0].unreadable
    poisoned.settle(group, Handled(), now=NOW)
    assert 0 == poisoned.pending(["alerts"])


def test_a_poisoned_row_is_counted(poisoned):
    """What waits, and since when, is told whether or not it can be read."""
    assert [("alerts", 2), ("log", 3)] == [(each.plugin, each.count) for each in poisoned.waiting()]
