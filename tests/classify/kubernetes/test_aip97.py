"""What AIP-97 promises of `classify_pod_failure`, promise by promise."""

from __future__ import annotations

import pytest

from tests.classify.kubernetes.samples import disrupted, ended, pod, runs, verdict

DELETED = {"deletionTimestamp": "2026-03-02T09:40:47Z", "deletionGracePeriodSeconds": 30}


def test_evicted_is_infra():
    """A pod that the kubelet evicted was ended by the platform."""
    assert verdict(pod(reason="Evicted")).kind == "infra"


def test_preempting_is_infra():
    """A pod that made room for a critical one was ended by the platform."""
    message = "Preempted in order to admit critical pod"
    assert verdict(pod(reason="Preempting", message=message)).kind == "infra"


@pytest.mark.parametrize(
    "reason",
    [
        *("PreemptionByScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI"),
        *("DeletionByPodGC", "TerminationByKubelet", "DeletionByDeviceTaintManager"),
    ],
)
def test_disruption_target_is_infra(reason):
    """A pod marked as a target of disruption was ended by the platform, for the reason given."""
    details = verdict(pod(ended(137), conditions=disrupted(reason)))
    assert (details.kind, details.reason, details.confidence) == ("infra", reason, "confirmed")


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("Terminated", "Pod was terminated in response to imminent node shutdown."),
        ("NodeShutdown", "Pod was rejected as the node is shutting down."),
        ("Shutdown", "Node is shutting, evicting pods"),
    ],
)
def test_node_shutdown_is_infra(reason, message):
    """A pod that went down with its node was ended by the platform, in each kubelet's wording."""
    details = verdict(pod(reason=reason, message=message))
    assert (details.kind, details.reason) == ("infra", "NodeShutdown")


@pytest.mark.parametrize("container", [runs(), ended(137), ended(143)])
def test_pod_deleted_is_infra(container):
    """A pod that was removed while it ran was not ended by its own code."""
    details = verdict(pod(container, phase="Running", metadata=DELETED))
    assert (details.kind, details.reason) == ("infra", "PodDeleted")


@pytest.mark.parametrize("code", [1, 2, 42, 125])
def test_a_container_that_ended_by_itself_is_application(code):
    """An exit code that the container chose is the task's own failure, and nothing was in doubt."""
    details = verdict(pod(ended(code)))
    assert (details.kind, details.exit_code, details.ended_by_itself) == ("application", code, True)


def test_an_oom_kill_against_its_own_limit_is_application():
    """A container that passed its own memory limit failed by its own doing."""
    details = verdict(pod(ended(137, "OOMKilled")))
    assert (details.kind, details.reason, details.hint) == (
        "application",
        "OOMKilled",
        "more_memory",
    )


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "Pod", "status": {}},
        pod(),
        pod(runs()),
        pod(reason="SomeReason"),
        pod(ended(137)),
        pod(ended(143)),
        pod(ended(137, "Terminated")),
        pod(ended(137, "NodeLost")),
        pod(ended(137), conditions=disrupted(status="False")),
    ],
)
def test_what_nothing_establishes_is_unknown(document):
    """A bare kill, a reason nobody documents and an empty status name neither side."""
    assert verdict(document).kind == "unknown"
