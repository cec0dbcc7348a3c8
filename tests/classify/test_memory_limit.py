"""What a memory limit that the supervisor set says of a death under it."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from failhook import Evidence, Task
from failhook.classify import Classifier

TASK = Task("nightly", "load")
LIMIT: dict[str, Any] = {"memory_limit": {"bytes": 1 << 28}}


@pytest.mark.parametrize(
    ("evidence", "rule", "reason"),
    [
        (
            Evidence.not_started(OSError(errno.ENOMEM, "no memory")).also(Evidence(facts=LIMIT)),
            "process.memory-limit.exec",
            "OutOfMemory",
        ),
        (
            Evidence.returncode(-6, oom_own=1).also(Evidence(facts=LIMIT)),
            "process.memory-limit.crash.own-oom",
            "OutOfMemory",
        ),
        (
            Evidence.returncode(-11).also(Evidence(facts=LIMIT)),
            "process.memory-limit.crash",
            "NativeCrash",
        ),
    ],
)
def test_a_limit_is_named_where_it_may_be_the_cause(
    evidence: Evidence, rule: str, reason: str
) -> None:
    """Under a limit of its own a task that finds no memory is its own failure, not for sure."""
    details = Classifier().classify(TASK, evidence)
    assert (rule, "application", reason, "likely", "more_memory") == (
        details.rule,
        details.kind,
        details.reason,
        details.confidence,
        details.hint,
    )


@pytest.mark.parametrize("limit", [{}, {"memory_limit": {"bytes": 1 << 28, "peak": 1 << 20}}])
def test_an_exit_far_below_the_limit_says_nothing_of_memory(limit: dict[str, Any]) -> None:
    """A limit that was not met does not explain an exit code."""
    details = Classifier().classify(TASK, Evidence.returncode(1).also(Evidence(facts=limit)))
    assert ("process.exit.nonzero", None) == (details.rule, details.hint)
