"""What one drainer leaves, another one delivers; what one has lost, it touches no more."""

from __future__ import annotations

import os
import signal
from collections import Counter
from datetime import datetime
from pathlib import Path

from failhook.evidence import Evidence
from failhook.plugin import FailureEvent, Task, hookimpl
from failhook.stores import open_store
from tests.delivery import takeovers
from tests.delivery.plugins import lines, taken, until
from tests.delivery.processes import EAGER, deliver, fill, pipeline_on, run, start
from tests.delivery.takeovers import PLUGIN

TASKS, ATTEMPTS = 10, 2
PLUGINS = ("good", "slow")
EVERY = Counter((f"task-{task}", attempt) for task in range(TASKS) for attempt in (1, 2))


def settled(where: str) -> bool:
    """Return whether nothing waits and nothing is dead."""
    store = open_store(where)
    try:
        return (store.pending(), list(store.dead_letters())) == (0, [])
    finally:
        store.close()


def in_order(path: Path) -> bool:
    """Return whether a plugin took the attempts of each task in order."""
    last: dict[str, int] = {}
    for line in lines(path):
        if line.attempt < last.get(line.task, 0):
            return False
        last[line.task] = line.attempt
    return True


def test_a_drainer_that_was_stopped_goes_on_without_delivering_again(
    where: str, tmp_path: Path
) -> None:
    """Its lease passes to another one; when it wakes, only the call it was in has come twice."""
    run(fill, where, (PLUGIN,), TASKS, ATTEMPTS)
    stopped = start(takeovers.drain, where, tmp_path, "stopped")
    assert until((tmp_path / "stopped-called").exists)
    os.kill(stopped.pid, signal.SIGSTOP)

    run(takeovers.drain_openly, where, tmp_path, "other")
    assert settled(where)
    (tmp_path / "stopped-go").touch()
    os.kill(stopped.pid, signal.SIGCONT)
    stopped.join(60)

    assert 0 == stopped.exitcode
    assert EVERY == taken(tmp_path / "other")
    ((again, count),) = taken(tmp_path / "stopped").items()
    assert 1 == count
    assert again in EVERY
    assert set(lines_of(tmp_path / "stopped")) <= set(lines_of(tmp_path / "other"))
    assert in_order(tmp_path / "other")
    assert settled(where)


def lines_of(path: Path) -> list[tuple[str, str, int]]:
    """Return what a plugin took, by event id, task and attempt."""
    return [(line.event_id, line.task, line.attempt) for line in lines(path)]


def test_a_drainer_that_lost_its_lease_cannot_bury_what_another_one_holds(
    where: str, tmp_path: Path
) -> None:
    """The late word of the old holder changes nothing for the new one."""
    run(fill, where, (PLUGIN,), 1, 1)
    old = start(takeovers.drain, where, tmp_path, "old", "400: refused for good")
    assert until((tmp_path / "old-called").exists)
    os.kill(old.pid, signal.SIGSTOP)
    new = start(takeovers.drain, where, tmp_path, "new")
    assert until((tmp_path / "new-called").exists)
    (tmp_path / "old-go").touch()
    os.kill(old.pid, signal.SIGCONT)
    assert not until((tmp_path / "old-ended").exists, 0.5)

    (tmp_path / "new-go").touch()
    for process in (new, old):
        process.join(60)

    assert (0, 0) == (new.exitcode, old.exitcode)
    assert (Counter(), Counter({("task-0", 1): 1})) == (
        taken(tmp_path / "old"),
        taken(tmp_path / "new"),
    )
    assert settled(where)


def test_what_waits_for_a_hung_plugin_is_delivered_by_another_process(
    where: str, tmp_path: Path
) -> None:
    """A process whose plugin hangs holds no row for longer than the time limit and the lease."""
    run(fill, where, (PLUGIN,), TASKS, ATTEMPTS)
    hung = start(takeovers.hang, where, tmp_path, "hung")
    assert until((tmp_path / "hung-overdue").exists)

    run(takeovers.drain_openly, where, tmp_path, "other")

    assert hung.is_alive()
    hung.kill()
    hung.join()
    assert EVERY == taken(tmp_path / "other")
    assert in_order(tmp_path / "other")
    assert settled(where)


class Recorder:
    """Remembers what it is given."""

    def __init__(self) -> None:
        self.events: list[FailureEvent] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.events.append(event)


def test_a_restart_replays_nothing_that_was_delivered(where: str) -> None:
    """The next process delivers what was left, with its first id and time, and nothing else."""
    first, second = Recorder(), Recorder()
    with pipeline_on(where, {PLUGIN: first}) as pipeline:
        for number in range(20):
            task = Task("restart", f"old-{number}", run_id="r")
            pipeline.failed(task, Evidence.returncode(3))
        assert pipeline.flush(30.0)
    with pipeline_on(where, {PLUGIN: first}, dispatch="none") as pipeline:
        reported = datetime.now().astimezone()
        for attempt in (1, 2, 3):
            task = Task("restart", "left", run_id="r", attempt=attempt)
            pipeline.failed(task, Evidence.returncode(3))
        before = datetime.now().astimezone()

    with pipeline_on(where, {PLUGIN: second}, limits=EAGER) as pipeline:
        assert pipeline.flush(30.0)
        for number in range(20):  # a restarted host reports what it reported before
            task = Task("restart", f"old-{number}", run_id="r")
            pipeline.failed(task, Evidence.returncode(3))
        assert until(lambda: pipeline.store.pending() == 0)

    assert [f"old-{number}" for number in range(20)] == [each.task.name for each in first.events]
    assert [("left", 1), ("left", 2), ("left", 3)] == [
        (each.task.name, each.task.attempt) for each in second.events
    ]
    assert all(reported <= each.observed_at <= before for each in second.events)
    assert 3 == len({each.event_id for each in second.events})


def test_several_drainers_share_the_work(where: str, tmp_path: Path) -> None:
    """Four processes empty one outbox: each event goes out once, and each task is in order."""
    run(fill, where, PLUGINS, 40, 3)
    drainers = [start(deliver, where, tmp_path, number, ("good", "slow")) for number in range(4)]
    for drainer in drainers:
        drainer.join(60)

    assert [0] * 4 == [drainer.exitcode for drainer in drainers]
    every = Counter((f"task-{task}", attempt) for task in range(40) for attempt in (1, 2, 3))
    for plugin in PLUGINS:
        assert every == taken(tmp_path / plugin)
        assert in_order(tmp_path / plugin)
    assert settled(where)


def test_the_next_process_delivers_what_was_left_although_nothing_fails_in_it(where: str) -> None:
    """Whoever comes after a crash delivers its events when the first task starts."""
    run(fill, where, (PLUGIN,), 3, 1)
    plugin = Recorder()

    with pipeline_on(where, {PLUGIN: plugin}) as pipeline:
        pipeline.started(Task("restart", "fine", run_id="r"))
        assert until(lambda: len(plugin.events) == 3, 10.0)
