"""What a machine knows of its processes: who lives, who is gone, and whom it cannot know."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from failhook import host

LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")


def test_this_process_is_alive_and_here() -> None:
    """The own process is found, with what tells it from any other that has its number."""
    me = host.this_process()
    assert (os.getpid(), os.uname().nodename) == (me.pid, me.host)
    assert host.owner_fate(me) == "alive"


@LINUX
def test_a_process_is_known_by_its_start() -> None:
    """A number that was given to another process is not the one that was meant."""
    me = host.this_process()
    assert me.started > 0
    assert me.boot_id
    assert "process_gone" == host.owner_fate(replace(me, started=me.started + 1))
    assert "alive" == host.owner_fate(replace(me, started=0, boot_id=""))


@LINUX
def test_another_boot_and_another_host_are_told_apart() -> None:
    """After a restart of the machine nothing lives; of other machines nothing can be said."""
    me = host.this_process()
    assert "rebooted" == host.owner_fate(replace(me, boot_id="another"))
    assert "elsewhere" == host.owner_fate(replace(me, host="another"))
    assert "elsewhere" == host.owner_fate(replace(me, pid_namespace=me.pid_namespace + 1))
    assert "alive" == host.owner_fate(replace(me, pid_namespace=0))


@LINUX
def test_a_process_that_only_waits_to_be_collected_is_gone() -> None:
    """A killed supervisor counts as gone although its parent has not noticed yet."""
    child = subprocess.Popen(["sleep", "3600"])
    owner = replace(host.this_process(), pid=child.pid, started=host.process_started(child.pid))
    assert "alive" == host.owner_fate(owner)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert "process_gone" == host.owner_fate(owner)
    child.wait()
    assert 0 == host.process_started(child.pid)
    assert not host.process_alive(child.pid)


def test_a_name_with_spaces_and_parentheses_hides_nothing(tmp_path: Path) -> None:
    """The second field of ``/proc/PID/stat`` is whatever a program calls itself."""
    program = tmp_path / "a) R (b"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "3600"])
    try:
        assert host.process_alive(child.pid, host.process_started(child.pid))
    finally:
        child.kill()
        child.wait()


def test_no_process_has_no_number() -> None:
    """What is no process id is no living process."""
    assert not host.process_alive(0)
    assert not host.process_alive(-1)


def test_counters_are_read_where_they_are(tmp_path: Path) -> None:
    """A counter is its number, or None where it is missing or no number."""
    file = tmp_path / "memory.events"
    file.write_text("low 0\noom_kill 3\nbad x\n", encoding="utf-8")
    assert 3 == host.counter(file, "oom_kill")
    assert host.counter(file, "oom") is None
    assert host.counter(file, "bad") is None
    assert host.counter(tmp_path / "none", "oom_kill") is None
    assert 3 == host.cgroup_oom_kills(tmp_path)


@LINUX
def test_the_hosts_oom_kills_are_a_count() -> None:
    """The kernel's counter is read."""
    kills = host.oom_kills()
    assert kills is not None
    assert kills >= 0
