"""The environment variables by which a task's processes are known, wherever they go."""

from __future__ import annotations

import os
import sys
from typing import Final

from failhook.task import Task

ATTEMPT: Final = "FAILHOOK_ATTEMPT"
"""The variable that names the attempt to a task's processes, and to whoever looks for them."""
SUPERVISOR: Final = "FAILHOOK_SUPERVISOR"
"""The variable that tells attempts apart which have one name in two stores."""


def marks(task: Task, pid: int, started: int) -> dict[str, str]:
    """Return what every process of an attempt has in its environment.

    Args:
        task: the attempt.
        pid: the process that supervises it.
        started: when that one began, in clock ticks since boot.
    """
    key = task.attempt_key.replace("\0", "").encode(sys.getfilesystemencoding(), "backslashreplace")
    return {ATTEMPT: os.fsdecode(key), SUPERVISOR: f"{pid}-{started}"}
