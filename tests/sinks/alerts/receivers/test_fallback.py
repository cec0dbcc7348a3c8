"""What a receiver does not take goes to the one behind it, and is said there why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from failhook.plugin import Evidence, Task, Undelivered
from failhook_sinks.alerts.model import Status, Why
from failhook_sinks.alerts.receivers.fallback import WithFallback
from failhook_sinks.alerts.tree import Route
from tests.outbox.world import ManualClock
from tests.sinks.alerts.receivers.notices import alert, notice, resolved
from tests.sinks.alerts.world import HOUR, Recording, World

FAILED = alert().event.observed_at
FOR_GOOD = Undelivered("no such channel", retryable=False)
FOR_NOW = Undelivered("no answer", retry_after=7)


class Place:
    """A receiver that takes everything unless it is told not to; it remembers how many."""

    keep_alive = False

    def __init__(self, name):
        self.name, self.taken, self.refuses = name, [], None

    def send(self, notification):
        if self.refuses is not None:
            raise self.refuses
        self.taken.append(notification)
        return f"{self.name} {len(self.taken)}"


class Watch:
    """A clock that is set by hand."""

    seconds = 0.0

    def monotonic(self):
        return self.seconds

    def now(self):
        return FAILED + timedelta(seconds=self.seconds)


@pytest.fixture
def watch():
    """The clock of the receiver."""
    return Watch()


@pytest.fixture
def chat():
    """The first choice."""
    return Place("chat")


@pytest.fixture
def pager():
    """The second."""
    return Place("pager")


@pytest.fixture
def both(chat, pager, watch):
    """The two in one."""
    return WithFallback(chat, lambda: pager, watch, 60)


def test_what_is_taken_goes_to_the_first_alone(both, chat, pager):
    """And each remembers its own, however often the process is new."""
    memory = both.send(notice())
    both.send(notice(memory=memory))

    assert ["", "chat 1"] == [each.memory for each in chat.taken]
    assert [] == pager.taken


def test_what_is_refused_for_good_goes_to_the_fallback_which_is_told_why(both, chat, pager):
    """In its own name, with its own memory, and a note above all else."""
    chat.refuses = FOR_GOOD

    memory = both.send(notice())
    both.send(notice(memory=memory))

    assert "pager" == pager.taken[0].receiver
    assert "pager gets this because chat did not take it: no such channel" == pager.taken[0].note
    assert ["", "pager 1"] == [each.memory for each in pager.taken]


def test_what_may_pass_is_tried_again_before_the_fallback_is_told(both, chat, pager, watch):
    """A minute's outage wakes nobody by another way; a longer one does."""
    chat.refuses = FOR_NOW
    for watch.seconds in (0.0, 59.0):
        with pytest.raises(Undelivered) as caught:
            both.send(notice())
        assert FOR_NOW is caught.value

    watch.seconds = 60.0
    both.send(notice())

    assert "no answer" in pager.taken[0].note


def test_an_outage_is_counted_from_its_own_beginning(both, chat, pager, watch):
    """What went out in between ends it."""
    for watch.seconds, refusal in ((0.0, FOR_NOW), (30.0, None), (80.0, FOR_NOW)):
        chat.refuses = refusal
        if refusal is None:
            both.send(notice())
        else:
            with pytest.raises(Undelivered):
                both.send(notice())

    assert [] == pager.taken


def test_who_was_told_that_it_fires_is_told_that_it_is_well_again(both, chat, pager):
    """An incident at the fallback does not burn on because the first choice is back."""
    chat.refuses = FOR_GOOD
    told = notice(memory=both.send(notice()))
    chat.refuses = None
    told = replace(told, why=Why.REMINDER, memory=both.send(told))

    assert "" == both.send(resolved(told))
    assert [Status.RESOLVED] == [each.status for each in pager.taken[1:]]
    assert [Status.FIRING, Status.RESOLVED] == [each.status for each in chat.taken]


def test_who_was_not_told_that_it_fires_is_not_told_that_it_is_well_again(both, chat, pager):
    """Neither of the two hears of an end without a beginning."""
    chat.refuses = FOR_GOOD
    told = notice(memory=both.send(notice()))
    chat.refuses = None

    both.send(resolved(told))

    assert [] == chat.taken
    assert 2 == len(pager.taken)


def in_both(both, chat):
    """Return what both have heard of."""
    chat.refuses = FOR_GOOD
    told = notice(memory=both.send(notice()))
    chat.refuses = None
    return resolved(replace(told, memory=both.send(told)))


def ends(place):
    """Return how often a receiver was told that all is well."""
    return [each.status for each in place.taken].count(Status.RESOLVED)


@pytest.mark.parametrize("out", ["chat", "pager"])
def test_an_end_that_one_of_two_has_is_tried_again_with_the_other_alone(both, chat, pager, out):
    """However often the outbox tries: who was told once is not told again."""
    over = in_both(both, chat)
    waiting = {"chat": chat, "pager": pager}[out]
    waiting.refuses = FOR_NOW
    for _ in range(3):
        with pytest.raises(Undelivered) as caught:
            both.send(over)
        assert caught.value.retryable

    waiting.refuses = None
    assert "" == both.send(over)
    assert (1, 1) == (ends(chat), ends(pager))


def test_an_outage_at_the_end_holds_up_neither_and_passes_over_neither(both, chat, pager, watch):
    """Once it is long the fallback hears of the end, once; the first choice when it is back."""
    over = in_both(both, chat)
    chat.refuses = FOR_NOW
    seen = []
    for watch.seconds in (0.0, 60.0, 600.0):
        with pytest.raises(Undelivered):
            both.send(over)
        seen.append((ends(chat), ends(pager)))
    chat.refuses = None

    both.send(over)

    assert [(0, 0), (0, 1), (0, 1)] == seen
    assert (1, 1) == (ends(chat), ends(pager))


def test_the_fallback_hears_of_no_end_of_what_it_never_heard_of(both, chat, pager, watch):
    """The first choice alone was told: the end waits for it, and is a dead letter without it."""
    told = notice(memory=both.send(notice()))
    for watch.seconds, chat.refuses in ((0.0, FOR_NOW), (9_000.0, FOR_NOW), (9_000.0, FOR_GOOD)):
        with pytest.raises(Undelivered) as caught:
            both.send(resolved(told))
        assert chat.refuses is caught.value

    assert [] == pager.taken


def test_an_end_of_which_one_hears_is_no_dead_letter_for_the_other(both, chat, pager, caplog):
    """Trying again would tell it twice; the log says who was not told."""
    over = in_both(both, chat)
    chat.refuses = FOR_GOOD

    assert "" == both.send(over)
    assert 1 == ends(pager)
    assert "one was not told of the end: no such channel" in caplog.text


def test_processes_that_live_for_one_try_pass_on_what_has_waited(chat, pager, watch):
    """Each begins to count anew; how long news waits for is known to all."""
    chat.refuses = FOR_NOW
    for watch.seconds in (0.0, 300.0, 359.0):
        with pytest.raises(Undelivered):
            WithFallback(chat, lambda: pager, watch, 60).send(notice())

    watch.seconds = 360.0
    WithFallback(chat, lambda: pager, watch, 60).send(notice())

    assert 1 == len(pager.taken)


@pytest.mark.parametrize(
    ("refusals", "expected"),
    [
        ((FOR_GOOD, FOR_GOOD), (False, None)),
        ((FOR_GOOD, FOR_NOW), (True, 7)),
        ((FOR_NOW, FOR_GOOD), (True, 7)),
    ],
)
def test_where_neither_takes_it_both_reasons_are_told(chat, pager, watch, refusals, expected):
    """It is tried again where either may come to take it; else it is a dead letter."""
    chat.refuses, pager.refuses = refusals

    with pytest.raises(Undelivered, match=r"chat: .*; its fallback pager: ") as caught:
        WithFallback(chat, lambda: pager, watch, 0).send(notice())

    assert expected == (caught.value.retryable, caught.value.retry_after)


def test_what_was_told_before_there_was_a_fallback_goes_on(both, chat):
    """The memory of the receiver alone is taken over."""
    both.send(notice(memory="thread 5"))

    assert "thread 5" == chat.taken[0].memory


def test_what_keeps_an_alert_alive_is_no_reminder_at_the_fallback(chat, pager, watch):
    """It hears of news, and again when people are to be reminded; not at each interval."""
    chat.keep_alive, chat.refuses = True, FOR_NOW
    told, memory = [], ""
    for minutes in range(0, 600, 5):
        watch.seconds = 60.0 * minutes
        why = {0: Why.NEW, 200: Why.CHANGED}.get(minutes, Why.REMINDER)
        both = WithFallback(chat, lambda: pager, watch, 0)
        memory = both.send(notice(why=why, memory=memory, repeat_interval=14_400.0))
        told += [(minutes, each.why) for each in pager.taken[len(told) :]]

    assert [(0, Why.NEW), (200, Why.CHANGED), (445, Why.REMINDER)] == told


def test_every_reminder_of_what_is_not_kept_alive_is_passed_on(both, chat, pager):
    """It comes when people are to be reminded, and only then."""
    chat.refuses = FOR_GOOD
    memory = both.send(notice())

    both.send(notice(why=Why.REMINDER, memory=memory))

    assert [Why.NEW, Why.REMINDER] == [each.why for each in pager.taken]


def test_a_reminder_is_due_at_the_fallback_after_the_routes_repeat_interval(store):
    """An Alertmanager that is gone for half a day makes no message every five minutes."""
    clock = ManualClock()
    gone, other = Recording("team", clock, keep_alive=True), Recording("other", clock)
    gone.refusals = [Undelivered("gone", retryable=False)] * 1_000
    receivers = {"team": WithFallback(gone, lambda: other, clock), "other": other}
    route = Route(place="route", receiver="team", repeat_interval=2 * HOUR)
    world = World(store, route, clock=clock, receivers=receivers)
    world.run(Task("nightly", "load", run_id="1"), Evidence.returncode(3))

    world.until(5 * HOUR)
    world.pipeline.close(5)

    assert [Why.NEW, Why.REMINDER, Why.REMINDER] == [each.why for each in other.sent]
