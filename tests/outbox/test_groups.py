"""What a plugin gathers is handed over together, once, when its time has come."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from failhook.manager import Limits
from failhook.outbox.limits import DeliveryLimits
from failhook.plugin import FailureEvent, Group, Handled, Undelivered, hookimpl
from failhook.policy import Backoff
from failhook.stores import open_store
from tests.outbox.world import QUICK, START, Gathering, Good, ManualClock, fail, pipeline_on, until

MINUTE = timedelta(minutes=1)


def test_events_wait_for_the_time_of_their_group_and_come_together(store, clock):
    """Each event is asked for once; at the group's time all are handed over, oldest first."""
    plugin = Gathering(clock)
    pipeline = pipeline_on(store, plugin, clock=clock)
    fail(pipeline, "a", "b")
    assert pipeline.flush(20)
    clock.seconds = 59
    fail(pipeline, "c")
    assert pipeline.flush(20)
    before = list(plugin.handed)
    clock.seconds = 60
    assert pipeline.flush(20)

    assert [] == before
    assert 3 == plugin.asked
    assert [("nightly", ["a", "b", "c"], 0, "", None)] == plugin.handed
    assert 0 == store.pending()
    assert pipeline.close()


def test_note_and_time_of_what_was_sent_come_back_with_the_next_group(store, clock):
    """The notification log says what was sent last, and when; what was not sent changes no time."""
    again = Handled(note="thread 1", again_at=START + 3 * MINUTE)
    silent = Handled(note="thread 2", again_at=START + 4 * MINUTE, sent=False)
    once_more = Handled(note="thread 3", again_at=START + 5 * MINUTE)
    plugin = Gathering(clock, [again, silent, once_more, None])
    pipeline = pipeline_on(store, plugin, clock=clock)
    fail(pipeline, "a")
    for minute in range(7):
        clock.seconds = 60.0 * minute
        assert pipeline.flush(20)

    sent_at = START + MINUTE
    assert [
        ("nightly", ["a"], 0, "", None),
        ("nightly", [], 0, "thread 1", sent_at),
        ("nightly", [], 0, "thread 2", sent_at),
        ("nightly", [], 0, "thread 3", START + 4 * MINUTE),
    ] == plugin.handed
    assert pipeline.close()


def test_a_failed_send_moves_nothing_and_what_came_meanwhile_goes_out_with_it(store, clock):
    """A 429 with Retry-After 30 is waited for; waiting messages merge; others are not delayed."""
    plugin = Gathering(clock, [Undelivered("429", retry_after=30.0)])
    good = Good()
    pipeline = pipeline_on(store, plugin, good, clock=clock)
    fail(pipeline, "a")
    assert pipeline.flush(20)
    clock.seconds = 60
    assert pipeline.flush(20)
    fail(pipeline, "b")
    clock.seconds = 89
    assert pipeline.flush(20)
    early = len(plugin.handed)
    clock.seconds = 90
    assert pipeline.flush(20)

    assert 1 == early
    assert [
        ("nightly", ["a"], 0, "", None),
        ("nightly", ["a", "b"], 0, "", None),
    ] == plugin.handed
    assert ["a", "b"] == [event.task.name for event in good.events]
    assert pipeline.close()


def test_a_429_without_groups_delays_nobody_else(store, clock):
    """The row waits for the thirty seconds, the plugin's other rows and other plugins do not."""

    class Throttled(Good):
        """Has had enough once."""

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            self.events.append(event)
            if len(self.events) == 1:
                raise Undelivered("429", retry_after=30.0)

    plugin, good = Throttled(), Good()
    pipeline = pipeline_on(store, plugin, good, clock=clock)
    fail(pipeline, "a", "b")
    assert pipeline.flush(20)
    clock.seconds = 29.9
    assert pipeline.flush(20)
    early = [event.task.name for event in plugin.events]
    clock.seconds = 30
    assert pipeline.flush(20)

    assert ["a", "b"] == early
    assert ["a", "b", "a"] == [event.task.name for event in plugin.events]
    assert ["a", "b"] == [event.task.name for event in good.events]
    assert pipeline.close()


def test_a_group_that_cannot_be_delivered_is_dead_letters_and_each_is_told(store, clock):
    """After the failures that a row may have, too; the next event begins a new group."""

    class Told:
        """Hears of dead letters."""

        def __init__(self) -> None:
            self.dead: list[tuple[str, str, str]] = []

        @hookimpl
        def on_delivery_failed(self, event: FailureEvent, plugin: str, error: str) -> None:
            self.dead.append((event.task.name, plugin, error))

    refused = [Undelivered("busy")] * 2
    plugin = Gathering(clock, [*refused, *[ValueError("broken")] * 5])
    told = Told()
    pipeline = pipeline_on(store, plugin, told, clock=clock)
    fail(pipeline, "a", "b")
    assert pipeline.flush(20)
    clock.seconds = 60
    assert pipeline.flush(20)
    why = "given up after 7 tries: ValueError: broken"
    assert until(lambda: len(told.dead) == 2)
    fail(pipeline, "c")
    assert pipeline.flush(20)
    clock.seconds = 120
    assert pipeline.flush(20)

    assert [("a", "gathering", why), ("b", "gathering", why)] == told.dead
    assert 2 == len(store.dead_letters())
    assert ("nightly", ["c"], 0, "", None) == plugin.handed[-1]
    assert pipeline.close()


def test_a_plugin_may_take_some_events_as_they_come(store, clock):
    """None falls back to the event's own hook; several groups are handed over each."""

    class Mixed(Gathering):
        """Gathers by the task's name."""

        def __init__(self, clock: ManualClock) -> None:
            super().__init__(clock)
            self.single: list[str] = []

        @hookimpl
        def group_event(self, event: FailureEvent):
            soon = self.clock.now() - MINUTE
            groups = {"a": None, "b": [], "c": [Group("x", soon), Group("y", soon)]}
            return groups[event.task.name]

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            self.single.append(event.task.name)

    plugin = Mixed(clock)
    pipeline = pipeline_on(store, plugin, clock=clock)
    fail(pipeline, "a", "b", "c")
    assert pipeline.flush(20)

    assert ["a", "b"] == plugin.single
    assert {"x", "y"} == {key for key, names, *_ in plugin.handed if names == ["c"]}
    assert pipeline.close()


def test_a_large_group_comes_in_parts(store, clock):
    """The plugin hears how many more there are, and they come at once."""
    plugin = Gathering(clock)
    limits = DeliveryLimits(gather=0.0, group=2)
    pipeline = pipeline_on(store, plugin, clock=clock, limits=limits)
    fail(pipeline, "a", "b", "c", "d", "e")
    assert pipeline.flush(20)
    clock.seconds = 60
    assert pipeline.flush(20)

    assert [(["a", "b"], 3), (["c", "d"], 1), (["e"], 0)] == [
        (names, remaining) for _, names, remaining, *_ in plugin.handed
    ]
    assert pipeline.close()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda now: "nightly", "it answered str, not Group, several, or None"),
        (lambda now: object(), "it answered object, not Group, several, or None"),
        (lambda now: ["nightly"], "it named str among its groups, not Group"),
        (lambda now: Group(" ", now), "the key of its group is empty"),
        (lambda now: Group(7, now), "its key is 7, not a str"),
        (lambda now: Group("k" * 2000, now), "its key has 2000 characters; 1024 are allowed"),
        (lambda now: Group("\x00", now), r"its key holds a NUL or a lone surrogate: '\x00'"),
        (lambda now: Group("k", 60), "its not_before is 60, not a datetime"),
        (lambda now: Group("k", now.replace(tzinfo=None)), "without a time zone"),
        (lambda now: Group("k", now + timedelta(days=400)), "more than 31 days ahead"),
        (lambda now: [Group("k", now)] * 2, "it named the group 'k' twice for one event"),
        (
            lambda now: (Group(str(n), now) for n in range(10**9)),
            "it named more than 100 groups for one event",
        ),
    ],
)
def test_nonsense_instead_of_a_group_is_a_failure_with_a_clear_line(clock, answer, says):
    """The event is tried as often as any other, and the dead letter says what was wrong."""

    class Confused(Gathering):
        """Answers what cannot be kept."""

        @hookimpl
        def group_event(self, event: FailureEvent):
            self.asked += 1
            return answer(self.clock.now())

    store, plugin, good = open_store("memory"), Confused(clock), Good()
    pipeline = pipeline_on(store, plugin, good, clock=clock)
    fail(pipeline, "a")
    assert pipeline.flush(20)

    (letter,) = store.dead_letters()
    assert 5 == plugin.asked
    assert says in letter.error
    assert 1 == len(good.events)
    assert pipeline.close()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("done", "it answered str, not Handled or None"),
        (Handled(note=7), "its note is 7, not a str"),
        (Handled(note="\ud800"), "its note holds a NUL or a lone surrogate"),
        (Handled(sent="yes"), "its sent is 'yes', not True or False"),
        (Handled(again_at=START.replace(tzinfo=None)), "without a time zone"),
        (Handled(again_at=START + timedelta(days=60)), "more than 31 days ahead"),
    ],
)
def test_nonsense_about_a_group_is_a_failure_of_that_call(clock, answer, says):
    """The group stays as it was, and is handed over again."""
    store, plugin = open_store("memory"), Gathering(clock, [answer])
    pipeline = pipeline_on(store, plugin, clock=clock, limits=DeliveryLimits(gather=0.0, poll=0.02))
    fail(pipeline, "a")
    assert pipeline.flush(20)
    clock.seconds = 60
    assert pipeline.flush(20)
    (waiting,) = store.waiting()
    clock.seconds = 120
    assert pipeline.flush(20)

    assert says in waiting.error
    assert [("nightly", ["a"], 0, "", None)] * 2 == plugin.handed
    assert pipeline.close()


def test_a_group_that_wants_to_come_again_at_once_has_to_wait_a_second(store, clock):
    """No plugin can keep its lane busy with nothing."""
    plugin = Gathering(clock, [Handled(again_at=START)] * 3)
    pipeline = pipeline_on(store, plugin, clock=clock)
    fail(pipeline, "a")
    for seconds in (0.0, 60.0, 60.5, 61.0):
        clock.seconds = seconds
        assert pipeline.flush(20)

    assert [["a"], []] == [names for _, names, *_ in plugin.handed]
    pipeline.close()


def test_single_rows_and_groups_have_their_turns(store, clock):
    """A backlog of rows does not keep a group from being handed over."""
    order: list[str] = []

    class Busy(Gathering):
        """Gathers what is called so."""

        @hookimpl
        def group_event(self, event: FailureEvent):
            return Group("g", self.clock.now()) if event.task.name == "grouped" else None

        @hookimpl
        def on_task_failed(self, event: FailureEvent) -> None:
            order.append("row")

        @hookimpl
        def on_group_due(self) -> None:
            order.append("group")

    limits = DeliveryLimits(gather=0.0, batch=10)
    names = [f"task-{number}" for number in range(50)]
    with pipeline_on(store, Busy(clock), clock=clock, dispatch="none") as filling:
        fail(filling, "grouped", *names)
        pipeline = pipeline_on(store, Busy(clock), clock=clock, limits=limits)
        assert pipeline.flush(20)
        assert pipeline.close()

    assert 9 == order.index("group")
    assert 50 == order.count("row")


def test_the_groups_of_a_plugin_that_gathers_no_more_come_one_by_one(store, clock):
    """Nothing waits for ever because a plugin was changed."""
    first = pipeline_on(store, Gathering(clock), clock=clock)
    fail(first, "a", "b")
    assert not first.close()
    clock.seconds = 60
    good = Good()
    second = pipeline_on(store, clock=clock)
    second.manager.register(good, "gathering")
    assert second.flush(20)

    assert ["a", "b"] == [event.task.name for event in good.events]
    assert () == tuple(store.dead_letters())
    second.close()


def test_an_event_of_a_group_that_cannot_be_read_keeps_nobody_waiting(clock, tmp_path):
    """It is a dead letter with its cause, and the rest of the group is handed over."""
    path, plugin = tmp_path / "failhook.db", Gathering(clock)
    pipeline = pipeline_on(open_store(path), plugin, clock=clock)
    fail(pipeline, "a", "b")
    assert pipeline.flush(20)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET body = '{' WHERE body LIKE '%\"a\"%'")
    connection.close()
    clock.seconds = 60
    assert pipeline.flush(20)

    (letter,) = pipeline.store.dead_letters()
    assert letter.event is None
    assert [["b"]] == [names for _, names, *_ in plugin.handed]
    assert pipeline.close()


def test_a_group_whose_call_hangs_is_put_back_and_a_late_answer_counts(store):
    """What was sent late was sent: it is not handed over a second time."""
    entered, over, handed = threading.Event(), threading.Event(), []

    class Hanging:
        """Hangs with its first group until it is let go."""

        @hookimpl
        def group_event(self, event: FailureEvent) -> Group:
            return Group("g", event.observed_at)

        @hookimpl
        def on_group_due(self, events) -> None:
            handed.append([event.task.name for event in events])
            entered.set()
            over.wait(60)

    limits = replace(QUICK, backoff=Backoff(initial=3600.0))
    pipeline = pipeline_on(store, Hanging(), limits=limits, manager=Limits(call=0.05))
    fail(pipeline, "a")
    assert entered.wait(20)
    assert until(lambda: not store.holders("hanging"))
    waiting = [each.error for each in store.waiting()]
    over.set()
    assert until(lambda: store.pending() == 0)

    assert ["no answer within the time limit"] == waiting
    assert [["a"]] == handed
    assert pipeline.close()
