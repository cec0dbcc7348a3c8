"""Processes that run out of something, and mounts that only they see.

``unshare --mount python -m tests.delivery.disks full FOLDER`` prints what happened as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from failhook.errors import StoreError
from failhook.plugin import Task
from failhook.stores.sql.queries import migrations
from failhook.stores.sqlite.schema import PACKAGE, prepare
from tests.delivery.nights import Night
from tests.delivery.plugins import Appending, until
from tests.delivery.processes import BUG, pipeline_on

WHEN = ("before", "during", "after")
ROOT = Path(__file__).parents[2]
PRIVATE = ("unshare", "--mount", "--map-root-user") if os.getuid() else ("unshare", "--mount")


@dataclass
class Seen:
    """What was seen of a night on a disk.

    Attributes:
        counted: tasks whose report was taken.
        refusals: what was raised.
        heard: how often the plugin heard of each task.
        charges: what the ledger has of some tasks.
        repeated: what was logged more than once.
    """

    counted: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    heard: dict[str, int] = field(default_factory=dict)
    charges: dict[str, int] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)


def run(what: str, folder: Path) -> Seen:
    """Do one of the things below where its mounts are seen by nobody else."""
    mount = folder / "mount"
    mount.mkdir()
    ended = subprocess.run(
        [*PRIVATE, sys.executable, "-W", "error", "-m", __name__, what, str(mount)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (0, "") == (ended.returncode, ended.stderr)
    return Seen(**json.loads(ended.stdout))


def full(mount: Path) -> Seen:
    """Fill the disk of a store while it is in use, and free it again."""
    _mount("-t", "tmpfs", "-o", "size=3m", "tmpfs", str(mount))
    ballast = mount / "ballast"
    with Night(str(mount / "failhook.db")) as night:
        for number in range(20):
            assert night.report(f"before-{number}")
        with suppress(OSError), ballast.open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()
        number = 0
        while night.report(f"during-{number}"):
            number += 1
        assert not night.report("refused")
        assert not until(lambda: False, 0.5)  # the drainer meets the full disk too
        ballast.unlink()
        assert night.report("refused")
        assert night.report("after")
        assert night.delivered()
        charges = {name: night.user_charges(name) for name in ("refused", "after")}
        assert until(lambda: night.pipeline.store.pending() == 0)
        assert not night.pipeline.store.dead_letters()
    return _seen(night, charges)


def read_only(mount: Path) -> Seen:
    """Open a store on a mount that became read-only, then where it can be written."""
    _mount("-t", "tmpfs", "tmpfs", str(mount))
    where = str(mount / "failhook.db")
    with pipeline_on(where, {"recorder": Appending(mount)}, dispatch="none") as pipeline:
        pipeline.failed(Task("night", "before", run_id="r"), BUG)
    _mount("-o", "remount,ro", str(mount))
    refusals = []
    try:
        with Night(where):
            raise AssertionError
    except StoreError as refusal:
        refusals.append(str(refusal))
    _mount("-o", "remount,rw", str(mount))
    with Night(where) as night:
        assert night.pipeline.flush(10.0)
        assert night.delivered("before")
    night.refusals += refusals
    return _seen(night, {})


def _seen(night: Night, charges: dict[str, int]) -> Seen:
    heard = dict(night.plugin.heard)
    return Seen(night.counted, night.refusals, heard, charges, night.said.repeated)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def without_descriptors(where: str, folder: Path) -> None:
    """Report before, while and after this process can open no more files."""
    warnings.simplefilter("error")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    with pipeline_on(where, {"heard": Appending(folder / "heard")}) as pipeline:

        def report(when: str, number: int) -> bool:
            try:
                pipeline.failed(Task("night", f"{when}-{number}", run_id="r"), BUG)
            except StoreError as refusal:
                assert "\n" not in str(refusal)  # noqa: PT017 - it may be refused or not
                return False
            return True

        before, during, after = WHEN
        assert all(report(before, number) for number in range(5))
        pipeline.flush(10.0)
        taken: list[int] = []
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        refused = [number for number in range(5) if not report(during, number)]
        pipeline.flush(0.5)
        for descriptor in taken:
            os.close(descriptor)
        assert all(report(during, number) for number in refused)
        assert all(report(after, number) for number in range(5))
        assert until(lambda: pipeline.store.pending() == 0)


def migrate_and_die(file: Path, statements: int) -> None:
    """Bring the schema up to date, but die before the statement of that number."""
    left = iter(range(statements))

    def count(_statement: str) -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    connection = sqlite3.connect(file, isolation_level=None)
    connection.set_trace_callback(count)
    prepare(connection, str(file), migrations(PACKAGE))


def first_schema(file: Path) -> None:
    """Make a store with the schema of the first version."""
    first = {1: migrations(PACKAGE)[1]}
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        prepare(connection, str(file), first)


def main(what: str, mount: str) -> None:
    """Do it, and print what was seen."""
    seen = {"full": full, "read-only": read_only}[what](Path(mount))
    print(json.dumps(asdict(seen)))


if __name__ == "__main__":
    main(*sys.argv[1:])
