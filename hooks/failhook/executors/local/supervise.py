"""Watches one child from its orders to its end: reports, deadline, heartbeat, requests to stop."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from failhook.executors.local import stops
from failhook.executors.local.process import Child
from failhook.executors.local.report import Report
from failhook.executors.local.stop import Stop, StopRequest
from failhook.executors.local.work import Terms

BEATS: Final = 4
"""How many heartbeats fit into the time without one that is allowed."""

_BOOT: Final = 10.0
"""Seconds that a process may take to come up, before time limit and heartbeat begin to count."""
_POLL: Final = 0.05
"""Seconds between two looks at a child, only where the system cannot tell of its end."""
_LONGEST_WAIT: Final = 3600.0
_ASKS: Final = {"deadline": stops.DEADLINE, "cancel": stops.CANCEL, "shutdown": stops.SHUTDOWN}


@dataclass(slots=True)
class End:
    """How one child ended.

    Attributes:
        report: its own words.
        code: its status as `subprocess` gives it; None when it could not be read.
        stop: why the executor ended it; None when it ended by itself or from outside.
        killed: did the executor send SIGKILL?
        terminated: did the executor send SIGTERM?
        elapsed: seconds that the task ran.
        silent: seconds since its last heartbeat.
        oom: the OOM-kill counters, as `Evidence.returncode` takes them.
        peak: the most bytes of memory that one of its processes had in use at a time.
        output: the end of its output, where that was kept.
    """

    report: Report
    code: int | None = None
    stop: Stop | None = None
    killed: bool = False
    terminated: bool = False
    elapsed: float = 0.0
    silent: float = 0.0
    oom: dict[str, int] = field(default_factory=dict[str, int])
    peak: int = 0
    output: str = ""


def supervise(
    child: Child, terms: Terms, request: StopRequest, heartbeats: Path | None = None
) -> End:
    """Watch a child that has its orders until it has ended, with all of its group.

    Args:
        child: the process.
        terms: what it runs under.
        request: who wants it to stop.
        heartbeats: the file that a command touches; None for a callable, which reports.
    """
    return _Watch(child, terms, heartbeats).until_the_end(request)


class _Watch:
    def __init__(self, child: Child, terms: Terms, heartbeats: Path | None) -> None:
        self._child = child
        self._terms = terms
        self._file = heartbeats
        self._touched: int = _touched(heartbeats)
        self._report = Report()
        self._began = self._beat = time.monotonic() + _BOOT
        self._end = End(self._report)
        self._ended = False
        self._silent_for_good = False
        self._hard: float | None = None
        self._selector = selectors.DefaultSelector()

    def until_the_end(self, request: StopRequest) -> End:
        child, selector = self._child, self._selector
        with selector, request.listen() as asked:

            def requested() -> None:
                selector.unregister(asked)
                if request.stop is not None:
                    self._stop(request.stop)

            self._on(asked, selectors.EVENT_READ, requested)
            self._on(child.channel, selectors.EVENT_READ | selectors.EVENT_WRITE, self._talk)
            if child.exited is not None:
                self._on(child.exited, selectors.EVENT_READ, self._note_end)
            while not self._ended:
                for key, _ in selector.select(self._patience()):
                    key.data()
                if child.exited is None and child.ended():
                    self._note_end()
                if not self._ended:
                    self._check(time.monotonic())
        now = time.monotonic()
        child.kill()  # whoever is left of its group does not outlive the attempt
        self._end.code = child.reap()
        self._end.peak = child.peak
        while self._listen():
            pass
        self._end.elapsed = max(0.0, now - self._began)
        self._end.silent = max(0.0, now - self._beat)
        return self._end

    def _on(self, source: object, events: int, do: Callable[[], None]) -> None:
        self._selector.register(source, events, do)  # type: ignore[arg-type] # a socket or a descriptor

    def _note_end(self) -> None:
        self._ended = True

    def _talk(self) -> None:
        if self._child.flush():
            self._selector.modify(self._child.channel, selectors.EVENT_READ, self._talk)
        if not self._listen() and self._silent_for_good:
            self._selector.unregister(self._child.channel)

    def _listen(self) -> bool:
        """Take in what the child says; return whether there may be more at once."""
        data = self._child.receive()
        if data is None:
            return False
        if not data:
            self._silent_for_good = True
            return False
        before = self._report.started
        self._report.feed(data)
        now = time.monotonic()
        if self._report.started is not before:
            self._began = self._beat = now
        elif self._file is None:
            self._beat = now
        return True

    def _patience(self) -> float | None:
        """Return the seconds until something must be looked at."""
        now = time.monotonic()
        due = [self._hard] if self._hard is not None else []
        if self._hard is None and not self._end.killed:
            if self._terms.timeout is not None:
                due.append(self._began + self._terms.timeout)
            if self._terms.heartbeat is not None and self._can_beat():
                lost = self._beat + self._terms.heartbeat
                look = now + self._terms.heartbeat / BEATS
                due.append(lost if self._file is None else min(lost, look))
        if self._child.exited is None:
            due.append(now + _POLL)
        return min(max(0.0, min(due) - now), _LONGEST_WAIT) if due else None

    def _check(self, now: float) -> None:
        end, terms = self._end, self._terms
        if end.killed:
            return
        if self._hard is not None:
            if now >= self._hard:
                self._kill()
        elif self._report.final:
            self._hard = now + terms.grace  # it has said its last word; what is it waiting for?
        elif terms.timeout is not None and now >= self._began + terms.timeout:
            self._stop(Stop("deadline"))
        elif terms.heartbeat is not None and self._can_beat():
            touched = _touched(self._file)
            if touched != self._touched:
                self._touched, self._beat = touched, now
            if now > self._beat + terms.heartbeat:
                self._stop(Stop("heartbeat"))

    def _can_beat(self) -> bool:
        """Return whether silence means anything: a task may have closed its socket, and live."""
        return self._file is not None or not self._silent_for_good

    def _stop(self, stop: Stop) -> None:
        end = self._end
        if end.killed or end.stop is not None or self._report.final:
            return
        end.stop = stop
        if stop.why == "heartbeat":  # it does not listen any more
            self._kill()
        else:
            end.terminated = True
            self._child.ask_to_stop(_ASKS[stop.why])
            self._hard = time.monotonic() + self._terms.grace

    def _kill(self) -> None:
        self._end.killed = True
        self._hard = None
        self._child.kill()


def _touched(path: Path | None) -> int:
    if path is None:
        return 0
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
