"""What a receiver does not take goes to the one behind it, and is said there why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failhook.plugin import Undelivered
from failhook_sinks.alerts.model import Status, Why
from failhook_sinks.alerts.receivers.fallback import WithFallback
from tests.sinks.alerts.receivers.notices import notice, resolved

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


def test_an_end_that_was_said_to_one_is_not_said_twice_to_the_other(both, chat, pager):
    """The first choice hears of it last, since a chat cannot be told twice."""
    chat.refuses = FOR_GOOD
    told = notice(memory=both.send(notice()))
    chat.refuses = None
    told = replace(told, memory=both.send(told))
    pager.refuses = FOR_NOW

    with pytest.raises(Undelivered):
        both.send(resolved(told))

    assert [Status.FIRING] == [each.status for each in chat.taken]


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
