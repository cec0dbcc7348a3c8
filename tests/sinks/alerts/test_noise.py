"""What people are told, and what they are spared."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from failhook.outbox.port import Bounds
from failhook.plugin import Evidence, Policy, Task
from failhook.stores import open_store
from failhook_sinks.alerts.text import message_of, plain
from failhook_sinks.alerts.tree import Route, Threshold
from tests.outbox.world import START, ManualClock
from tests.sinks.alerts.world import DAY, HOUR, Recording, nightly, route, world_on

STORM = 10_000
BUG = Evidence.exception(KeyError("amount"))


def test_a_task_that_succeeds_in_the_end_pages_nobody(store):
    """Two failures, then success, with three retries: silence."""
    with world_on(store) as world:
        task = Task("nightly", "load", run_id="r", policy=Policy(retries=3))
        for _ in range(2):
            task = world.fail(world.pipeline.started(task), BUG)
        world.run(task)
        world.until(HOUR)

        assert [] == world.team.told


def test_a_task_whose_retries_are_used_up_pages_once_with_the_first_cause(store):
    """One alert at the end, and it knows how it began."""
    with world_on(store) as world:
        task = Task("nightly", "load", run_id="r", policy=Policy(retries=2))
        task = world.fail(task, Evidence.exception(ConnectionResetError("by peer")))
        for _ in range(2):
            task = world.fail(task, BUG)
        world.until(HOUR)

        assert [(3.0, "new", 1, 0)] == world.team.told
        (alert,) = world.team.sent[0].alerts
        assert "ConnectionResetError: by peer" in alert.first_cause
        assert 3 == alert.event.task.attempt


def test_a_nightly_job_that_fails_for_a_week_is_one_episode(store):
    """Reminders as configured, never a second alert, and one recovery with the right count."""
    with world_on(store, route=route(group_interval=HOUR, repeat_interval=2 * DAY)) as world:
        for night in range(7):
            world.until(night * DAY)
            world.run(nightly(night), BUG)
        world.until(7 * DAY)
        world.run(nightly(7))
        world.until(8 * DAY)

        reasons = [why for _, why, _, _ in world.team.told]
        assert ["new", "reminder", "reminder", "reminder", "resolved"] == reasons
        assert 7 == world.team.sent[-1].alerts[0].count
        assert 0 == world.store.pending()


def test_deaths_that_only_an_observer_saw_page_nobody_when_the_task_succeeds(store):
    """A worker that is killed twice says nothing itself; the third attempt does the work."""
    with world_on(store) as world:
        task = Task("nightly", "load", run_id="r", policy=Policy(retries=3))
        for _ in range(2):
            world.pipeline.started(task)
            task = world.fail(task, Evidence.returncode(-9))
        world.run(task)
        world.until(HOUR)

        assert [] == world.team.told


def test_like_failures_with_changing_ids_are_one_alert_and_a_new_one_is_told_at_once(store):
    """48 runs in 12 hours with other ids each: one alert, two reminders; another bug, at once."""
    with world_on(store, route=route(group_interval=HOUR / 4)) as world:
        for number in range(48):
            world.until(number * HOUR / 4)
            bug = Evidence.exception(ValueError(f"order {number * 4711} is missing"))
            world.run(nightly(number), bug)
        count = len(world.team.sent)
        world.run(nightly(48), BUG)
        world.until(world.clock.seconds + 3)

        assert ["new", "reminder", "reminder"] == [each.why.value for each in world.team.sent][:3]
        assert 3 == count
        newest = world.team.sent[-1]
        assert ("new", 1) == (newest.why.value, len(newest.alerts))
        assert newest.group_labels["cause"].startswith("KeyError/")


def test_a_storm_is_one_incident_for_each_cause():
    """10,000 failures of three causes in a minute: three incidents, ten messages at most."""
    causes = [KeyError("amount"), ValueError("no rows"), TimeoutError("by the warehouse")]
    with world_on(open_store("memory", Bounds())) as world:
        for number in range(STORM):
            second = 60 * number // STORM
            if second > world.clock.seconds:
                world.until(second)
            world.fail(f"task-{number}", Evidence.exception(causes[number % len(causes)]))
        world.until(HOUR / 2)

        first = {
            each.group_key: at
            for each, at in reversed([*zip(world.team.sent, world.team.at, strict=True)])
        }
        last = {each.group_key: each.failures for each in world.team.sent}
        assert 3 == len(last)
        assert len(world.team.sent) <= 10
        assert max(first.values()) < START + timedelta(seconds=5)
        assert STORM == sum(last.values())


def test_what_somebody_ended_himself_pages_nobody_unless_asked(store):
    """A cancelled run is no news; a route that says so hears of it all the same."""
    cancelled = Evidence.cancel("ann")
    asking = route(routes=(replace(route(manual=True), place="route.routes[0]", receiver="other"),))
    with world_on(store) as world:
        world.fail("load", cancelled)
        world.until(HOUR)
        world.restart(asking)
        world.fail("sum", cancelled)
        world.until(2 * HOUR)

        assert [] == world.team.told
        assert [(HOUR + 3, "new", 1, 0)] == world.receivers["other"].told


def test_routes_hear_of_what_they_ask_for(store):
    """notify_on: final, every, first and nth, of a task that fails four times."""
    asked = [("final", 1), ("every", 1), ("first", 1), ("nth", 3)]
    routes = tuple(
        Route(place=f"route.routes[{number}]", receiver=how, notify_on=how, nth=nth, goes_on=True)
        for number, (how, nth) in enumerate(asked)
    )
    clock = ManualClock()
    receivers = {how: Recording(how, clock) for how, _ in asked}
    with world_on(store, route=route(routes=routes), clock=clock, receivers=receivers) as world:
        task = Task("nightly", "load", run_id="r", policy=Policy(retries=3))
        for _ in range(4):
            task = world.fail(task, BUG)
        world.until(HOUR / 2)

        heard = {how: each.sent[-1].alerts[0].count for how, each in receivers.items() if each.sent}
        assert {"final": 1, "every": 4, "first": 2, "nth": 2} == heard


def test_a_threshold_is_silent_until_enough_failed_in_time(store):
    """Three within ten minutes, counted for each team; two long apart are nothing."""
    threshold = Threshold(count=3, within=600, for_each=("team",))
    with world_on(store, route=route(group_by=(), threshold=threshold)) as world:
        for second, team, number in [
            (0, "data", 1),
            (500, "web", 2),
            (600, "web", 7),
            (1_000, "data", 3),
            (1_100, "data", 4),
            (1_201, "web", 5),
            (1_300, "data", 6),
        ]:
            world.until(second)
            world.fail(Task("nightly", f"t{number}", run_id="r", labels={"team": team}), BUG)
        world.until(3 * HOUR)

        (notification,) = world.team.sent
        assert 1_303.0 == world.team.told[0][0]
        assert {"t3", "t4", "t6"} == {alert.event.task.name for alert in notification.alerts}
        assert 3 == notification.failures


def test_what_failed_long_ago_is_one_summary_for_each_route(store):
    """A sink that comes back after a night tells of it in one message, not in sixty."""
    with world_on(store) as world:
        others = world.begin(dispatch="none")
        for number in range(60):
            bug = Evidence.exception(RuntimeError(f"{'abcdefghij'[number % 10]} is broken"))
            others.failed(Task("nightly", f"task-{number}", run_id="r"), bug)
        others.close(0)
        world.clock.seconds = 2 * HOUR
        world.restart()
        world.run(nightly(1), BUG)
        world.until(4 * HOUR)

        late, now = world.team.sent
        assert late.note.startswith("60 older failures, the last at 2026-03-29 12:00 UTC")
        assert (60, "", 1) == (late.failures, now.note, now.failures)


def test_lost_events_are_told_to_whoever_gets_the_rest():
    """What the bounds dropped is one notification on the topmost route, and can be rendered."""
    with world_on(open_store("memory", Bounds(events=3))) as world:
        for name in "abcdefg":
            world.pipeline.failed(Task("nightly", name, run_id="r"), BUG)
        world.until(HOUR)

        lost = world.team.sent[0]
        assert "EventsDropped" == lost.alerts[0].event.failure_details.reason
        assert "events from 2026-03-29 12:00 to 2026-03-29 12:00 UTC" in lost.note
        assert lost.alerts[0].count == 7 - sum(each.failures for each in world.team.sent[1:])
        assert "are lost" in plain(message_of(lost))
