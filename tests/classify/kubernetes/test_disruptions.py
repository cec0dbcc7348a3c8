"""What the platform did, told from what only looks like it."""

from __future__ import annotations

import pytest

from tests.classify.kubernetes.samples import disrupted, ended, event, pod, runs, verdict, waits

AT = "2026-03-02T09:00:{:02}Z"


def marked(second: int, **more) -> list:
    """Return a DisruptionTarget condition that was set at a second."""
    return disrupted(lastTransitionTime=AT.format(second), **more)


def finished(second: int, code: int = 1, reason: str = "Error"):
    """Return a container that ended at a second."""
    return ended(code, reason, finishedAt=AT.format(second))


@pytest.mark.parametrize("status", ["False", "Unknown", False, None])
def test_a_disruption_that_does_not_hold_decides_nothing(status):
    """A condition that was taken back leaves the verdict to the container."""
    assert verdict(pod(ended(137), conditions=disrupted(status=status))).kind == "unknown"
    assert verdict(pod(ended(1), conditions=disrupted(status=status))).kind == "application"


def test_an_unlisted_reason_is_weaker():
    """A reason that Kubernetes does not document is infra, but not confirmed."""
    details = verdict(pod(ended(137), conditions=disrupted("SomethingNew")))
    assert (details.kind, details.reason, details.confidence) == ("infra", "SomethingNew", "likely")


@pytest.mark.parametrize(("code", "reason"), [(1, "Error"), (137, "OOMKilled"), (139, "Error")])
def test_a_failure_before_the_disruption_is_the_tasks(code, reason):
    """A container that had failed by itself was not ended by a disruption that came later."""
    details = verdict(pod(finished(1, code, reason), conditions=marked(5)))
    assert details.kind == "application"


@pytest.mark.parametrize(("code", "reason"), [(1, "Error"), (137, "OOMKilled"), (143, "Error")])
def test_an_end_after_the_disruption_is_the_platforms(code, reason):
    """Whatever a container does once it is told to stop, the platform ended it."""
    details = verdict(pod(finished(9, code, reason), conditions=marked(5)))
    assert details.kind == "infra"


def test_a_disruption_never_carried_out_explains_nothing():
    """A condition is stale when two minutes pass and nobody deletes the pod."""
    old = disrupted(lastTransitionTime="2026-03-02T08:00:00Z")
    assert verdict(pod(finished(1), conditions=old)).kind == "application"
    assert verdict(pod(finished(1, 137), conditions=old)).kind == "unknown"
    deleted = {"deletionTimestamp": AT.format(30)}
    assert verdict(pod(finished(1), conditions=old, metadata=deleted)).kind == "infra"


@pytest.mark.parametrize(
    "message",
    [
        'Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". ',
        "Pod ephemeral local storage usage exceeds the total limit of containers 5Gi. ",
        'Container main exceeded its local ephemeral storage limit "1Gi". ',
    ],
)
@pytest.mark.parametrize("reason", ["Evicted", None])
def test_an_eviction_for_its_own_limit_is_the_tasks(message, reason):
    """The kubelet's one reason covers limits of the pod too; its message tells."""
    details = verdict(pod(reason=reason, message=message))
    assert (details.kind, details.reason) == ("application", "Evicted")


@pytest.mark.parametrize(
    "message",
    [
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. ",
        "The node was low on resource: memory. Container a used 7Gi, which exceeds its request",
        "The node had condition: [DiskPressure]. ",
    ],
)
@pytest.mark.parametrize("reason", ["Evicted", None])
def test_an_eviction_for_the_nodes_sake_is_infra(message, reason):
    """A node short of memory or disk is the platform's, whoever used how much."""
    details = verdict(pod(reason=reason, message=message))
    assert (details.kind, details.reason, details.deterministic) == ("infra", "Evicted", False)


def test_an_eviction_is_found_in_the_events_when_the_status_lost_it():
    """A late write of the status can take the reason away; the event keeps it."""
    told = event("Evicted", "The node was low on resource: memory. ")
    assert verdict(pod(ended(137), events=[told])).reason == "Evicted"
    other = event("Evicted", "The node was low on resource: memory. ", name="another")
    assert verdict(pod(ended(137), events=[other])).kind == "unknown"


DELETED = {"deletionTimestamp": AT.format(40), "deletionGracePeriodSeconds": 30}


@pytest.mark.parametrize(
    ("container", "kind"),
    [
        (runs(), "infra"),
        (ended(137), "infra"),
        (ended(1), "application"),
        (finished(5), "application"),
        (finished(20), "infra"),
        (finished(5, 137), "unknown"),
        (finished(20, 137), "infra"),
        (ended(137, "OOMKilled"), "application"),
        (ended(0, "Completed"), "unknown"),
    ],
)
def test_a_delete_explains_only_what_came_after_it(container, kind):
    """A finished pod is deleted too; only an end after the request can follow from it."""
    assert verdict(pod(container, metadata=DELETED)).kind == kind


@pytest.mark.parametrize(
    "container",
    [waits("ImagePullBackOff"), waits("ContainerCreating"), ended(137, "ContainerStatusUnknown")],
)
def test_a_pod_deleted_before_it_began_was_not_lost_while_running(container):
    """Who deletes a pod that cannot start may be anybody; nothing ran."""
    details = verdict(pod(container, phase="Pending", metadata=DELETED))
    assert details.kind == "unknown"


def test_a_watch_that_saw_the_pod_go_says_that_it_was_deleted():
    """The DELETED event carries the pod as it last was."""
    watched = {"type": "DELETED", "object": pod(runs(), phase="Running")}
    assert verdict(watched).reason == "PodDeleted"


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"events": [event("NodeNotReady", kind="Node")]}, "infra"),
        ({"events": [event("SpotInterruption", kind="Node")]}, "infra"),
        ({"node": {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}}, "infra"),
        ({"node": {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler"}]}}}, "infra"),
        ({"node": {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}}, "unknown"),
    ],
)
def test_a_node_that_goes_explains_a_kill_and_no_exit_code(document, kind):
    """A lost node ends its containers by a kill; an exit code of its own stays the task's."""
    assert verdict(pod(ended(137), **document)).kind == kind
    assert verdict(pod(ended(1), **document)).kind == "application"


@pytest.mark.parametrize(
    ("reason", "kind", "started"),
    [
        *((f"OutOf{what}", "infra", "no") for what in ("cpu", "memory", "pods", "nvidia.com/gpu")),
        ("UnexpectedAdmissionError", "infra", "maybe"),
        ("NodeAffinity", "infra", "maybe"),  # a restarted kubelet turns down what ran before
        ("SysctlForbidden", "application", "no"),
        ("PodOSNotSupported", "application", "no"),
    ],
)
def test_a_rejection_tells_node_from_specification(reason, kind, started):
    """What the node lacks is the platform's, what no node gives is the specification's."""
    details = verdict(pod(reason=reason))
    assert (details.kind, details.reason, details.started) == (kind, reason, started)


def test_a_deadline_says_whether_the_task_ever_ran():
    """ActiveDeadlineSeconds also counts the time in which a pod waits to begin."""
    spec = {"activeDeadlineSeconds": 20}
    late = verdict(pod(ended(143), reason="DeadlineExceeded", spec=spec))
    never = verdict(pod(waits("ContainerCreating"), reason="DeadlineExceeded", spec=spec))
    assert (late.kind, late.started, late.time_limit) == ("timeout", "yes", 20)
    assert (never.kind, never.started) == ("timeout", "no")
