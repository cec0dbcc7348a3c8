"""The ways in which the demo's tasks die: for real, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path


def bug() -> None:
    """Raise what a bug raises."""
    raise ValueError("no such column: amount")


def killed(marks: str, times: int) -> None:
    """Be killed by another process, the first `times` times; then succeed."""
    mark = Path(marks) / f"killed-{times}"
    before = len(mark.read_text()) if mark.exists() else 0
    if before < times:
        mark.write_text("x" * (before + 1))
        subprocess.run(["/bin/sh", "-c", f"kill -KILL {os.getpid()}"], check=False)
        time.sleep(60)


def hungry() -> int:
    """Ask for more memory than the limit allows."""
    return len(bytearray(1 << 31))


def slow() -> None:
    """Take longer than any deadline of the demo."""
    time.sleep(60)


def frozen() -> None:
    """Stop without ending: no heartbeat comes any more."""
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)
