"""Ends what attempts leave behind: processes that left their group, or lost their executor."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from failhook import host
from failhook.executors.local.mark import marks
from failhook.gate.ledger import Attempt

_PATIENCE: Final = 1.0
"""Seconds that killed processes get to be gone."""


def end_orphans(attempts: Sequence[Attempt]) -> None:
    """Kill the processes of attempts whose supervisor is gone, and wait until they are gone too.

    A process is an attempt's own when it is the very one that the ledger names, or carries the
    attempt's marks in its environment. Without Linux's ``/proc`` and process descriptors nothing is
    sure enough to be killed.
    """
    give_up = time.monotonic() + _PATIENCE
    boot_id = host.boot_id()
    for attempt in attempts:
        owner = attempt.owner
        if owner is not None and owner.boot_id == boot_id:
            if owner.child and owner.child_started:
                _end(owner.child, partial(_began_at, owner.child_started), give_up)
            end_marked(marks(attempt.task, owner.pid, owner.started))


def end_marked(variables: Mapping[str, str]) -> None:
    """Kill every process that was started with these environment variables, and wait for it.

    One that a killed process started at the last moment is found too.
    """
    give_up = time.monotonic() + _PATIENCE
    wanted = {os.fsencode(f"{name}={text}") for name, text in variables.items()}

    def marked(pid: int) -> bool:
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False
        return wanted <= set(environment.split(b"\0"))

    while found := [pid for pid in _processes() if marked(pid)]:
        for pid in found:
            _end(pid, marked, give_up)
        if time.monotonic() > give_up:
            return


def _began_at(started: int, pid: int) -> bool:
    return host.process_alive(pid, started)


def _processes() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names are enough, and quick
    return []


def _end(pid: int, is_it: Callable[[int], bool], give_up: float) -> None:
    with contextlib.suppress(OSError, AttributeError):
        fd = os.pidfd_open(pid)
        try:
            if is_it(pid):  # still, now that the number cannot become another's
                signal.pidfd_send_signal(fd, signal.SIGKILL)
                poll = select.poll()
                poll.register(fd, select.POLLIN)
                poll.poll(max(0.0, give_up - time.monotonic()) * 1000)
        finally:
            os.close(fd)
