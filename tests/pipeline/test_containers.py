"""Containers of one host share its name and its boot, but no process numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.pipeline import Pipeline
from failhook.plugin import Task, hookimpl
from failhook.stores import open_store
from tests.conftest import PROBES

CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]
if os.getuid():
    CONTAINER.append("--map-root-user")

LOOK = """
import json, sys
from failhook.pipeline import Pipeline
from failhook.pipeline.process import is_gone
from failhook.stores import open_store

store = open_store(sys.argv[1])
found = {
    "orphans": len(Pipeline(store).orphans()),
    "gone": [is_gone(owner) for owner in store.holders("log")],
}
print(json.dumps(found))
"""


def _can_contain():
    probe = [*CONTAINER, "true"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


PROBES["pid_namespaces"] = _can_contain


def looked_at(path, *, before=()):
    """Look at a store from another process; return what it holds for orphaned."""
    command = [*before, sys.executable, "-c", LOOK, path]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


class Busy:
    """A plugin that is in its call until it is told to go on."""

    def __init__(self):
        self.inside, self.go_on = threading.Event(), threading.Event()

    @hookimpl
    def on_task_failed(self):
        self.inside.set()
        self.go_on.wait(60)


@pytest.mark.requires_service("pid_namespaces")
def test_what_another_container_supervises_is_not_declared_dead(tmp_path):
    """A living process loses neither attempt nor lease where its number means nothing."""
    path, busy, manager = tmp_path / "store.db", Busy(), Manager()
    manager.register(busy, "log")
    with Pipeline(open_store(path), manager=manager) as pipeline:
        pipeline.started(Task("w", "open"))
        pipeline.failed(Task("w", "leased"), Evidence.returncode(1))
        assert busy.inside.wait(20)
        try:
            assert {"orphans": 0, "gone": [False]} == looked_at(path, before=CONTAINER)
            assert {"orphans": 0, "gone": [False]} == looked_at(path)
        finally:
            busy.go_on.set()
