"""`failhook history` and `failhook stats`: what happened, attempt by attempt and in sum."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

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


def test_without_a_task_it_lists_what_failed_lately(call, place):
    """Every failed attempt of whatever task, the newest last; not what is older, nor successes."""
    ended_by_nodes(place / "here.db")
    task = three_attempts(place / "here.db")
    with closing(sqlite3.connect(place / "here.db")) as connection, connection:
        connection.execute(
            "UPDATE attempts SET closed_at = closed_at - 86400000000 WHERE node = 'node-8'"
        )

    lately = call("history", "--since", "12h", "--store", "here.db").out.splitlines()
    newest = call("history", "--limit", "1", "--json", "--store", "here.db").out

    assert lately[0].startswith("Failed since ")
    assert lately[0].endswith(" UTC: 5 attempts")
    assert [task.key, "2"] == lately[-1].split()[:2]
    assert not any("node-8" in line for line in lately)
    document = json.loads(newest)
    assert True is document["more"]
    assert [(task.key, 2)] == [(each["task"], each["attempt"]) for each in document["attempts"]]
    assert "--since is for what" in call("history", task.key, "--since", "1h").error


def test_a_quiet_day_is_no_empty_list(call, place):
    """It says that nothing failed, and since when."""
    open_store(place / "here.db").close()

    answer = call("history", "--store", "here.db")

    assert (0, "No attempt failed since ") == (answer.code, answer.out[:24])


def test_the_key_of_an_attempt_names_its_task(call, place):
    """As an alert, the doctor or a dead letter shows it."""
    task = three_attempts(place / "here.db")

    told = [call("history", key, "--store", "here.db") for key in (task.key, task.attempt_key)]

    assert (0, told[0].out) == (told[1].code, told[1].out)


def test_runs_of_a_job_are_told_apart(call, place):
    """Asked for by its job key, each attempt stands beside its run; a key shows one run alone."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        for run in ("r1", "r2"):
            pipeline.failed(Task("nightly", "load", run_id=run), Evidence.returncode(3))
        pipeline.started(Task("nightly", "load", run_id="r3"))

    answer = call("history", "default/nightly/load", "--store", "here.db")
    one = call("history", "default/nightly/load/r2/1", "--store", "here.db")

    title, _, head, *rows = answer.out.splitlines()
    assert "default/nightly/load: 3 attempts" == title
    assert "run" == head.split()[0]
    assert ["r1/1", "r2/1", "r3/1"] == [row.split()[0] for row in rows]
    assert "running, or lost" in rows[2]
    assert one.out.startswith("default/nightly/load/r2/1: 1 attempt, user 0/0")


def test_an_amended_verdict_and_a_suspect_success_are_marked(call, place):
    """Better evidence that came after the decision, and a success that is in doubt."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        amended = Task("nightly", "load", run_id="r1", policy=Policy(retries=1))
        pipeline.failed(amended, Evidence.verdict("unknown", "StateMismatch"))
        pipeline.failed(amended, Evidence.verdict("infra", "Evicted", confidence="confirmed"))
        suspect = pipeline.started(Task("nightly", "sum", run_id="r1"))
        pipeline.succeeded(suspect, Evidence.returncode(-9, oom_host=0))

    first = call("history", "nightly/load", "--store", "here.db").out
    second = call("history", "nightly/sum", "--store", "here.db").out

    assert "infra Evicted *" in first
    assert "* amended: better evidence came after the decision" in first
    assert "succeeded, suspect" in second


def test_what_an_amendment_moved_is_told_as_it_stands(call, place):
    """Header, payer and counts of refunds are those of the ledger, not of the old decision."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        policy = Policy(retries=2, max_infra_refunds=2)
        task = pipeline.started(Task("nightly", "load", run_id="r1", policy=policy))
        pipeline.failed(task, Evidence.verdict("unknown", "StateMismatch", started="yes"))
        evicted = Evidence.verdict("infra", "Evicted", started="yes", confidence="confirmed")
        pipeline.failed(task, evicted)
        with pipeline.store.transaction() as ledger:
            used = ledger.account(task.key)
        pipeline.succeeded(task.next_attempt())

    title, _, _, first, *_ = call("history", "nightly/load", "--store", "here.db").out.splitlines()
    document = json.loads(call("history", "nightly/load", "--json", "--store", "here.db").out)
    stats = call("stats", "--store", "here.db").out

    assert (0, 1) == (used.user, used.infra)
    assert title.endswith(": 2 attempts, user 0/2, infra 1/2, system 0/3")
    assert {"used": 1, "limit": 2} == document["budgets"]["infra"]
    assert ("infra", 1) == (document["attempts"][0]["charge"], first.count("infra *"))
    assert "1 refunded." in stats


def test_the_newest_attempts_are_shown_where_there_are_more(call, place):
    """--limit keeps the newest, in order, and says that there are older ones."""
    with Pipeline(open_store(place / "here.db")) as pipeline:
        task = Task("nightly", "load", run_id="r1", policy=Policy(retries=9))
        for _ in range(4):
            pipeline.failed(task, Evidence.returncode(3))
            task = task.next_attempt()

    answer = call("history", "nightly/load", "--limit", "2", "--store", "here.db")
    everything = call("history", "nightly/load", "--limit", "0", "--json", "--store", "here.db")

    rows = [line for line in answer.out.splitlines() if "NonZeroExit" in line]
    assert ["3", "4"] == [row.split()[0] for row in rows]
    assert "Older attempts are left out; --limit 0 shows all." in answer.out
    document = json.loads(everything.out)
    assert (False, 4) == (document["more"], len(document["attempts"]))


def test_stats_count_hours_and_nothing_that_is_older(call, place):
    """What infrastructure ended is counted with the time that it had run; --since ends the look."""
    path = place / "here.db"
    ended_by_nodes(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE attempts SET opened_at = closed_at - 5400000000")
        connection.execute(
            "UPDATE attempts SET closed_at = closed_at - 8 * 86400000000 WHERE node = 'node-8'"
        )

    recent = call("stats", "--by", "node", "--store", "here.db").out.splitlines()
    older = call("stats", "--by", "node", "--since", "10d", "--json", "--store", "here.db").out

    assert "Infrastructure ended 2 of them, after 3h of work; 2 refunded." == recent[1]
    assert ["node-7", "2", "100%", "3.0"] == recent[4].split()[:4]
    assert ["node-7", "node-8", "node-9"] == [each["value"] for each in json.loads(older)["rows"]]


def test_no_failure_is_said_in_words(call, place):
    """A quiet week is no empty table."""
    open_store(place / "here.db").close()

    assert call("stats", "--store", "here.db").out.startswith("No attempt failed since ")
