"""What `failhook classify` and `explain` make of a document as people have it at hand."""

from __future__ import annotations

import json

import pytest

from failhook.classify import Classifier
from failhook.cli.unused import FIELDS, unused


def pod(name, **status):
    """A pod as the API gives it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main"}], "restartPolicy": "Never"},
        "status": status,
    }


def ended(code, reason="Error"):
    """The status of a pod whose container ended."""
    state = {"terminated": {"exitCode": code, "reason": reason}}
    return {
        "phase": "Failed" if code else "Succeeded",
        "containerStatuses": [{"name": "main", "state": state}],
    }


RUNNING = {"phase": "Running", "containerStatuses": [{"name": "main", "state": {"running": {}}}]}


def listed(*items):
    """A List as kubectl prints it."""
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def batch(name, status, reason=""):
    """A job as `aws batch describe-jobs` prints it."""
    return {"jobArn": f"arn:{name}", "jobName": name, "status": status, "statusReason": reason}


def ask(call, document, *words):
    """Classify a document from standard input."""
    return call("classify", *words, stdin=json.dumps(document).encode())


def test_each_pod_of_a_list_gets_its_own_verdict(call):
    """No pod hides behind another, and its events and no others are its witnesses."""
    gone = {
        "apiVersion": "v1",
        "kind": "Event",
        "reason": "TaintManagerEviction",
        "message": "Marking for deletion Pod default/c",
        "involvedObject": {"kind": "Pod", "name": "c"},
    }
    document = listed(
        pod("a", **ended(137, "OOMKilled")), pod("b", **ended(3)), pod("d", **RUNNING), gone
    )

    told = ask(call, document).out
    answers = json.loads(ask(call, document, "--json").out)

    assert "Pod a:\napplication OOMKilled (" in told
    assert "Pod b:\napplication " in told
    assert "Pod d:\nno verdict: the pod is still running: nothing has failed" in told
    assert [("Pod a", "OOMKilled"), ("Pod b", "Error"), ("Pod d", None)] == [
        (each["name"], each.get("reason")) for each in answers
    ]


def test_each_job_of_an_answer_of_aws_gets_its_own_verdict(call):
    """Jobs that were described together are judged apart."""
    document = {"jobs": [batch("a", "FAILED", "Host EC2 (i-1) terminated."), batch("b", "RUNNING")]}

    first, second = json.loads(ask(call, document, "--json").out)

    assert ("a", "infra") == (first["name"], first["kind"])
    assert {"name": "b", "error": "the job is still running: nothing has failed"} == second


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (pod("a", **RUNNING), "the pod is still running: nothing has failed"),
        (pod("a", **ended(0)), "the pod has succeeded: nothing has failed"),
        (pod("a"), "the pod has no status, so nothing is known of it; get it with -o json"),
        (listed(pod("a", **RUNNING)), "the pod is still running: nothing has failed"),
        (batch("a", "SUCCEEDED"), "the job has succeeded: nothing has failed"),
        ({"jobs": [batch("a", "RUNNABLE")]}, "the job has not started yet: nothing has failed"),
        (
            {"taskArn": "arn:t", "lastStatus": "RUNNING"},
            "the task is still running: nothing has failed",
        ),
        (
            {"kind": "Node", "apiVersion": "v1", "status": {}},
            "this is a node and no task; give the pod that ran there",
        ),
    ],
)
def test_what_has_not_failed_gets_no_verdict_of_failure(document, why, call):
    """One line says what it is instead, and the exit code is 2."""
    assert f"failhook classify: standard input: {why}" == ask(call, document).error


@pytest.mark.parametrize(
    "document",
    [
        pod("a", **RUNNING, reason="NodeLost"),
        {
            **pod("a", **RUNNING),
            "metadata": {"name": "a", "deletionTimestamp": "2026-03-29T01:00:00Z"},
        },
        pod(
            "a",
            phase="Running",
            conditions=[{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByAPI"}],
        ),
        {"system": "kubernetes", "evidence": pod("a", **RUNNING)},
    ],
)
def test_what_may_be_dying_is_judged(document, call):
    """A pod that runs while it is being taken away, or that a host calls failed, has a verdict."""
    assert ask(call, document).code == 0


def test_a_misspelt_fact_does_not_pass_in_silence(call):
    """Words and JSON name what nothing read, and what was meant."""
    document = {"evidence": {"signal": 9, "exitcode": 3, "oom_host": "0"}}
    said = [
        "evidence.exitcode (did you mean exit_code?)",
        "evidence.oom_host (it must be a whole number)",
    ]

    for command in ("classify", "explain"):
        words = call(command, stdin=json.dumps(document).encode()).out
        answer = json.loads(call(command, "--json", stdin=json.dumps(document).encode()).out)
        assert "  not used: evidence.exitcode (did you mean exit_code?), evidence.oom_host" in words
        assert said == answer["not_used"]


def test_every_field_of_a_supervisor_is_read():
    """What the list of fields promises, the readers keep; so does docs/evidence.md."""
    values = {
        "a whole number": 3,
        "a number": 3,
        "a text": "x",
        "true or false": True,
        "an object or a text": "ValueError: x",
        "a text or a list of lines": "x",
    }
    for name, fields in FIELDS.items():
        group = {field: values[what] for field, what in fields.items()}
        value = group.get("", group)
        assert [] == unused(Classifier(), None, {"evidence": {name: value}})


def test_a_record_of_another_system_may_hold_what_nobody_reads(call):
    """A pod has a hundred fields for people; they are not listed as mistakes."""
    assert "not used" not in ask(call, pod("a", **ended(3))).out


def test_rules_that_ask_for_the_task_can_be_tried(call, place):
    """Workflow, name, owner and labels come from the command line."""
    (place / "failhook.toml").write_text(
        '[[rules]]\nid = "ours"\nkind = "infra"\nreason = "Ours"\n'
        'match = ["exit_code = 3", "task.workflow = nightly", "label.team = data"]\n'
    )
    document = {"evidence": {"exit_code": 3}}

    tried = ask(call, document, "--workflow", "nightly", "--label", "team=data")

    assert tried.out.startswith("infra Ours (confirmed)")
    assert ask(call, document, "--workflow", "weekly").out.startswith("application NonZeroExit")


def test_a_fact_stands_under_the_name_that_a_rule_can_match(call, place):
    """Each line of Facts, written as a matcher, hits."""
    document = json.dumps({"evidence": {"exception": {"type": "acme.Busy", "message": "no"}}})
    explained = json.loads(call("explain", "--json", stdin=document.encode()).out)
    matchers = [f"{each['path']} = {each['value']}" for each in explained["facts"]]
    (place / "failhook.toml").write_text(
        f'[[rules]]\nid = "all"\nmatch = {json.dumps(matchers)}\nkind = "infra"\nreason = "X"\n'
    )

    assert "exception.type = acme.Busy" in matchers
    assert "rule all" in call("classify", stdin=document.encode()).out


def test_secrets_are_not_printed(call):
    """A password in the text of an error is gone from verdict and explanation."""
    text = "ValueError: cannot reach postgresql://me:hunter2@db/x"
    for words in (["classify"], ["explain"], ["classify", "--json"], ["explain", "--json"]):
        answer = call(*words, stdin=text.encode())
        assert answer.code == 0
        assert "hunter2" not in answer.out
