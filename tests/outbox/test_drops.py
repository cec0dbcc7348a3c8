"""Events that were dropped are logged at once, and told to the plugin when it works again."""

from __future__ import annotations

from pathlib import Path

import pytest

from failhook.outbox.port import Bounds
from failhook.plugin import DroppedEvents, FailureEvent, Undelivered, hookimpl
from failhook.stores import open_store
from tests.outbox.world import Good, fail, pipeline_on, until


class Down(Good):
    """Takes nothing until it is up."""

    up = False

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        if not self.up:
            raise Undelivered("503", retry_after=60.0)
        self.events.append(event)


class Told(Down):
    """Hears of what it lost, at the second try."""

    def __init__(self) -> None:
        super().__init__()
        self.drops: list[DroppedEvents] = []

    @hookimpl
    def on_events_dropped(self, dropped: DroppedEvents) -> None:
        self.drops.append(dropped)
        if len(self.drops) == 1:
            raise Undelivered("not yet")


@pytest.fixture(params=["memory", "sqlite"])
def small(request: pytest.FixtureRequest, tmp_path: Path):
    """Return a store in which three events may wait for each plugin."""
    where = "memory" if request.param == "memory" else str(tmp_path / "failhook.db")
    opened = open_store(where, bounds=Bounds(events=3))
    yield opened
    opened.close()


def test_a_plugin_hears_what_it_lost_once_it_works_again(small, clock, caplog):
    """As often as it takes, and then no more; the log tells at once."""
    plugin = Told()
    pipeline = pipeline_on(small, plugin, clock=clock)
    fail(pipeline, *"abcdefg")
    assert pipeline.flush(20)
    clock.seconds = 1
    assert pipeline.flush(20)
    told_early = list(plugin.drops)
    plugin.up = True
    clock.seconds = 61
    assert pipeline.flush(20)
    clock.seconds = 70
    fail(pipeline, "h")
    assert until(lambda: len(plugin.drops) == 2)
    assert pipeline.flush(20)

    assert [] == told_early
    assert [4, 4] == [dropped.events for dropped in plugin.drops]
    assert () == tuple(small.drops())
    taken = {event.task.name for event in plugin.events}  # what was leased just then is kept
    assert (4, True) == (len(taken), {*"gh"} <= taken)
    lines = [each.getMessage() for each in caplog.records if "dropped" in each.getMessage()]
    assert 4 == sum(int(line.removeprefix("told: ").partition(" ")[0]) for line in lines)
    assert pipeline.close()


def test_a_plugin_without_the_hook_has_its_drops_in_the_log_alone(small, clock, caplog):
    """They count as told when it works again."""
    plugin = Down()
    pipeline = pipeline_on(small, plugin, clock=clock)
    fail(pipeline, *"abcdefg")
    assert pipeline.flush(20)
    clock.seconds = 1
    assert pipeline.flush(20)
    waiting = [dropped.events for dropped in small.drops()]
    plugin.up = True
    clock.seconds = 61
    assert pipeline.flush(20)

    assert [4] == waiting
    assert () == tuple(small.drops())
    assert any("not told yet: 4" in each.getMessage() for each in caplog.records)
    assert pipeline.close()
