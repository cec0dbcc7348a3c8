"""What this machine knows of its processes: who is who, who still lives, whom the kernel killed.

Linux tells all of it under ``/proc``; where a source is missing, the answer is 0, "" or None.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

from failhook.gate.ledger import Owner

Fate = Literal["alive", "process_gone", "rebooted", "elsewhere"]

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE: Final = Path("/proc/self/ns/pid")
_VMSTAT: Final = Path("/proc/vmstat")
_ENDED: Final = frozenset("ZXx")
"""States of a process that runs no more, although its parent has not collected it (proc(5))."""


def this_process() -> Owner:
    """Return this process, told apart from any other that ever has its number."""
    pid = os.getpid()
    return Owner(
        host=os.uname().nodename,
        pid=pid,
        started=process_started(pid),
        boot_id=boot_id(),
        pid_namespace=pid_namespace(),
    )


def boot_id() -> str:
    """Return the id of this boot of the machine; "" where there is none."""
    return _text(_BOOT_ID).strip()


def pid_namespace() -> int:
    """Return the number of the namespace in which this process has its number; 0 if unknown."""
    try:
        return _PID_NAMESPACE.stat().st_ino
    except OSError:
        return 0


def process_started(pid: int) -> int:
    """Return when a process began, in clock ticks since boot; 0 where that cannot be read."""
    fields = _stat(pid)
    try:
        return int(fields[19])  # field 22 of proc(5); the list begins with field 3
    except (IndexError, ValueError):
        return 0


def process_alive(pid: int, started: int = 0) -> bool:
    """Return whether this very process still runs; one that only waits to be collected does not.

    Args:
        pid: its number.
        started: when it began, as `process_started` gave it; 0 when that is not known.
    """
    if pid <= 0:
        return False
    fields = _stat(pid)
    if fields:
        return fields[0] not in _ENDED and (not started or process_started(pid) == started)
    if Path("/proc/self/stat").exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def owner_fate(owner: Owner) -> Fate:
    """Return what became of the process that supervises an attempt.

    ``elsewhere`` is another host, or another container of a host of this name, of which nothing can
    be said from here.
    """
    if owner.host != os.uname().nodename:
        return "elsewhere"
    boot = boot_id()
    if owner.boot_id and boot and owner.boot_id != boot:
        return "rebooted"
    namespace = pid_namespace()
    if owner.pid_namespace and namespace and owner.pid_namespace != namespace:
        return "elsewhere"
    return "alive" if process_alive(owner.pid, owner.started) else "process_gone"


def oom_kills() -> int | None:
    """Return how many processes this host's OOM killer has ended since boot; None if unknown."""
    return counter(_VMSTAT, "oom_kill")


def cgroup_oom_kills(folder: Path) -> int | None:
    """Return how many processes the OOM killer has ended in a memory cgroup; None if unknown.

    Args:
        folder: the cgroup, version 2 (``memory.events``) or 1 (``memory.oom_control``).
    """
    events = counter(folder / "memory.events", "oom_kill")
    return events if events is not None else counter(folder / "memory.oom_control", "oom_kill")


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` from the third on; the second may hold anything."""
    return _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def counter(path: Path, name: str) -> int | None:
    """Return the number beside a name in a file of such lines; None where there is none."""
    for line in _text(path).splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
