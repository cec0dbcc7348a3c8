"""Ends what an executor that was killed has left running, before its attempts are given up."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from failhook import host
from failhook.executors.local.attempt import ATTEMPT, attempt_variable
from failhook.gate.ledger import Attempt, Owner

_PATIENCE: Final = 1.0
"""Seconds that killed processes get to be gone."""


def end_orphans(attempts: Sequence[Attempt]) -> None:
    """Kill the processes of attempts whose supervisor is gone, and wait until they are gone too.

    A process is an attempt's own when it is the very one that the ledger names, or belongs to the
    session that this one led and carries the attempt's name in its environment. Without Linux's
    ``/proc`` and process descriptors nothing is sure enough to be killed.
    """
    give_up = time.monotonic() + _PATIENCE
    boot_id = host.boot_id()
    for attempt in attempts:
        owner = attempt.owner
        if owner is not None and owner.child and owner.boot_id == boot_id:
            mark = f"{ATTEMPT}={attempt_variable(attempt.task)}"
            for pid in _processes():
                if _belongs(pid, owner, mark):
                    _end(pid, owner, mark, give_up)


def _processes() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _belongs(pid: int, owner: Owner, mark: str) -> bool:
    if pid == owner.child:
        return owner.child_started != 0 and host.process_alive(pid, owner.child_started)
    try:
        if os.getsid(pid) != owner.child:
            return False
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return os.fsencode(mark) in environment.split(b"\0")


def _end(pid: int, owner: Owner, mark: str, give_up: float) -> None:
    with contextlib.suppress(OSError, AttributeError):
        fd = os.pidfd_open(pid)
        try:
            if _belongs(pid, owner, mark):  # still, now that the number cannot become another's
                signal.pidfd_send_signal(fd, signal.SIGKILL)
                poll = select.poll()
                poll.register(fd, select.POLLIN)
                poll.poll(max(0.0, give_up - time.monotonic()) * 1000)
        finally:
            os.close(fd)
