"""Where a memory cgroup may be made, and what its counters say."""

from __future__ import annotations

from pathlib import Path

import pytest

from failhook.executors.local.cgroup import MemoryCgroup, bases

V1_MOUNTS = """\
30 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
34 30 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory
35 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
"""
V1 = ("9:name=systemd:/\n4:memory:/jobs/abc\n0::/\n", V1_MOUNTS)
V2 = (
    "0::/user.slice/session-1.scope\n",
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
)
CONTAINER = (
    "4:memory:/docker/abc\n",
    "34 30 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
)
ELSEWHERE = (
    "4:memory:/other\n",
    "34 30 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
)


@pytest.mark.parametrize(
    ("texts", "folders"),
    [
        (V1, ["/sys/fs/cgroup/memory/jobs/abc", "/sys/fs/cgroup/memory/jobs"]),
        (V2, ["/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup/user.slice"]),
        (CONTAINER, ["/sys/fs/cgroup/memory"]),
        (ELSEWHERE, []),
        (("", ""), []),
        (("nonsense", "more of it - and more"), []),
    ],
    ids=["v1", "v2", "container", "not mounted here", "none", "nonsense"],
)
def test_a_cgroup_is_made_beside_this_process(texts: tuple[str, str], folders: list[str]) -> None:
    """The process's own memory cgroup is found in both versions, then its parent."""
    assert folders == [str(folder) for folder in bases(*texts)]


def cgroup(folder: Path, **files: str) -> MemoryCgroup:
    """Lay out a folder as the kernel would."""
    for name, text in files.items():
        (folder / f"memory.{name}").write_text(text, encoding="utf-8")
    return MemoryCgroup(folder)


@pytest.mark.parametrize(
    ("files", "counters"),
    [
        ({"events": "low 0\nmax 0\noom 0\noom_kill 0\n"}, {"oom_own": 0}),
        ({"events": "low 0\nmax 7\noom 1\noom_kill 2\n"}, {"oom_own": 2}),
        ({"events": "low 0\nmax 0\noom 0\noom_kill 1\n"}, {"oom_own": 0, "oom_host": 1}),
        ({"oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"}, {"oom_own": 0}),
        (
            {"oom_control": "oom_kill 1\n", "max_usage_in_bytes": "1000", "limit_in_bytes": "1000"},
            {"oom_own": 1},
        ),
        (
            {"oom_control": "oom_kill 1\n", "max_usage_in_bytes": "500", "limit_in_bytes": "1000"},
            {"oom_own": 0, "oom_host": 1},
        ),
        ({"oom_control": "oom_kill 1\n"}, {"oom_own": 1}),
        ({}, {}),
    ],
    ids=[
        *("v2 none", "v2 own limit", "v2 the machine's", "v1 none", "v1 own limit"),
        *("v1 the machine's", "v1 before the kernel told more", "unreadable"),
    ],
)
def test_a_kill_for_the_machines_memory_is_not_the_tasks_own(
    files: dict[str, str], counters: dict[str, int], tmp_path: Path
) -> None:
    """Only a group that has met its own limit was killed for it; else the machine ran out."""
    assert counters == cgroup(tmp_path, **files).oom_kills()


def test_a_plain_folder_is_no_cgroup(tmp_path: Path) -> None:
    """Where the kernel lays out no files, none are made up, and no process is moved."""
    group = MemoryCgroup(tmp_path / "group")
    (tmp_path / "group").mkdir()
    assert not group.add(1)
    assert [] == list((tmp_path / "group").iterdir())
    group.remove()
    assert not (tmp_path / "group").exists()
