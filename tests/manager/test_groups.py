from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from failhook.errors import RegistrationError
from failhook.event import EventType
from failhook.groups import DroppedEvents, Group, Handled
from failhook.manager import Limits, Status
from failhook.plugin import Undelivered, hookimpl


class Gathering:
    def __init__(self, groups=None, handled=None):
        self.groups, self.handled, self.single = groups, handled, 0

    @hookimpl
    def group_event(self, event):
        return self.groups

    @hookimpl
    def on_group_due(self):
        return self.handled

    @hookimpl
    def on_task_failed(self):
        self.single += 1


def due(manager, name="Gathering"):
    """Hand an empty group to a plugin."""
    return manager.call_group(name, key="k", events=[], remaining=0, note="", sent_at=None)


def test_gathering_takes_both_hooks(make_manager):
    """One without the other is refused at registration, and the message says what to write."""

    class OnlyGroups:
        @hookimpl
        def group_event(self, event):
            pass

    class OnlyDue:
        @hookimpl
        def on_group_due(self, events):
            pass

    manager = make_manager()
    with pytest.raises(
        RegistrationError, match="Implement on_group_due too, or remove group_event"
    ):
        manager.register(OnlyGroups)
    with pytest.raises(
        RegistrationError, match="Implement group_event too, or remove on_group_due"
    ):
        manager.register(OnlyDue)


def test_a_plugin_that_gathers_is_for_every_type_of_event(make_manager, make_event):
    """It is asked for each, whatever other hooks it has."""
    manager = make_manager(Gathering())

    for event_type in EventType:
        assert ("Gathering",) == manager.listeners(event_type)
        assert manager.call("Gathering", make_event(event_type)).delivered
    assert manager.gathers("Gathering")
    assert not manager.gathers("nobody")


def test_groups_are_handed_on_and_the_events_own_hook_is_not_called(make_manager, event, clock):
    """An iterable of groups is read within the call; None and nothing fall back to the hook."""
    plugin = Gathering()
    manager = make_manager(plugin, clock=clock)
    group = Group("k", clock.now() + timedelta(minutes=1))
    answers = []
    for groups in (group, (each for each in [group]), None, []):
        plugin.groups = groups
        answers.append(manager.call("Gathering", event).groups)

    assert [(group,), (group,), (), ()] == answers
    assert 2 == plugin.single


def test_times_of_the_past_are_now(make_manager, event, clock):
    """So that no absurd time has to be stored."""
    past = Group("k", clock.now() - timedelta(days=700_000))
    manager = make_manager(Gathering(past), clock=clock)

    assert (Group("k", clock.now()),) == manager.call("Gathering", event).groups


def test_an_answer_about_groups_that_comes_late_is_worth_nothing(make_manager, event, clock):
    """The event has been put back by then; what was sent late is sent all the same."""

    class Late(Gathering):
        @hookimpl
        def group_event(self, event):
            clock.seconds += 31
            return super().group_event(event)

        @hookimpl
        def on_group_due(self):
            clock.seconds += 31
            return super().on_group_due()

    plugin = Late(Group("k", clock.now()), Handled(note="n"))
    manager = make_manager(plugin, clock=clock)
    asked = manager.call("Late", event)

    assert (Status.FAILED, "it ran for longer than 30 s") == (asked.status, asked.error)
    assert 0 == plugin.single
    assert Handled(note="n") == due(manager, "Late").handled


def test_asking_for_groups_and_handing_them_over_count_for_the_same_part(make_manager, event):
    """A plugin that fails at either is left alone with its events."""

    class Broken(Gathering):
        @hookimpl
        def group_event(self, event):
            raise ValueError("boom")

        @hookimpl
        def on_group_due(self):
            raise SystemExit(3)

    manager = make_manager(Broken(), limits=Limits(failures=2))
    assert "ValueError: boom" == manager.call("Broken", event).error
    assert "SystemExit: 3" == due(manager, "Broken").error
    (health,) = manager.health()

    assert ("events", 2, True) == (health.part, health.failed, health.quarantined)


def test_async_hooks_gather_too(make_manager, event, clock):
    """Their answers are read as those of others are."""

    class Async(Gathering):
        @hookimpl
        async def group_event(self, event):
            return Group("k", clock.now())

        @hookimpl
        async def on_group_due(self):
            return 7

    manager = make_manager(Async(), clock=clock)

    assert (Group("k", clock.now()),) == manager.call("Async", event).groups
    assert "it answered int, not Handled or None" == due(manager, "Async").error


def test_a_group_hook_that_hangs_is_overdue(make_manager, event, clock):
    """The watch sees it as it sees the others."""
    entered, over = threading.Event(), threading.Event()

    class Hanging(Gathering):
        @hookimpl
        def on_group_due(self):
            entered.set()
            over.wait(60)

    manager = make_manager(Hanging(), clock=clock)
    lane = threading.Thread(target=due, args=(manager, "Hanging"))
    lane.start()
    try:
        assert entered.wait(60)
        clock.seconds += 31
        assert ("Hanging",) == manager.overdue()
    finally:
        over.set()
        lane.join(60)


def test_drops_are_told_alone_and_do_not_count_for_the_events(make_manager, event, clock):
    """One that fails at it is passed over for a while, and gets its events all the same."""

    class Told(Gathering):
        @hookimpl
        def on_events_dropped(self, dropped):
            raise Undelivered("later") if dropped.events == 1 else ValueError("boom")

    dropped = DroppedEvents("Told", 1, 0, {}, clock.now(), clock.now())
    manager = make_manager(Told(), Gathering(), limits=Limits(failures=1), clock=clock)
    assert "later" == manager.call_dropped("Told", dropped).error
    broken = DroppedEvents("Told", 2, 0, {}, clock.now(), clock.now())
    assert "ValueError: boom" == manager.call_dropped("Told", broken).error

    assert "passed over: in quarantine" == manager.call_dropped("Told", dropped).error
    assert manager.call("Told", event).delivered
    assert manager.call_dropped("Gathering", dropped).delivered


def test_every_call_is_told_to_who_keeps_count(make_manager, event, clock):
    """With plugin, hook, how it ended and how long it took; a late one as soon as it is late."""

    class Slow(Gathering):
        @hookimpl
        def on_task_failed(self):
            clock.seconds += 31

        @hookimpl
        def on_delivery_failed(self):
            raise Undelivered("no")

    told = []
    manager = make_manager(Slow(), clock=clock)
    manager.count_calls(told.append)
    manager.call("Slow", event)
    manager.call_hook("on_delivery_failed", event=event, plugin="p", error="e")

    assert [
        ("group_event", "delivered", False, 0.0),
        ("on_task_failed", "failed", True, None),
        ("on_task_failed", "delivered", False, 31.0),
        ("on_delivery_failed", "undelivered", False, 0.0),
    ] == [(each.hook, each.status, each.slow, each.seconds) for each in told]
