"""Runs the processes that report, and gathers what they were answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TypedDict

PROCESSES = 8
REPORTS = 500
"""Of each process."""


class Answers(TypedDict):
    """What one process was answered.

    Attributes:
        decisions: attempt key and decision, one pair for each report.
        begun: the keys of the attempts that it was let start.
    """

    decisions: list[tuple[str, str]]
    begun: list[str]


def report(where: str) -> list[Answers]:
    """Let the processes report, all from the same moment on."""
    program = [sys.executable, "-m", "tests.concurrency.reporter"]
    running = [
        subprocess.Popen(
            [*program, where, str(me), str(REPORTS)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for me in range(PROCESSES)
    ]
    for each in running:
        assert each.stdout is not None
        assert "ready\n" == each.stdout.readline()
    for each in running:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    said = [each.communicate()[0] for each in running]
    assert [0] * PROCESSES == [each.returncode for each in running]
    return [json.loads(text) for text in said]
