"""Plugins whose deliveries outlive their process: each appends one line per event to a file."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from failhook.plugin import FailureEvent, Group, Undelivered, hookimpl


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
        append(self.path, _line(event))


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


class Gathering:
    """Takes events in groups, a few at a time, each group in one write."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @hookimpl
    def group_event(self, event: FailureEvent) -> Group:
        soon = datetime.now(UTC) + timedelta(milliseconds=15)
        return Group(f"group-{len(event.task.name) % 3}", soon)

    @hookimpl
    def on_group_due(self, events: Sequence[FailureEvent]) -> None:
        if events:
            append(self.path, "".join(map(_line, events)))


def _line(event: FailureEvent) -> str:
    task = event.task
    return f"{event.event_id} {event.type.value} {task.name} {task.attempt} {os.getpid()}\n"


def append(path: Path, text: str) -> None:
    """Add lines to a file in one system call.

    A kill may cut even that short: the next text begins a line of its own all the same.
    """
    content = f"\n{text}".encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        written = os.write(descriptor, content)
    finally:
        os.close(descriptor)
    assert len(content) == written


def lines(path: Path) -> Iterator[Line]:
    """Read what a plugin wrote down, in order; what a kill cut short was not taken."""
    for words in words_of(path, 5):
        event_id, kind, task, attempt, pid = words
        yield Line(event_id, kind, task, int(attempt), int(pid))


def words_of(path: Path, least: int) -> Iterator[list[str]]:
    """Read the lines of a file that have so many words at least."""
    found = map(str.split, path.read_text().splitlines() if path.exists() else ())
    return (words for words in found if len(words) >= least)


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
