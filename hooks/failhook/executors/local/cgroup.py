"""A memory cgroup for one attempt, version 1 or 2, where this process may make one."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

from failhook import host

_PREFIX: Final = "failhook"
_NEARLY: Final = 0.95
"""The kernel charges in batches, so the last one may not have come up to the limit itself."""
_PATIENCE: Final = 1.0
"""Seconds that killed processes get to leave their cgroup."""


class MemoryCgroup:
    """All memory of one attempt counted together, with the kernel's word on whom it killed.

    The folder's name holds who made it (namespace, process id and start time), so that what a
    killed executor left behind is told from what a living one uses.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def make(cls, limit: int) -> Self | None:
        """Make a cgroup that may use `limit` bytes; None where that is not possible."""
        owner = host.this_process()
        unique = uuid.uuid4().hex[:8]
        name = f"{_PREFIX}-{_namespace()}-{owner.pid}-{owner.started}-{unique}"
        for base in _bases():
            group = cls(base / name)
            try:
                group._folder.mkdir()
            except OSError:
                continue
            if group._limit(limit):
                return group
            group.remove()
        return None

    def _limit(self, limit: int) -> bool:
        for name, swap, no_swap in (
            ("memory.max", "memory.swap.max", 0),
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", limit),
        ):
            if _write(self._folder / name, limit):
                _write(self._folder / swap, no_swap)
                return True
        return False

    def add(self, pid: int) -> bool:
        """Move a process in, and with it all that it will start."""
        return _write(self._folder / "cgroup.procs", pid)

    def oom_kills(self) -> dict[str, int]:
        """Return the counters as `Evidence.returncode` takes them.

        The kernel counts every process of the group that it killed for memory, also when the
        machine ran out and not the group; whether the group's own limit was met tells them apart.
        """
        killed = host.cgroup_oom_kills(self._folder)
        if not killed:
            return {} if killed is None else {"oom_own": 0}
        return {"oom_own": killed} if self._limit_was_met() else {"oom_own": 0, "oom_host": killed}

    def _limit_was_met(self) -> bool:
        met = host.counter(self._folder / "memory.events", "max")
        if met is not None:
            return met > 0
        # memory.failcnt stays 0 when the last charge was forced; the highest usage does not lie.
        most = _read(self._folder / "memory.max_usage_in_bytes")
        limit = _read(self._folder / "memory.limit_in_bytes")
        return not (most.isdigit() and limit.isdigit()) or int(most) >= _NEARLY * int(limit)

    def kill(self) -> None:
        """Kill whoever is left in it."""
        for pid in self._members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Kill whoever is left in it, and remove it."""
        give_up = time.monotonic() + _PATIENCE
        while True:
            self.kill()
            try:
                self._folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > give_up:
                    return
                time.sleep(0.01)
            else:
                return

    def _members(self) -> Iterator[int]:
        yield from map(int, _read(self._folder / "cgroup.procs").split())


def sweep() -> None:
    """Remove the cgroups of executors that are gone, and kill what still runs in them."""
    for base in _bases():
        for folder in base.glob(f"{_PREFIX}-{_namespace()}-*-*-*"):
            pid, started = folder.name.split("-")[2:4]
            if (
                pid.isdigit()
                and started.isdigit()
                and not host.process_alive(int(pid), int(started))
            ):
                MemoryCgroup(folder).remove()


def _namespace() -> int:
    """Return which process ids these are: containers on one machine count their own."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _bases() -> Iterator[Path]:
    """Yield the cgroups under which one might be made: this process's own, then its parent."""
    yield from bases(_read(Path("/proc/self/cgroup")), _read(Path("/proc/self/mountinfo")))


def bases(memberships: str, mounts: str) -> Iterator[Path]:
    """Read where the memory controller is from the text of ``/proc/self/cgroup`` and ``mountinfo``.

    Version 2 gives controllers only to cgroups without processes of their own, hence the parent.
    """
    for line in memberships.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, own = rest.partition(":")
        if "memory" in controllers.split(","):
            kind, options = "cgroup", "memory"
        elif number == "0" and not controllers:
            kind, options = "cgroup2", ""
        else:
            continue
        for mount in mounts.splitlines():
            before, _, after = mount.partition(" - ")
            fields, described = before.split(), after.split()
            if len(fields) < 5 or len(described) < 3 or described[0] != kind:
                continue
            if options and options not in described[2].split(","):
                continue
            root, point = fields[3], Path(fields[4])
            inside = os.path.relpath(own, root)
            if inside.startswith(".."):
                continue
            folder = point / inside
            yield folder
            if folder != point:
                yield folder.parent


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _write(path: Path, value: int) -> bool:
    try:
        with path.open("r+") as file:  # never made anew: in a plain folder there is no such file
            file.write(str(value))
    except OSError:
        return False
    return True
