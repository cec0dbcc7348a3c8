"""An alert from its first failure to its recovery, whatever happens to processes and receivers."""

from __future__ import annotations

import threading
from dataclasses import replace

from failhook.outbox.port import Bounds
from failhook.plugin import Evidence, Matcher, Policy, Task, Undelivered
from failhook.stores.memory import MemoryStore
from failhook_sinks.alerts import open_alerts
from failhook_sinks.alerts.model import Status, Why
from failhook_sinks.alerts.owners import Owner
from failhook_sinks.alerts.receivers.fallback import WithFallback
from failhook_sinks.alerts.tree import Route
from tests.outbox.world import ManualClock
from tests.sinks.alerts.world import DAY, HOUR, Recording, nightly, route, world_on

BUG = Evidence.exception(KeyError("amount"))
TWICE = Policy(retries=1)
OTHER_BUG = Evidence.exception(ValueError("no rows"))


def test_a_recovery_after_a_restart_resolves_the_same_key_once(store):
    """What an earlier process has told of, a later one takes back."""
    with world_on(store) as world:
        world.run(nightly(1), BUG)
        world.until(10)
        world.restart()
        world.run(nightly(2))
        world.until(HOUR)
        world.run(nightly(3))
        world.until(2 * HOUR)

        first, second = world.team.sent
        assert [(3.0, "new", 1, 0), (303.0, "resolved", 0, 1)] == world.team.told
        assert first.group_key == second.group_key
        assert ("", "thread 1") == (first.memory, second.memory)
        assert {} == dict(store.state_items("alerts", "open/"))


def test_what_is_well_before_anybody_heard_of_it_is_never_told(store):
    """No resolve without a trigger, and no trigger for what is over already."""
    with world_on(store, route=route(group_wait=60.0)) as world:
        world.run(nightly(1), BUG)
        world.until(30)
        world.run(nightly(2))
        world.until(HOUR)

        assert [] == world.team.told
        assert {} == dict(store.state_items("alerts", "open/"))


def test_a_recovery_of_what_was_never_reported_says_nothing(store):
    """A task that failed once and was retried is no alert, so there is nothing to take back."""
    with world_on(store) as world:
        task = world.fail(Task("nightly", "load", run_id="r", policy=None))
        world.until(10)
        world.restart(route(routes=(replace(route(), place="r0", matchers=SUM),)))
        world.run(replace(task, name="other"))
        world.until(HOUR)

        assert ["new"] == [each.why.value for each in world.team.sent]


SUM = (Matcher("task", "=", "sum"),)


def test_a_failed_send_moves_no_state(store):
    """It is as if it had not been tried; what came meanwhile goes out with it."""
    with world_on(store) as world:
        world.team.refusals = [Undelivered("503", retry_after=30.0)] * 2
        world.run(nightly(1), BUG)
        world.until(10)
        index = dict(store.state_items("alerts", "open/"))
        world.fail(Task("nightly", "sum", run_id="r"), BUG)
        world.until(HOUR)

        assert 1 == len(index)
        assert [(63.0, "new", 2, 0)] == world.team.told
        assert 2 == world.team.sent[0].failures


def test_a_resolve_that_is_not_taken_is_sent_again(store):
    """A receiver that is down for the recovery hears of it when it is back."""
    with world_on(store) as world:
        world.run(nightly(1), BUG)
        world.until(10)
        world.team.refusals = [Undelivered("503", retry_after=60.0)]
        world.run(nightly(2))
        world.until(HOUR)

        assert [(3.0, "new", 1, 0), (363.0, "resolved", 0, 1)] == world.team.told


def test_a_parallel_run_resolves_nothing_of_another(store):
    """Only a run that began after the failure shows that the job is well again."""
    with world_on(store) as world:
        beside = world.pipeline.started(nightly(2))
        world.clock.seconds = 1
        world.run(nightly(1), BUG)
        world.until(10)
        world.pipeline.succeeded(beside)
        world.until(HOUR / 2)
        before = list(world.team.told)
        world.run(nightly(3))
        world.until(HOUR)

        assert [(3.0 + 1, "new", 1, 0)] == before
        assert ["new", "resolved"] == [each.why.value for each in world.team.sent]


def test_a_success_whose_start_nobody_saw_ends_what_had_failed_before(store):
    """A host that never says ``started`` has its alerts taken back all the same."""
    with world_on(store) as world:
        world.pipeline.failed(nightly(1), BUG)
        world.until(10)
        world.pipeline.succeeded(nightly(2))
        world.until(HOUR)

        assert [(3.0, "new", 1, 0), (303.0, "resolved", 0, 1)] == world.team.told


def test_a_failure_that_its_recovery_has_overtaken_opens_no_alert(store):
    """Another drainer died with it in hand: when it is delivered, the task is well again."""
    with world_on(store) as world:
        world.clock.seconds = 1
        other = world.begin(dispatch="none")
        other.failed(nightly(1), BUG)
        other.close(20)
        claimed = store.claim(
            "alerts", now=world.clock.now(), lease=60.0, limit=10, owner="drainer that died"
        )
        world.clock.seconds = 5
        world.run(nightly(2))
        world.until(HOUR)

        assert 1 == len(claimed)
        assert [] == world.team.told
        assert {} == dict(store.state_items("alerts", "open/"))

        world.run(nightly(3), BUG)
        world.until(HOUR + 10)
        assert ["new"] == [each.why.value for each in world.team.sent]


def test_a_dead_letter_that_is_revived_when_the_task_is_well_opens_no_alert(store):
    """It was never told, and nothing would ever end it."""
    with world_on(store) as world:
        world.team.refusals = [Undelivered("invalid_auth", retryable=False)]
        world.run(nightly(1), BUG)
        world.until(10)
        world.run(nightly(2))
        world.until(HOUR)
        revived = store.revive([each.id for each in store.dead_letters()], world.clock.now())
        world.until(2 * HOUR)

        assert 1 == revived
        assert [] == world.team.told
        assert {} == dict(store.state_items("alerts", "open/"))


def test_one_index_of_a_mapped_task_resolves_nothing_of_another(store):
    """Each is a job of its own."""
    with world_on(store) as world:
        for index in (0, 1):
            world.run(Task("nightly", "load", run_id="r1", map_index=index), BUG)
        world.until(10)
        world.run(Task("nightly", "load", run_id="r2", map_index=0))
        world.until(HOUR)

        assert [(3.0, "new", 2, 0), (303.0, "changed", 1, 1)] == world.team.told


def test_a_better_verdict_makes_no_second_alert(store):
    """It is in the text of the next notice, and the alert stays in its group."""
    with world_on(store, route=route(repeat_interval=HOUR)) as world:
        task = Task("nightly", "load", run_id="r")
        world.fail(task, Evidence.returncode(-9))
        world.until(10)
        pod = {
            "status": {"phase": "Failed", "reason": "Evicted", "message": "node is low on memory"}
        }
        world.pipeline.failed(task, Evidence.pod(pod))
        world.until(HOUR + 600)

        first, second = world.team.sent
        reasons = [each.alerts[0].event.failure_details.reason for each in world.team.sent]
        assert (Why.NEW, Why.REMINDER) == (first.why, second.why)
        assert first.group_key == second.group_key
        assert ["KilledBySignal", "Evicted"] == reasons
        assert 1 == second.failures


def test_an_attempt_that_succeeded_after_all_takes_its_alert_back(store):
    """What was given up as lost reports success: the amendment resolves it."""
    with world_on(store) as world:
        task = world.pipeline.started(Task("nightly", "load", run_id="r"))
        world.pipeline.failed(task, Evidence.returncode(-9))
        world.until(10)
        world.pipeline.succeeded(task)
        world.until(HOUR)

        assert ["new", "resolved"] == [each.why.value for each in world.team.sent]


def test_two_causes_of_one_task_are_two_alerts_and_one_recovery_ends_both(store):
    """Tonight's bug is another than last night's; tomorrow all is well."""
    with world_on(store) as world:
        world.run(nightly(1), BUG)
        world.until(10)
        world.run(nightly(2), OTHER_BUG)
        world.until(20)
        world.run(nightly(3))
        world.until(HOUR)

        reasons = [each.why.value for each in world.team.sent]
        assert ["new", "new", "resolved", "resolved"] == reasons
        assert 2 == len({each.group_key for each in world.team.sent})


def test_a_run_resolves_no_parallel_one_when_it_recovers_itself(store):
    """It had begun before the other failed, and proves nothing of that."""
    with world_on(store) as world:
        one = world.fail(world.pipeline.started(replace(nightly(1), policy=TWICE)), BUG)
        other = world.pipeline.started(nightly(2))
        world.clock.seconds += 1
        one = world.pipeline.started(one)
        world.clock.seconds += 10
        world.fail(other, BUG)
        world.until(20)
        world.pipeline.succeeded(one)
        world.until(HOUR)

        assert ["new"] == [each.why.value for each in world.team.sent]


def test_a_task_mentions_nobody_by_its_own_words(store):
    """Whoever writes tasks does not write the owner map."""
    with world_on(store, owners=[Owner(name="data", mention="@data")]) as world:
        world.fail(Task("nightly", "load", run_id="r1", owner="<!channel>"), BUG)
        world.until(10)

        assert [""] == [each.mention for each in world.team.sent]


def test_drainers_side_by_side_tell_of_each_thing_once(store):
    """Three processes deliver from one store; nothing is told twice and nothing is lost."""
    with world_on(store, route=route(group_by=("workflow",))) as world:
        others = [world.begin(), world.begin()]
        for number in range(30):
            world.fail(Task(f"w{number % 5}", f"t{number}", run_id="r1"), BUG)
        for second in (0, 4, 20, 310):
            world.clock.seconds = second
            for number in range(30 if second == 20 else 0):
                world.run(Task(f"w{number % 5}", f"t{number}", run_id="r2"))
            together = [threading.Thread(target=world.flush, args=others[:1])]
            together += [threading.Thread(target=each.flush, args=(60,)) for each in others]
            for thread in together:
                thread.start()
            for thread in together:
                thread.join()
        world.until(HOUR)
        for other in others:
            other.close(20)

        assert 10 == len(world.team.sent)
        assert 30 == sum(len(each.alerts) for each in world.team.sent if each.why is Why.NEW)
        assert 30 == sum(len(each.alerts) for each in world.team.sent if each.why is Why.RESOLVED)
        assert {} == dict(store.state_items("alerts", "open/"))


def test_marked_tests_stay_apart_from_real_failures(store):
    """Each test is sent, none reminds, and a real failure is never shown as a test."""
    with world_on(store) as world:
        for number in (1, 2):
            world.fail(Task("nightly", "load", run_id=f"s{number}"), BUG, simulated=True)
            world.until(DAY * number)
        world.run(nightly(1), BUG)
        world.until(2 * DAY + 10)

        assert [True, True, False] == [each.simulated for each in world.team.sent]
        assert 2 == len({each.group_key for each in world.team.sent})


def test_a_job_that_nobody_runs_again_is_not_told_of_for_ever(store):
    """A week after its last failure the reminders end; its recovery is told all the same."""
    with world_on(store, route=route(group_interval=DAY / 2, repeat_interval=DAY)) as world:
        world.run(nightly(1), BUG)
        world.until(30 * DAY)
        count = len(world.team.sent)
        world.run(nightly(2))
        world.until(31 * DAY)

        assert 7 >= count
        assert Why.RESOLVED is world.team.sent[-1].why
        assert count + 1 == len(world.team.sent)


def test_a_job_that_runs_once_a_year_is_told_to_be_well(store):
    """Neither another process nor another failure in its group forgets it meanwhile."""
    with world_on(store) as world:
        world.run(nightly(1), BUG)
        world.until(10)
        world.restart()
        world.clock.seconds = 300 * DAY
        world.run(nightly(1, "other"), BUG)
        world.until(300 * DAY + HOUR)
        world.clock.seconds = 365 * DAY
        world.run(nightly(2))
        world.run(nightly(2, "other"))
        world.until(365 * DAY + HOUR)

        told = [alert for each in world.team.sent for alert in each.alerts]
        over = [alert.event.task.name for alert in told if alert.status is Status.RESOLVED]
        assert ["load", "other"] == sorted(over)


def test_what_was_dropped_leaves_no_more_behind_than_is_allowed(monkeypatch):
    """Nobody settles an event that was never delivered: where it waited is forgotten by count."""
    monkeypatch.setattr(open_alerts, "MOST", 20)
    store = MemoryStore(Bounds(events=10, bytes=10**9))
    with world_on(store) as world:
        for number in range(100):
            world.fail(f"task-{number}", BUG)
            world.flush()
        before = len(store.state_items("alerts", "open/"))
        world.until(10)

        assert 100 == before
        assert 20 >= len(store.state_items("alerts", "open/"))


def test_owners_get_their_own_and_are_called(store):
    """A route that says to_owner goes to their receiver; the mention is from the owner map."""
    owners = [Owner(name="data", matchers=SUM, receiver="other", mention="<!subteam^S1>")]
    with world_on(store, route=route(to_owner=True), owners=owners) as world:
        world.fail("load", BUG)
        world.fail("sum", OTHER_BUG)
        world.until(10)

        (mine,), (theirs,) = world.team.sent, world.receivers["other"].sent
        assert ("", "<!subteam^S1>") == (mine.mention, theirs.mention)
        assert "data" == theirs.alerts[0].labels["owner"]


def test_a_task_calls_no_owner_that_the_map_does_not_give_it(store):
    """Its own ``owner`` is a label that anybody may write; whom that calls, the matchers say."""
    owners = [Owner(name="data", matchers=SUM, mention="<!channel>"), Owner(name="ml", mention="@")]
    with world_on(store, route=route(group_by=("task",)), owners=owners) as world:
        world.fail(Task("nightly", "load", run_id="r1", owner="data"), BUG)
        world.fail(Task("nightly", "sum", run_id="r1", owner="ml"), BUG)
        world.fail(Task("nightly", "rest", run_id="r1", owner="ml"), BUG)
        world.until(10)

        called = {each.group_labels["task"]: each.mention for each in world.team.sent}
        assert {"load": "", "sum": "<!channel>", "rest": "@"} == called


def test_a_receiver_that_must_be_kept_alive_hears_at_each_look(store):
    """Alertmanager forgets what it is not told of again."""
    clock = ManualClock()
    receivers = {"team": Recording("team", clock, keep_alive=True)}
    with world_on(store, clock=clock, receivers=receivers) as world:
        world.run(nightly(1), BUG)
        world.until(1_000)
        world.run(nightly(2))
        world.until(HOUR)

        reasons = [each.why.value for each in world.team.sent]
        assert ["new", "reminder", "reminder", "reminder", "resolved"] == reasons


def test_what_was_told_before_the_configuration_changed_is_still_taken_back(store):
    """Its group goes on without reminders; new failures go where they go now."""
    changed = Route(place="route", receiver="other", group_by=("workflow",))
    with world_on(store) as world:
        world.run(nightly(1), BUG)
        world.until(10)
        world.restart(changed)
        world.until(DAY)
        before = list(world.team.told)
        world.run(nightly(2))
        world.until(2 * DAY)

        assert 1 == len(before)
        assert ["new", "resolved"] == [each.why.value for each in world.team.sent]
        assert [] == world.receivers["other"].told


def test_what_was_told_while_there_was_a_fallback_is_taken_back_without_one(store):
    """The receiver is given what it remembers itself, and so finds its thread or incident."""
    clock = ManualClock()
    plain, other = Recording("team", clock), Recording("other", clock)
    receivers = {"team": WithFallback(plain, lambda: other, clock), "other": other}
    with world_on(store, clock=clock, receivers=receivers) as world:
        world.run(nightly(1), BUG)
        world.until(10)
        receivers["team"] = plain
        world.restart()
        world.run(nightly(2))
        world.until(HOUR)

        assert ["", "thread 1"] == [each.memory for each in plain.sent]
        assert ["new", "resolved"] == [each.why.value for each in plain.sent]


def test_a_success_in_doubt_is_told_once_where_a_route_wants_everything(store):
    """Nothing ever resolves it, so nothing reminds of it either."""
    with world_on(store, route=route(notify_on="every")) as world:
        task = world.pipeline.started(nightly(1))
        world.pipeline.succeeded(task, Evidence.returncode(-9))
        world.until(2 * DAY)

        assert [(3.0, "new", 1, 0)] == world.team.told
        assert "SuspectSuccess" == world.team.sent[0].alerts[0].labels["alertname"]
