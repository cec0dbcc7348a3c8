"""What an alert is routed by."""

from __future__ import annotations

from failhook.plugin import EventType, Task
from failhook_sinks.alerts.labels import job_of, labels_of
from tests.sinks.log.events import BROKEN, LOST, event


def test_an_event_is_routed_by_verdict_task_and_decision():
    """The labels that routing rules are written on."""
    labels = labels_of(event(details=BROKEN, task=Task("nightly", "load", owner="data")))

    assert {
        "alertname": "TaskFailed",
        "kind": "application",
        "reason": "UserException",
        "workflow": "nightly",
        "task": "load",
        "owner": "data",
        "action": "fail",
        "final": "true",
        "severity": "critical",
    }.items() <= labels.items()


def test_the_labels_of_a_task_are_there_and_hide_none_of_ours():
    """A task says its environment and severity, but not what kind of failure it had."""
    task = Task("nightly", "load", labels={"env": "dev", "severity": "info", "kind": "nice"})

    labels = labels_of(event(details=LOST, task=task))

    assert ("dev", "info", "infra") == (labels["env"], labels["severity"], labels["kind"])


def test_a_label_without_a_value_is_left_out():
    """As in Alertmanager: what is empty is missing."""
    assert "" not in labels_of(event()).values()
    assert "node" not in labels_of(event())


def test_the_owner_map_has_the_last_word_on_the_owner():
    """The map may know better than the task."""
    assert "web" == labels_of(event(task=Task("n", "l", owner="data")), owner="web")["owner"]


def test_a_suspect_success_has_a_name_of_its_own():
    """It is no failure, and can be routed apart."""
    assert "SuspectSuccess" == labels_of(event(EventType.SUSPECT_SUCCESS))["alertname"]


def test_each_index_of_a_mapped_task_is_a_job_of_its_own():
    """One index that is well again resolves nothing of another."""
    one, other = (Task("n", "l", run_id="r", map_index=index) for index in (0, 1))

    assert job_of(one) != job_of(other)
    assert job_of(one) == job_of(Task("n", "l", run_id="r2", map_index=0))
