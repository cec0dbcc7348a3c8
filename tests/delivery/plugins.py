"""Plugins whose deliveries outlive their process: each appends one line per event to a file."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from failhook.plugin import FailureEvent, Undelivered, hookimpl


class Line(NamedTuple):
    """One delivery, as a plugin wrote it down."""

    event_id: str
    type: str
    task: str
    attempt: int
    pid: int


class Appending:
    """Writes down each event that it takes, in one write that no kill can cut in two."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        self.take(event)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        self.take(event)

    def take(self, event: FailureEvent) -> None:
        """Write one line."""
        task = event.task
        line = f"{event.event_id} {event.type.value} {task.name} {task.attempt} {os.getpid()}\n"
        append(self.path, line)


class Slow(Appending):
    """Takes a few milliseconds for each event."""

    def take(self, event: FailureEvent) -> None:
        time.sleep(0.002)
        super().take(event)


class Flaky(Appending):
    """Fails at random, before it has taken an event or after."""

    def __init__(self, path: Path, seed: int) -> None:
        super().__init__(path)
        self.chance = random.Random(seed)

    def take(self, event: FailureEvent) -> None:
        if self.chance.random() < 0.15:
            raise ConnectionResetError("before it was taken")
        super().take(event)
        if self.chance.random() < 0.1:
            raise Undelivered("after it was taken")


def append(path: Path, line: str) -> None:
    """Add one line to a file in one system call."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        written = os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
    assert len(line.encode()) == written


def lines(path: Path) -> Iterator[Line]:
    """Read what a plugin wrote down, in order."""
    for line in path.read_text().splitlines() if path.exists() else ():
        event_id, kind, task, attempt, pid = line.split()
        yield Line(event_id, kind, task, int(attempt), int(pid))


def taken(path: Path) -> Counter[tuple[str, int]]:
    """Count how often a plugin took each attempt."""
    return Counter((line.task, line.attempt) for line in lines(path))


def until(done: Callable[[], object], seconds: float = 30.0) -> bool:
    """Wait for something that others do; return whether it came about."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.01)
    return bool(done())
