"""Alerts in a real Alertmanager: the same one from attempt to attempt, kept alive, and ended."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from failhook.plugin import (
    Confidence,
    ConfigError,
    EventType,
    FailureDetails,
    Kind,
    SystemClock,
    Task,
    Undelivered,
    from_rfc3339,
)
from failhook.policy import Policy
from failhook_sinks.alerts.receivers import alertmanager
from tests.alertmanager import running
from tests.sinks.alerts.receivers.notices import HOSTILE, alert, notice, opened, resolved
from tests.sinks.log.events import BROKEN, LOST, event
from tests.sinks.openlineage.receiver import Answer, listening

QUIET = {"route": {"receiver": "none"}, "receivers": [{"name": "none"}]}
NODE = FailureDetails(kind=Kind.INFRA, reason="NodeLost", node="node-7")


@pytest.fixture(scope="module")
def real():
    """One Alertmanager for all tests of the module: each uses names of its own."""
    with running(QUIET) as server:
        yield server


def firing(real, workflow):
    """Return what Alertmanager holds as active of a workflow."""
    alerts = real.get(f"/api/v2/alerts?filter=workflow%3D%22{workflow}%22")
    return sorted(alerts, key=lambda alert: sorted(alert["labels"].items()))


def ahead(alert):
    """Return for how many seconds an alert fires if nobody tells of it again."""
    return (from_rfc3339(alert["endsAt"]) - datetime.now(UTC)).total_seconds()


@pytest.mark.requires_service("alertmanager")
def test_an_alert_says_who_it_is_in_labels_and_the_rest_in_annotations(real):
    """As Alertmanager gives it back."""
    task = Task(
        "annotated", "load", run_id="r1", owner="data", labels={"env": "prod"}, log_url="http://l/1"
    )
    receiver = opened(alertmanager, urls=[real.url], labels={"cluster": "eu"})

    receiver.send(notice(alert(task, count=47, runs=9, first_cause="KeyError: 'a'")))

    (held,) = firing(real, "annotated")
    cause = held["labels"].pop("cause")
    assert cause.startswith("UserException/")
    assert {
        "alertname": "TaskFailed",
        "cluster": "eu",
        "env": "prod",
        "kind": "application",
        "namespace": "default",
        "owner": "data",
        "reason": "UserException",
        "task": "load",
        "workflow": "annotated",
    } == held["labels"]
    told = held["annotations"]
    assert {
        "action": "fail",
        "attempt": "1",
        "confidence": "confirmed",
        "failures": "47",
        "final": "true",
        "first_cause": "KeyError: 'a'",
        "run_id": "r1",
        "severity": "critical",
        "summary": "annotated/load failed for good",
    }.items() <= told.items()
    assert "Verdict: application UserException (confirmed)" in told["description"]
    assert "/userexception." in told["runbook_url"]
    assert "http://l/1" == told["log_url"] == held["generatorURL"]


@pytest.mark.requires_service("alertmanager")
def test_what_changes_from_attempt_to_attempt_makes_no_second_alert(real):
    """Severity, decision, confidence, node, executor, typed code, a better verdict, the run."""
    receiver = opened(alertmanager, urls=[real.url], annotate=["version"])
    first = Task("steady", "load", run_id="r1", labels={"version": "1"}, executor="local")
    second = replace(first, attempt=2, run_id="r2", labels={"version": "2"}, executor="k8s")
    sure = replace(BROKEN, node="node-1", code="E42")
    unsure = replace(BROKEN, confidence=Confidence.GUESS, node="node-2")
    seen = {"cause": "UserException/1", "owner": "data"}
    attempts = [
        event(task=first, details=sure, policy=Policy(retries=3)),
        event(task=second, details=unsure),
        event(EventType.AMENDED, task=second, details=NODE, previous=unsure),
    ]

    for failed in attempts:
        labels = {**alert(failed=failed).labels, **seen}
        receiver.send(notice(alert(failed=failed, labels=labels)))

    (held,) = firing(real, "steady")
    assert ("application", "UserException") == (held["labels"]["kind"], held["labels"]["reason"])
    assert "infra NodeLost" in held["annotations"]["description"]
    assert "node-7" == held["annotations"]["node"]
    assert "2" == held["annotations"]["version"]


@pytest.mark.requires_service("alertmanager")
def test_what_makes_another_alert_is_a_label(real):
    """Task, index of a mapped task, cause; the node of a node's cause; a severity of the task's."""
    receiver = opened(alertmanager, urls=[real.url])
    tasks = [Task("apart", "load", map_index=index) for index in (0, 1)]
    tasks.append(Task("apart", "save", labels={"severity": "info"}))

    receiver.send(notice(*[alert(task) for task in tasks], alert(tasks[0], details=NODE)))

    held = [each["labels"] for each in firing(real, "apart")]
    assert 4 == len(held)
    assert ["0", "0", "1", None] == sorted(
        (each.get("map_index") for each in held), key=lambda index: index or "x"
    )
    assert {"node-7", None} == {each.get("node") for each in held}
    assert {"info", None} == {each.get("severity") for each in held}


@pytest.mark.requires_service("alertmanager")
def test_an_alert_fires_for_three_intervals_and_ends_when_all_is_well(real):
    """Else Alertmanager would say after five minutes that it is resolved."""
    receiver = opened(alertmanager, urls=[real.url])
    told = notice(alert(Task("lively", "load")), interval=3_600.0)

    receiver.send(told)
    (held,) = firing(real, "lively")
    assert 3 * 3_600 - 100 < ahead(held) <= 3 * 3_600
    receiver.send(resolved(told))

    assert [] == firing(real, "lively")
    assert receiver.keep_alive


@pytest.mark.requires_service("alertmanager")
def test_an_alert_that_ended_before_it_began_is_taken(real):
    """Clocks of several machines differ; Alertmanager refuses an end before the start."""
    receiver = opened(alertmanager, urls=[real.url])
    told = resolved(notice(alert(Task("backwards", "load"))))
    early = replace(told.alerts[0], ends_at=told.alerts[0].starts_at - timedelta(hours=1))

    receiver.send(replace(told, alerts=[early]))

    assert [] == firing(real, "backwards")


@pytest.mark.requires_service("alertmanager")
def test_each_alertmanager_of_a_cluster_has_every_alert(real, caplog):
    """They tell each other of notices, not of alerts; one that is away keeps none from the rest."""
    with running(QUIET) as other, listening() as broken:
        broken.answers = [Answer(503, {"Retry-After": "9"})] * 3
        urls = [broken.url, f"{real.url}/", f"{other.url}/api/v2/alerts"]

        opened(alertmanager, urls=urls).send(notice(alert(Task("everywhere", "load"))))

        assert 1 == len(firing(real, "everywhere")) == len(firing(other, "everywhere"))
        assert "receiver x: only some have it: http://127.0.0.1" in caplog.text
        with pytest.raises(Undelivered, match="503") as raised:
            opened(alertmanager, urls=[broken.url, broken.url]).send(notice())
    assert (True, 9.0) == (raised.value.retryable, raised.value.retry_after)


@pytest.mark.requires_service("alertmanager")
def test_a_thousand_hostile_alerts_are_all_taken(real):
    """Names that no label may have, long texts, marks that turn the direction around."""
    labels = {
        "app.kubernetes.io/name": "a",
        "0": "b",
        "größe": HOSTILE,
        "app_kubernetes_io_name": "c",
    }
    details = replace(LOST, message=HOSTILE * 100)
    tasks = [Task("hostile", f"load {HOSTILE} {n}", labels=labels) for n in range(1_000)]

    opened(alertmanager, urls=[real.url]).send(
        notice(*[alert(task, details=details) for task in tasks], more=9_000)
    )

    held = firing(real, "hostile")
    assert 1_000 == len(held)
    assert {"app_kubernetes_io_name", "_0", "gr__e"} <= held[0]["labels"].keys()
    assert "9000" == held[0]["annotations"]["not_shown"]


def test_no_annotation_hides_anything():
    """Not even those that are short, such as the run's id and the node."""
    details = replace(NODE, node=f"n{HOSTILE}", executor=f"x{HOSTILE}", code=f"c{HOSTILE}")
    with listening() as server:
        receiver = opened(alertmanager, urls=[server.url])

        receiver.send(notice(alert(Task("nightly", "load", run_id=HOSTILE), details=details)))

        ((body,),) = (json.loads(body) for body in server.bodies)
    told = body["annotations"]
    assert {"run_id", "executor", "code"} <= told.keys()
    assert [] == [name for name, text in told.items() if not text.replace("\n", "").isprintable()]


def test_what_is_refused_goes_with_its_summary_alone():
    """Who it is stays the same, so that its end ends it."""
    with listening() as server:
        server.answers = [Answer(413)]

        opened(alertmanager, urls=[server.url]).send(notice())

    full, brief = map(json.loads, server.bodies)
    assert full[0]["labels"] == brief[0]["labels"]
    assert ["summary"] == [*brief[0]["annotations"]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"x\.urls is missing"),
        ({"urls": []}, r"x\.urls is missing"),
        ({"urls": ["http://ok:9093", "am:9093"]}, r"x\.urls has a wrong entry: number 2 is not"),
        ({"urls": ["http://ok:9093"], "labels": {"a-b": "c"}}, r"x\.labels\.a-b is not the name"),
        ({"urls": ["http://ok:9093"], "labels": {"a": 1}}, r"x\.labels\.a is 1"),
        ({"url": "http://ok:9093"}, r"x\.urls is missing"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=message):
        opened(alertmanager, SystemClock(), **settings)
