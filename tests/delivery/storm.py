"""A storm: failures without end while every plugin is dead, and what it costs.

``python -m tests.delivery.storm WHERE FAILURES [EVENTS]`` prints what was seen as JSON. Workflows
fail in waves: each task is tried ten times, and its last failure is final.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from failhook.evidence import Evidence
from failhook.gate.overrides import Policies
from failhook.manager import Limits, Manager
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Bounds, Store
from failhook.pipeline import Pipeline
from failhook.plugin import DroppedEvents, FailureEvent, Task, Undelivered, hookimpl
from failhook.policy import Policy
from failhook.stores import open_store
from tests.delivery.clocks import SettableClock
from tests.delivery.plugins import until

ATTEMPTS = 10
WAVE = 100
HOUR = 3600.0
MIB = 1024 * 1024
LIMITS = DeliveryLimits(max_failures=1_000, max_refusals=1_000)
"""The defaults, but that nothing becomes a dead letter."""


class Dead:
    """A plugin that takes nothing until it is back; then it remembers what it got."""

    def __init__(self) -> None:
        self.back = threading.Event()
        self.attempts: dict[str, list[int]] = defaultdict(list)
        self.dropped: list[DroppedEvents] = []

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        if not self.back.is_set():
            self.refuse()
        self.attempts[event.task.name].append(event.task.attempt)

    @hookimpl
    def on_events_dropped(self, dropped: DroppedEvents) -> None:
        self.dropped.append(dropped)

    def refuse(self) -> None:
        """Do not take an event."""
        raise ConnectionRefusedError(111, "Connection refused")


class Hanging(Dead):
    """Does not even answer; the call that hung breaks when the plugin is back."""

    def refuse(self) -> None:
        self.back.wait()
        raise TimeoutError


class Refusing(Dead):
    """Says that it cannot deliver just now."""

    def refuse(self) -> None:
        raise Undelivered("503 Service Unavailable")


@dataclass
class Heard:
    """What became of the events of one plugin.

    Attributes:
        delivered: events, each counted once.
        repeated: deliveries of an event that was delivered before.
        disorder: tasks that were heard of out of order.
        final: tasks whose final failure was delivered.
        dropped: events that `on_events_dropped` told of.
        dropped_final: how many of those were final.
        dropped_by_kind: how many of each kind.
    """

    delivered: int
    repeated: int
    disorder: int
    final: int
    dropped: int
    dropped_final: int
    dropped_by_kind: dict[str, int]


@dataclass
class Storm:
    """What was seen of a storm.

    Attributes:
        failures: how many were reported.
        decisions: a digest of all decisions, in order.
        seconds: how long the reports took.
        growth: MiB by which the process's peak grew while the plugins were dead.
        growth_after: MiB by which it had grown when everything was delivered.
        threads: how many threads there were after each wave.
        heard: by plugin.
        waiting: events left in the outbox in the end.
        dead: dead letters in the end.
    """

    failures: int
    decisions: str = ""
    seconds: float = 0.0
    growth: float = 0.0
    growth_after: float = 0.0
    threads: list[int] = field(default_factory=list)
    heard: dict[str, Heard] = field(default_factory=dict)
    waiting: int = 0
    dead: int = 0


def failures(count: int) -> Iterator[tuple[Task, Evidence]]:
    """Yield so many failures: waves of tasks that fail side by side, each until its end."""
    bug = ValueError("no such column: 'amount'")
    seen = (
        Evidence.returncode(3),
        Evidence.returncode(-9, oom_host=0),
        Evidence.exception(bug),
        Evidence.deadline(30.0, elapsed=31.0),
    )
    for number in range(count):
        wave, place = divmod(number, WAVE * ATTEMPTS)
        attempt, task = divmod(place, WAVE)
        yield (
            Task("storm", f"task-{wave}-{task}", run_id="r", attempt=attempt + 1),
            seen[(task + attempt) % len(seen)],
        )


def storm(store: Store, count: int, plugins: dict[str, Dead]) -> Storm:
    """Report failures while every plugin is dead, then let the plugins come back."""
    clock = SettableClock()
    manager = Manager(clock=clock, limits=Limits(call=0.5))
    for name, plugin in plugins.items():
        manager.register(plugin, name)
    seen = Storm(count)
    digest = hashlib.sha256()
    pipeline = Pipeline(
        store,
        manager=manager,
        policies=Policies(Policy(retries=ATTEMPTS - 1)),
        delivery=LIMITS,
        clock=clock,
        random=lambda: 1.0,
    )
    with pipeline:
        before = _peak()
        begun = time.perf_counter()
        for number, (task, evidence) in enumerate(failures(count), start=1):
            decision = pipeline.failed(task, evidence)
            digest.update(json.dumps(decision.to_dict()).encode())
            if number % (WAVE * ATTEMPTS) == 0:
                seen.threads.append(threading.active_count())
        seen.seconds = time.perf_counter() - begun
        seen.growth = (_peak() - before) / MIB
        for plugin in plugins.values():
            plugin.back.set()
        clock.pass_time(HOUR)
        until(lambda: not pipeline.flush(60.0) or not pipeline.store.pending(), 600.0)
        until(lambda: not pipeline.store.drops(), 60.0)
        seen.growth_after = (_peak() - before) / MIB
        seen.waiting = pipeline.store.pending()
        seen.dead = len(pipeline.store.dead_letters())
    seen.decisions = digest.hexdigest()
    seen.heard = {name: _heard(plugin) for name, plugin in plugins.items()}
    return seen


def _heard(plugin: Dead) -> Heard:
    kinds: Counter[str] = Counter()
    for dropped in plugin.dropped:
        kinds.update(dropped.by_kind)
    once = {task: list(dict.fromkeys(attempts)) for task, attempts in plugin.attempts.items()}
    return Heard(
        delivered=sum(map(len, once.values())),
        repeated=sum(map(len, plugin.attempts.values())) - sum(map(len, once.values())),
        disorder=sum(attempts != sorted(attempts) for attempts in once.values()),
        final=sum(ATTEMPTS in attempts for attempts in once.values()),
        dropped=sum(dropped.events for dropped in plugin.dropped),
        dropped_final=sum(dropped.final for dropped in plugin.dropped),
        dropped_by_kind=dict(kinds),
    )


def _peak() -> int:
    """Return the most bytes that this process had in memory so far.

    What `getrusage` says would count what its parent had before the two went apart.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024


def main(where: str, count: str, events: str = "") -> None:
    """Let a storm rage, and print what was seen."""
    logging.disable(logging.CRITICAL)
    dead: dict[str, Dead] = {"raising": Dead(), "hanging": Hanging(), "refusing": Refusing()}
    if where == "none":  # no plugin at all
        where, dead = "memory", {}
    store = open_store(where, bounds=Bounds(events=int(events))) if events else open_store(where)
    print(json.dumps(asdict(storm(store, int(count), dead))))


if __name__ == "__main__":
    main(*sys.argv[1:])
