"""What a group remembers, and that it is enough and not too much."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.manager.answers import MAX_NOTE
from failhook.manager.provisions import VolatileState
from failhook.plugin import ErrorInfo, EventType, FailureEvent, Task
from failhook_sinks.alerts import state as state_module
from failhook_sinks.alerts.dedup import Standing, to_say
from failhook_sinks.alerts.engine import Engine
from failhook_sinks.alerts.model import Status, Why
from failhook_sinks.alerts.router import Router
from failhook_sinks.alerts.state import GroupState, read_state
from failhook_sinks.alerts.tree import Threshold
from tests.outbox.world import START, ManualClock
from tests.sinks.alerts.world import Recording, route
from tests.sinks.log.events import BROKEN, event

TASKS = 10_000
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("fail"), st.integers(0, 2), st.integers(0, 1)),
        st.tuples(st.just("well"), st.integers(0, 2), st.just(0)),
        st.tuples(st.just("look"), st.just(0), st.just(0)),
    ),
    max_size=40,
)


class Group:
    """One group of an engine, handed over by hand as the outbox would."""

    def __init__(self, **more) -> None:
        self.clock = ManualClock()
        self.receiver = Recording("team", self.clock)
        self.state = VolatileState()
        self.engine = Engine(
            Router(route(group_by=(), **more)),
            {"team": self.receiver},
            state=self.state,
            clock=self.clock,
            max_age=3_600,
        )
        self.waiting: list[FailureEvent] = []
        self.key, self.note, self.sent_at = "", "", None

    def add(self, happened: FailureEvent) -> None:
        """Let an event wait, if the engine wants it."""
        groups = self.engine.groups(happened)
        if groups:
            (group,) = groups
            self.key = group.key
            self.waiting.append(happened)

    def look(self, size: int = 500) -> None:
        """Hand over what waits, in parts of that size."""
        parts = [self.waiting[at : at + size] for at in range(0, len(self.waiting), size)] or [[]]
        left = len(self.waiting)
        for part in parts:
            left -= len(part)
            handled = self.engine.due(self.key, part, left, self.note, self.sent_at)
            self.note = handled.note
            self.sent_at = self.clock.now() if handled.sent else self.sent_at
        self.waiting = []


def failure(job: int, cause: int, run: int, second: float) -> FailureEvent:
    """Return a failure of a job."""
    at = START + timedelta(seconds=second)
    error = ErrorInfo(type=f"builtins.{'KeyError' if cause else 'ValueError'}", message="gone")
    task = Task("nightly", f"job-{job}", run_id=f"run-{run}")
    made = event(task=task, details=BROKEN, error=error)
    return replace(made, ended_at=at, observed_at=at)


def recovery(job: int, run: int, second: float) -> FailureEvent:
    """Return the success of a run that began after everything so far."""
    at = START + timedelta(seconds=second)
    made = event(EventType.RECOVERED, task=Task("nightly", f"job-{job}", run_id=f"run-{run}"))
    return replace(made, started_at=at, ended_at=at, observed_at=at)


@given(STEPS)
def test_what_people_were_told_is_what_is_true(steps):
    """After each look the last notice tells what fails; nothing resolves that never fired."""
    group, failing, open_alerts, told = Group(repeat_interval=1e9), set(), set(), 0
    for number, (what, job, cause) in enumerate([*steps, *ALL_WELL]):
        group.clock.seconds = number + 1.0
        if what == "fail":
            group.add(failure(job, cause, number, number))
            failing.add((f"job-{job}", cause))
        elif what == "well":
            group.add(recovery(job, number, number + 0.5))
            failing = {each for each in failing if each[0] != f"job-{job}"}
        else:
            group.look()
            for notification in group.receiver.sent[told:]:
                alerts = {status: set() for status in Status}
                for alert in notification.alerts:
                    seen = int(alert.event.error.name == "KeyError")
                    alerts[alert.status].add((alert.event.task.name, seen))
                assert alerts[Status.RESOLVED] <= open_alerts
                open_alerts = alerts[Status.FIRING]
            told = len(group.receiver.sent)
            assert failing == open_alerts

    assert "" == group.note
    assert {} == dict(group.state.items("open/"))


ALL_WELL = [("look", 0, 0), *(("well", job, 0) for job in range(3)), ("look", 0, 0)]


def test_a_digest_holds_ten_thousand_tasks():
    """All are counted, the newest thousand told; each recovers for itself."""
    group = Group()
    for number in range(TASKS):
        group.add(failure(number, 0, 1, number / TASKS))
    group.look(size=2_500)
    size = len(group.note)
    for number in range(0, TASKS, 100):
        group.add(recovery(number, 2, 10))
    group.look()

    first, second = group.receiver.sent
    assert (1_000, TASKS - 1_000, TASKS) == (len(first.alerts), first.more, first.failures)
    assert size <= MAX_NOTE
    assert (Why.CHANGED, TASKS - 100) == (second.why, len(read_state(group.note).episodes))
    assert TASKS - 100 == len(group.state.items("open/"))


@pytest.mark.parametrize(("size", "most"), [(100_000, 10_000), (3_800_000, 200)])
def test_a_note_is_never_longer_than_is_allowed(size, most, monkeypatch):
    """However long names, messages and labels are: what finds no room is counted."""
    monkeypatch.setattr(state_module, "NOTE_SIZE", size)
    monkeypatch.setattr(state_module, "MOST_ALERTS", most)
    group = Group()
    labels = {f"label-{number}": "v" * 200 for number in range(20)}
    for number in range(300):
        task = Task("w" * 200, f"{number}-{'n' * 200}", run_id="r" * 200, labels=labels)
        group.add(replace(failure(0, 0, 1, 0), task=task, event_id=f"{number:032}"))
    group.look()
    kept = read_state(group.note)

    assert len(group.note) < size + 20_000
    assert len(kept.episodes) < 300 == len(kept.episodes) + kept.beyond == kept.failures
    assert len(kept.episodes) == len(group.state.items("open/"))
    (notification,) = group.receiver.sent
    assert 300 == len(notification.alerts) + notification.more


def test_an_alert_keeps_its_labels_where_there_is_no_room_for_its_details(monkeypatch):
    """By its labels Alertmanager knows it: a reminder or a resolve with others is another alert."""
    monkeypatch.setattr(state_module, "DETAILS_SIZE", 2_000)
    group = Group(repeat_interval=1.0)
    for number in range(20):
        made = failure(number, number % 2, 1, number)
        group.add(replace(made, task=replace(made.task, labels={"team": f"t{number % 3}"})))
    group.look()
    group.clock.seconds = 60.0
    group.look()
    for number in range(20):
        group.add(recovery(number, 2, 60))
    group.look()

    new, reminder, over = (
        {alert.fingerprint: alert.labels for alert in each.alerts} for each in group.receiver.sent
    )
    assert 20 == len(new)
    assert new == reminder == over


def test_what_comes_late_changes_nothing_of_what_is_newer():
    """A failure that is delivered after a later one counts, and the newest stays the newest."""
    group = Group()
    for run in (2, 1):
        group.add(failure(0, 0, run, float(run)))
    group.look()
    group.add(recovery(0, 3, 10))
    group.look()

    (alert,) = group.receiver.sent[0].alerts
    assert ("run-2", 2, 2) == (alert.event.task.run_id, alert.count, alert.runs)
    assert "" == group.note
    assert {} == dict(group.state.items("open/"))


def test_counts_of_a_threshold_have_their_bound(monkeypatch):
    """Labels with ever new values cannot fill the note."""
    monkeypatch.setattr(state_module, "_MOST_HITS", 30)
    group = Group(threshold=Threshold(count=3, within=600, for_each=("task",)))
    for number in range(50):
        group.add(failure(number, 0, 1, 0))
    group.look()

    assert 10 == len(read_state(group.note).hits)
    assert [] == group.receiver.sent


def test_a_group_in_parts_says_one_thing():
    """What does not fit one call is taken in without a word; the last part speaks."""
    group = Group()
    for number in range(10):
        group.add(failure(number, 0, 1, 0))
    group.look(size=3)

    assert [10] == [len(each.alerts) for each in group.receiver.sent]


def test_an_event_that_is_handed_over_twice_counts_once():
    """A drainer that died after it had taken an event in changes no number."""
    group = Group()
    group.add(failure(0, 0, 1, 0))
    group.waiting *= 2
    group.look()

    assert 1 == group.receiver.sent[0].failures


def test_a_note_that_cannot_be_read_begins_the_group_anew(caplog):
    """Better told twice than not at all; the log says why."""
    assert GroupState() == read_state("{}")
    assert GroupState() == read_state('{"version": 99}')
    assert 2 == len([each for each in caplog.records if "begins anew" in each.getMessage()])


NOW = START + timedelta(hours=5)
TOLD = Standing(firing=True, new=False, told=True, over=False, sent_at=START)
EXPECTED = [
    (replace(TOLD, new=True, told=False, sent_at=None), True, Why.NEW),
    (replace(TOLD, new=True), True, Why.CHANGED),
    (replace(TOLD, firing=False, told=False), True, None),
    (replace(TOLD, firing=False, over=True), True, Why.RESOLVED),
    (replace(TOLD, firing=False, over=True), False, Why.RESOLVED),
    (replace(TOLD, over=True, sent_at=NOW), True, Why.CHANGED),
    (replace(TOLD, over=True, sent_at=NOW), False, None),
    (replace(TOLD, sent_at=NOW), True, None),
    (replace(TOLD, sent_at=NOW - timedelta(hours=4)), True, None),
    (replace(TOLD, sent_at=NOW - timedelta(hours=4, seconds=1)), True, Why.REMINDER),
]


@pytest.mark.parametrize(("standing", "send_resolved", "expected"), EXPECTED)
def test_what_is_to_be_said_is_alertmanagers_rule(standing, send_resolved, expected):
    """Case by case as in its DedupStage; a repeat_interval must have passed."""
    assert expected == to_say(
        standing, send_resolved=send_resolved, repeat_interval=14_400, now=NOW
    )
