"""A clock that jumps by an hour, either way, loses nothing and holds up nothing new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from failhook.plugin import Task, Undelivered, hookimpl
from tests.delivery import takeovers
from tests.delivery.clocks import SettableClock
from tests.delivery.nights import Night, Recorder
from tests.delivery.plugins import until
from tests.delivery.processes import BUG, fill, run

HOUR = 3600.0
either_way = pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])


class Refusing(Recorder):
    """Refuses what it is offered while it is closed."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__()
        self.closed = True
        self.refused = 0
        self.retry_after = retry_after

    @hookimpl
    def on_task_failed(self, event) -> None:
        if self.closed:
            self.refused += 1
            raise Undelivered("not now", retry_after=self.retry_after)
        self.events.append(event)


@either_way
def test_reports_around_a_jump_are_delivered_at_once_and_in_order(where: str, jump: float) -> None:
    """Whatever the clock shows, what is reported is due, and a task is heard of in order."""
    clock = SettableClock()
    with Night(where, clock=clock) as night:
        for attempt, name in enumerate(("before", "after", "long after"), start=1):
            assert night.report("same", attempt=attempt)
            assert night.report(name)
            clock.step(jump)
        assert night.delivered()
        assert 3 == night.user_charges("same")
        assert [] == night.said.lines

    assert Counter({"same": 3, "before": 1, "after": 1, "long after": 1}) == night.plugin.heard
    assert [1, 2, 3] == [
        event.task.attempt for event in night.plugin.events if event.task.name == "same"
    ]


@either_way
def test_no_attempt_ends_before_it_began(where: str, jump: float) -> None:
    """A clock that is set while a task runs makes no negative times."""
    clock = SettableClock()
    with Night(where, clock=clock) as night:
        task = night.pipeline.started(Task("night", "load", run_id="r"))
        clock.step(jump)
        night.pipeline.failed(task, BUG)
        assert night.delivered("load")
        (event,) = night.plugin.events

    assert event.started_at <= event.ended_at
    moments = [each.occurred_at for each in event.phases.transitions]
    assert sorted(moments) == moments


@either_way
def test_what_waits_for_another_try_gets_it(where: str, jump: float) -> None:
    """A backoff is over at the latest when the clock has caught up; new events do not wait."""
    clock, plugin = SettableClock(), Refusing()
    with Night(where, clock=clock, plugin=plugin) as night:
        assert night.report("refused")
        assert until(lambda: plugin.refused)
        clock.step(jump)
        plugin.closed = False
        assert night.report("new")
        assert night.delivered("new")
        clock.pass_time(max(0.0, -jump) + 1.0)
        assert night.delivered("refused", "new")
        assert until(lambda: night.pipeline.store.pending() == 0)

    assert Counter(refused=1, new=1) == plugin.heard


@either_way
def test_retry_after_is_honoured_or_ends_early_but_never_for_ever(where: str, jump: float) -> None:
    """What asked for 30 s of patience is delivered once the clock shows them."""
    clock, plugin = SettableClock(), Refusing(retry_after=30.0)
    with Night(where, clock=clock, plugin=plugin) as night:
        assert night.report("refused")
        assert until(lambda: plugin.refused)
        clock.step(jump)
        plugin.closed = False
        clock.pass_time(max(0.0, -jump) + 31.0)
        assert night.delivered("refused")

    assert Counter(refused=1) == plugin.heard


@either_way
def test_a_lease_that_was_taken_before_the_jump_ends(
    where: str, tmp_path: Path, jump: float
) -> None:
    """What a dead process held is delivered by another one whose clock is an hour apart."""
    run(fill, where, (takeovers.PLUGIN,), 5, 2)
    takeovers.claim_and_die(where, tmp_path)
    clock = SettableClock()
    clock.step(jump)
    plugin = Recorder()

    with Night(where, clock=clock, plugin=plugin, name=takeovers.PLUGIN) as night:
        night.pipeline.flush(10.0)
        assert night.delivered(*(f"task-{number}" for number in range(5)))
        assert until(lambda: night.pipeline.store.pending() == 0)

    assert 10 == len(plugin.events)
