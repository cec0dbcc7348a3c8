"""One cause is one incident: what changes from run to run is folded, what tells apart stays."""

from __future__ import annotations

import pytest

from failhook.plugin import ErrorInfo, FailureDetails, Kind, Task
from failhook_sinks.alerts.cause import cause_of, fold
from tests.sinks.log.events import BROKEN, event

ALIKE = [
    ("order 4711 is missing", "order 12 is missing"),
    ("3f2b8c1e-9a4d-4f6b-8c2e-1a2b3c4d5e6f lost", "00000000-1111-2222-3333-444455556666 lost"),
    ("no data for 2026-03-28T01:02:03Z", "no data for 2026-03-29 23:59:59.123+02:00"),
    ("cannot read /data/2026/03/part-01.parquet", "cannot read /data/2025/12/part-77.parquet"),
    ("<Lock at 0x7f3a2b> is held", "<Lock at 0x55aa> is held"),
    ("took 12.5s, allowed 10s", "took 99.1s, allowed 10s"),
    ("key 'user-1234' is unknown", "key 'user-99' is unknown"),
    ("commit 9fceb02d0ae5 is gone", "commit 1a2b3c4d5e6f is gone"),
]
APART = [
    ("no such column: 'amount'", "no such column: 'customer'"),
    ("permission denied for table orders", "permission denied for table users"),
    ("connection refused", "connection reset"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_changes_from_run_to_run_is_folded(one, other):
    """Ids, dates, numbers, paths and addresses make no new cause."""
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_tells_two_causes_apart_stays(one, other):
    """Another column, another table, another error is another cause."""
    assert fold(one) != fold(other)


def test_a_node_that_takes_many_tasks_with_it_is_one_cause():
    """What infrastructure did is known by reason and node, whatever the task."""
    lost = FailureDetails(kind=Kind.INFRA, reason="NodeLost", node="node-7")

    assert {"NodeLost/node-7"} == {
        cause_of(event(task=Task("nightly", name), details=lost)) for name in ("load", "sum")
    }


def test_the_same_bug_in_every_run_is_one_cause():
    """Error type and folded message decide, and the label can be read."""
    bugs = [
        event(
            task=Task("nightly", "load", run_id=f"r{number}"),
            details=BROKEN,
            error=ErrorInfo(type="builtins.KeyError", message=f"order {number}"),
        )
        for number in (1, 4711)
    ]

    (cause,) = {cause_of(bug) for bug in bugs}
    assert cause.startswith("KeyError/")
