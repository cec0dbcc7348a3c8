"""Which container decides, and which of its states."""

from __future__ import annotations

import pytest

from tests.classify.kubernetes.samples import ended, event, pod, runs, verdict, waits

DEFAULT = "kubectl.kubernetes.io/default-container"


@pytest.mark.parametrize(
    "how",
    [
        {"main_container": "app"},
        {"annotations": {DEFAULT: "app"}},
        {"annotations": {"kubectl.kubernetes.io/default-logs-container": "app"}},
    ],
)
def test_the_named_container_decides(how):
    """The caller's name, or else the annotation, says which container is the task."""
    annotations = {"annotations": how.pop("annotations", {})}
    document = pod(
        ended(1, name="helper"), ended(137, "OOMKilled", name="app"), metadata=annotations
    )
    assert verdict(document, **how).reason == "OOMKilled"


def test_the_callers_name_stands_above_the_annotation():
    """Who runs the task knows better than who made the pod."""
    document = pod(
        ended(3, name="a"), ended(137, name="b"), metadata={"annotations": {DEFAULT: "b"}}
    )
    assert verdict(document, main_container="a").exit_code == 3


@pytest.mark.parametrize(
    "helper", ["istio-proxy", "linkerd-proxy", "wait", "airflow-xcom-sidecar", "sidecar-docker"]
)
def test_the_sole_candidate_decides_beside_known_helpers(helper):
    """Without a name, a container that no platform puts in is the task."""
    details = verdict(pod(ended(137, name=helper), ended(2, name="app")))
    assert (details.kind, details.exit_code) == ("application", 2)


@pytest.mark.parametrize(
    "helper", [ended(1, name="x"), ended(139, name="x"), ended(137, "OOMKilled", name="x")]
)
def test_a_helpers_death_never_blames_the_tasks_code(helper):
    """Where the task ended well, what happened beside it is not the task's failure."""
    details = verdict(pod(ended(0, "Completed"), helper), main_container="main")
    assert details.kind != "application"
    assert details.exit_code in (0, None)


def test_a_name_that_no_container_has_is_not_held_against_the_task():
    """A wrong name makes no helper of the only container."""
    assert verdict(pod(ended(1, name="task")), main_container="base").kind == "application"


def test_a_named_task_without_a_status_is_not_replaced_by_another():
    """A task whose container has no status yet has not failed, whatever ended beside it."""
    spec = {"containers": [{"name": "main"}, {"name": "other"}]}
    assert verdict(pod(ended(1, name="other"), spec=spec), main_container="main").kind == "unknown"


def test_several_candidates_that_fail_point_at_the_task():
    """Where nothing tells task and helper apart, the end that tells most is named."""
    details = verdict(pod(waits("CrashLoopBackOff", name="a"), ended(137, "OOMKilled", name="b")))
    assert (details.kind, details.reason) == ("application", "OOMKilled")


def test_an_init_container_decides_before_the_task_has_begun():
    """A declared init container that fails is the task's, and the task's code has not run."""
    document = pod(
        waits("PodInitializing"), initContainerStatuses=[ended(137, "OOMKilled", name="load")]
    )
    details = verdict(document)
    assert (details.kind, details.reason, details.started) == ("application", "OOMKilled", "no")


def test_an_injected_init_container_is_the_platforms():
    """The mesh's own init container is not the task's."""
    document = pod(waits("PodInitializing"), initContainerStatuses=[ended(1, name="istio-init")])
    assert verdict(document).kind == "infra"


def test_a_native_sidecar_is_a_helper_not_an_init_container():
    """An init container that is restarted for ever stays beside the task, and decides as such."""
    document = pod(
        ended(0, "Completed"),
        initContainerStatuses=[ended(1, name="proxy")],
        spec={"initContainers": [{"name": "proxy", "restartPolicy": "Always"}]},
    )
    assert verdict(document).rule == "kubernetes.sidecar.failed"


OOM = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}


@pytest.mark.parametrize(
    "container",
    [ended(1, last=OOM), ended(137, last=OOM), waits("ErrImagePull", last=OOM)],
)
def test_an_older_end_does_not_label_a_newer_one(container):
    """A last state says nothing of what the container died of this time."""
    assert verdict(pod(container)).reason != "OOMKilled"


def test_an_older_end_does_not_label_a_pod_that_failed_for_good():
    """Where the pod failed while its container ran on, the end before is not the cause."""
    assert verdict(pod(runs(last=OOM))).kind == "unknown"


@pytest.mark.parametrize(
    "container",
    [waits("CrashLoopBackOff", last=OOM), waits("RunContainerError", last=OOM), runs(last=OOM)],
)
def test_a_restart_descends_to_the_end_before(container):
    """A container that is restarted in place died of what its last state says."""
    assert verdict(pod(container, phase="Running")).reason == "OOMKilled"


def test_a_restart_loop_is_no_cause():
    """CrashLoopBackOff without a last state says nothing of why."""
    details = verdict(pod(waits("CrashLoopBackOff"), phase="Running"))
    assert (details.kind, details.reason) == ("unknown", "CrashLoopBackOff")


def test_a_termination_message_is_the_users_own_text():
    """Words of the platform in what the task wrote change no verdict."""
    said = "Evicted: The node was low on resource: memory. OOMKilled. Preempted by scheduler."
    assert verdict(pod(ended(1, message=said))).kind == "application"
    assert verdict(pod(ended(137, message=said))).kind == "unknown"


def test_the_tasks_last_words_are_told_to_people():
    """The message of the verdict carries what the task wrote at its end."""
    assert "no such table" in verdict(pod(ended(1, message="no such table"))).message


def test_a_failed_health_check_of_the_task_is_its_own():
    """The kubelet that restarts a container for its probe acts on what the task did."""
    killing = event("Killing", "Container main failed liveness probe, will be restarted")
    assert verdict(pod(ended(137), events=[killing])).kind == "application"


def test_a_failed_health_check_of_a_helper_says_nothing_of_the_task():
    """A probe counts for the container that it names."""
    killing = event("Killing", "Container proxy failed liveness probe, will be restarted")
    assert verdict(pod(ended(137), events=[killing])).kind == "unknown"


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, "application"),
        ({"qosClass": "Burstable"}, "application"),
        ({"qosClass": "BestEffort"}, "infra"),
    ],
)
def test_an_oom_kill_without_any_limit_is_the_nodes(more, kind):
    """Only a pod that the API calls BestEffort has no limit that it could have passed."""
    assert verdict(pod(ended(137, "OOMKilled"), **more)).kind == kind


@pytest.mark.parametrize("code", [134, 139, 0xC0000005])
def test_a_crash_of_native_code_is_the_tasks(code):
    """Linux and Windows have exit codes of their own for what a process does to itself."""
    assert verdict(pod(ended(code))).reason == "NativeCrash"
