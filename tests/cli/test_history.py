"""`failhook history` and `failhook stats`: what happened, attempt by attempt and in sum."""

from __future__ import annotations

import json

from failhook import Evidence, Pipeline, Policy, Task
from failhook.stores import open_store
from tests.cli.stores import ended_by_nodes


def three_attempts(path) -> Task:
    """Leave one task that was evicted, then failed, then succeeded."""
    task = Task("nightly", "load", run_id="r1", policy=Policy(retries=1, max_infra_refunds=1))
    with Pipeline(open_store(path)) as pipeline:
        opened = pipeline.started(task)
        evicted = Evidence.verdict("infra", "Evicted", started="yes", node="node-7")
        pipeline.failed(opened, evicted)
        opened = pipeline.started(opened.next_attempt())
        pipeline.failed(opened, Evidence.exception(ValueError("a bug")))
        pipeline.succeeded(pipeline.started(opened.next_attempt()))
    return task


def test_history_tells_each_attempt(call, place):
    """Number, verdict, who pays, what followed, however the task is named."""
    task = three_attempts(place / "here.db")

    told = [
        call("history", name, "--store", "here.db").out
        for name in (task.key, task.job_key, "nightly/load", "load")
    ]

    assert [told[0]] * 4 == told
    first, second, third = told[0].splitlines()[-3:]
    assert "infra Evicted" in first
    assert "infra 1/1" in first
    assert ["retry", "node-7"] == first.split()[-2:]
    assert "application UserException" in second
    assert "succeeded" in third


def test_history_as_json_has_the_whole_records(call, place):
    """One document with every attempt, verdict and decision whole."""
    three_attempts(place / "here.db")

    answer = call("history", "nightly/load", "--json", "--store", "here.db")

    attempts = json.loads(answer.out)["attempts"]
    assert [1, 2, 3] == [each["attempt"] for each in attempts]
    assert ["failed", "failed", "succeeded"] == [each["state"] for each in attempts]
    assert "Evicted" == attempts[0]["failure_details"]["reason"]
    assert "infra" == attempts[0]["decision"]["charge"]


def test_an_unknown_task_is_an_error_with_a_guess(call, place):
    """A slip in the name is told with the name that was meant."""
    three_attempts(place / "here.db")

    error = call("history", "nightly/laod", "--store", "here.db").error

    assert "nightly/laod: nothing is known of such a task" in error
    assert "did you mean nightly/load" in error


def test_stats_by_node_show_the_ones_that_kill_first(call, place):
    """Deaths by infrastructure per node, with their share and the refunds granted."""
    ended_by_nodes(place / "here.db")

    rows = call("stats", "--by", "node", "--json", "--store", "here.db")

    document = json.loads(rows.out)
    found = [
        (each["value"], each["infra"], each["failures"], each["refunds"])
        for each in document["rows"]
    ]
    assert [("node-7", 2, 2, 2), ("node-8", 1, 1, 1), ("node-9", 0, 1, 0)] == found


def test_stats_by_every_side_add_up(call, place):
    """Each side counts the same failures."""
    ended_by_nodes(place / "here.db")

    for side in ("kind", "reason", "node", "owner", "workflow"):
        answer = call("stats", "--by", side, "--since", "1h", "--store", "here.db")

        assert (0, "4 attempts failed since") == (answer.code, answer.out[:23])
