"""One cause is one incident: what changes from run to run is folded, what tells apart stays."""

from __future__ import annotations

from dataclasses import replace

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
    ("Request ID: 4B7PXQJ9K2MZ8RTW; gone", "Request ID: Z81KQ0PW3XNV5TYB; gone"),
    ("Pod nightly-load-x7k2p returned a failure.", "Pod nightly-load-bqz9w returned a failure."),
    ("pod api-6d4cf56db6-x7k2p died", "pod api-7f9bcd8f9c-bq2zw died"),
    ("run 01ARZ3NDEKTSV4RRFFQ69G5FAV", "run 01BX5ZZKBKACTAV9WEVGEMMVRZ"),
    ("no space in /tmp/tmpab_cdxyz", "no space in /tmp/tmpqwert123"),
    (
        "Max retries exceeded with url: https://api.example.org/v1/rows?cursor=abcdEFGH&n=5",
        "Max retries exceeded with url: https://api.example.org/v1/rows?cursor=zzzz",
    ),
    ("no mailbox for ann.lee@example.org", "no mailbox for bob+x@mail.example.com"),
    ("expired on Tue, 05 Jan 2026", "expired on Wed, 28 February 2025"),
    ("expired on Jan 5, 2026", "expired on Dec 31, 2025"),
    ("10.0.0.7:5432 refused it", "10.22.3.199:6000 refused it"),
]
APART = [
    ("no such column: 'amount'", "no such column: 'customer'"),
    ("permission denied for table orders", "permission denied for table users"),
    ("connection refused", "connection reset"),
    ("'gr\u00f6\u00dfe'", "'stra\u00dfe'"),
    ("'order-id'", "'user-id'"),
    ("'first name'", "'zip code'"),
    ("'address1'", "'zip2'"),
    ("No module named 'psycopg2'", "No module named 'boto3'"),
    ("not allowed: 's3:GetObject'", "not allowed: 'kms:Decrypt'"),
    ('{"error": "quota exceeded"}', '{"error": "access denied"}'),
    ("ValueError('no amount')", "ValueError('no customer')"),
    ("None of [Index(['amount', 'tax'])] are in it", "None of [Index(['city', 'zip'])] are in it"),
    ("server said 401", "server said 503"),
    ("status=404", "status=500"),
    ("https://a.example.org/rows is gone", "https://b.example.org/rows is gone"),
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


def test_a_traceback_is_read_line_by_line():
    """However long a line of it is, and whatever stands in it: its time grows with its length."""
    long = '  File "' + "a" * 30_000 + "\n" * 30_000
    bug = ErrorInfo(
        type="builtins.KeyError",
        message="x",
        traceback=f'{long}  File "/srv/etl/load.py", line 7, in load\n    row[0]\nKeyError: x',
    )
    moved = replace(bug, traceback='  File "/opt/etl/load.py", line 99, in load\n')

    assert cause_of(event(details=BROKEN, error=bug)) == cause_of(
        event(details=BROKEN, error=moved)
    )


def test_an_exit_code_alone_is_each_tasks_own_cause():
    """It says nothing of why: what all of cron exits with is not one incident."""
    bare = FailureDetails(kind=Kind.APPLICATION, reason="NonZeroExit", message="Exit code 1.")

    causes = {
        cause_of(event(task=Task("cron", name, run_id=run), details=bare, error=None))
        for name in ("load", "sum")
        for run in ("r1", "r2")
    }

    assert 2 == len(causes)
