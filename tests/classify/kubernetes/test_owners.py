"""Owners of pods, answers of the API, engines, audit records: where the pod itself is gone."""

from __future__ import annotations

import json

import pytest

from tests.classify.kubernetes.samples import condition, ended, event, job, pod, verdict, workload


@pytest.mark.parametrize(
    "reason",
    [
        *("BackoffLimitExceeded", "MaxFailedIndexesExceeded", "FailedIndexes", "PodFailurePolicy"),
        *("ReachedMaxRestarts", "FailedJobs", "FailJobSetFailurePolicyAction"),
    ],
)
def test_a_reason_that_only_wraps_is_no_cause(reason):
    """A job that gave up does not say why its pods failed."""
    details = verdict(job(reason))
    assert (details.kind, details.reason) == ("unknown", reason)


def test_a_jobs_pod_says_why_where_it_was_read():
    """The cause is looked for in the pod, not in what wraps it."""
    document = {"job": job("BackoffLimitExceeded"), "pod": pod(ended(137, "OOMKilled"))}
    assert verdict(document).reason == "OOMKilled"


def test_a_list_is_judged_by_its_latest_failed_pod():
    """A job with several pods failed for the reason of the last."""
    older = pod(ended(137, "OOMKilled"), metadata={"creationTimestamp": "2026-03-02T09:00:00Z"})
    newer = pod(ended(3), metadata={"creationTimestamp": "2026-03-02T10:00:00Z"})
    fine = pod(
        ended(0, "Completed"),
        phase="Succeeded",
        metadata={"creationTimestamp": "2026-03-02T11:00:00Z"},
    )
    items = [newer, fine, older, job("BackoffLimitExceeded")]
    assert verdict({"kind": "List", "items": items}).exit_code == 3


def test_an_owner_that_quotes_the_kubelet_says_why():
    """Tekton copies the message of the pod into the run's own condition."""
    said = "The node was low on resource: memory. "
    told = [condition("Succeeded", "Failed", "False", message=said)]
    document = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "status": {"conditions": told}}
    assert (verdict(document).kind, verdict(document).reason) == ("infra", "Evicted")


def tekton(reason, message="", kind="TaskRun", **status):
    """Return a run of Tekton."""
    status["conditions"] = [condition("Succeeded", reason, "False", message=message)]
    return {"apiVersion": "tekton.dev/v1", "kind": kind, "status": status}


PULLED = (
    'the step "x" in TaskRun "y" failed to pull the image "z". The pod errored with the message: '
)


@pytest.mark.parametrize(
    ("document", "kind", "reason"),
    [
        (tekton("TaskRunTimeout"), "timeout", "TaskRunTimeout"),
        (tekton("PipelineRunTimeout", kind="PipelineRun"), "timeout", "PipelineRunTimeout"),
        (tekton("TaskRunCancelled"), "manual", "TaskRunCancelled"),
        (tekton("CancelledRunningFinally"), "manual", "CancelledRunningFinally"),
        (tekton("TaskRunValidationFailed"), "application", "TaskRunValidationFailed"),
        (tekton("InvalidWorkspaceBindings"), "application", "InvalidWorkspaceBindings"),
        (tekton("ExceededResourceQuota", "exceeded quota: q"), "infra", "ExceededResourceQuota"),
        (
            tekton("TaskRunImagePullFailed", PULLED + '"Back-off pulling image "z"."'),
            "unknown",
            "TaskRunImagePullFailed",
        ),
        (
            tekton("TaskRunImagePullFailed", PULLED + '"z: 429 Too Many Requests."'),
            "infra",
            "TaskRunImagePullFailed",
        ),
        (
            tekton("TaskRunImagePullFailed", PULLED + '"z: manifest unknown."'),
            "application",
            "TaskRunImagePullFailed",
        ),
        (
            tekton(
                "TaskRunCancelled",
                "TaskRun cancelled as the PipelineRun it belongs to has timed out.",
            ),
            "timeout",
            "PipelineRunTimeout",
        ),
        (
            tekton(
                "Failed", '"step-x" exited because the step exceeded the specified timeout limit'
            ),
            "timeout",
            "TimeoutExceeded",
        ),
        (
            tekton(
                "Failed",
                steps=[
                    {"terminated": {"exitCode": 9}, "terminationReason": "Continued"},
                    {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
                ],
            ),
            "application",
            "OOMKilled",
        ),
        (tekton("Failed", '"step-x" exited with code 2'), "application", "NonZeroExit"),
        (
            tekton("Failed", steps=[{"terminated": {"exitCode": 137, "reason": "OOMKilled"}}]),
            "application",
            "OOMKilled",
        ),
        (tekton("Failed", '"step-x" exited with code 137'), "unknown", "KilledBySignal"),
        (tekton("Failed", "Tasks Completed: 3 (Failed: 1)"), "unknown", "Failed"),
    ],
)
def test_a_run_of_tekton_says_by_its_reason_and_its_steps(document, kind, reason):
    """The reasons are Tekton's own constants; what a step did is its container's end."""
    details = verdict(document)
    assert (details.kind, details.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        ({"state": {"phase": "Failed", "reason": "PodEvicted"}}, "infra", "PodEvicted"),
        ({"state": {"phase": "Aborted", "reason": "CommandIssued"}}, "manual", "CommandIssued"),
        ({"state": {"phase": "Failed", "reason": "PodFailed"}}, "unknown", "PodFailed"),
        ({"state": {"phase": "Running", "reason": "PodEvicted"}}, "unknown", "Unknown"),
        (
            {"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded"},
            "timeout",
            "DeadlineExceeded",
        ),
        ({"jobDeploymentStatus": "Failed", "reason": "AppFailed"}, "unknown", "AppFailed"),
        (
            {
                "jobDeploymentStatus": "Failed",
                "reason": "AppFailed",
                "message": "Job entrypoint command failed with exit code 1, last available logs",
            },
            "application",
            "NonZeroExit",
        ),
        ({"jobDeploymentStatus": "Running", "reason": "AppFailed"}, "unknown", "Unknown"),
    ],
)
def test_volcano_and_kuberay_keep_one_state(status, kind, reason):
    """Its reason counts once the job is over; a reason that only wraps is no cause."""
    details = verdict({"kind": "RayJob", "status": status})
    assert (details.kind, details.reason) == (kind, reason)


def test_a_label_of_a_site_does_not_explain_an_end_of_the_tasks_own():
    """A machine that was to be reclaimed may still see a task fail by itself."""
    labels = {"labels": {"node-preempted": "1"}}
    kinds = [verdict(pod(ended(code), metadata=labels)).kind for code in (143, 1)]
    assert kinds == ["infra", "application"]


def test_a_jobs_deadline_is_a_timeout():
    """ActiveDeadlineSeconds of a job ends the job, and the limit is told."""
    details = verdict(job("DeadlineExceeded"))
    assert (details.kind, details.time_limit) == ("timeout", 40)


@pytest.mark.parametrize("kind", ["Failed", "FailureTarget"])
@pytest.mark.parametrize(
    ("said", "expected", "deterministic"),
    [
        ("Container main for pod a/b failed with exit code 42", "application", True),
        ("Container main for pod a/b failed with exit code 137", "unknown", None),
        ("Pod a/b has condition DisruptionTarget", "infra", False),
    ],
)
def test_a_failure_policy_says_what_it_matched(kind, said, expected, deterministic):
    """The controller's sentence names the exit code or the condition of the pod."""
    details = verdict(job("PodFailurePolicy", f"{said} matching FailJob rule at index 0", kind))
    assert (details.kind, details.deterministic) == (expected, deterministic)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        *((each, "infra") for each in ("Preempted", "NodeFailures", "AdmissionCheck")),
        *((each, "timeout") for each in ("PodsReadyTimeout", "MaximumExecutionTimeExceeded")),
        *((each, "manual") for each in ("ClusterQueueStopped", "LocalQueueStopped", "Deactivated")),
        ("DeactivatedDueToRequeuingLimitExceeded", "unknown"),
    ],
)
def test_kueue_says_why_it_evicted(reason, kind):
    """The same token counts on the workload, on the pod and in an event."""
    terminated = [condition("TerminationTarget", f"WorkloadEvictedDueTo{reason}")]
    told = [
        workload(reason),
        pod(ended(137), conditions=terminated),
        {"pod": None, "events": [event(f"EvictedDueTo{reason}")]},
    ]
    assert [verdict(each).kind for each in told] == [kind] * 3


def test_a_workload_that_is_no_longer_evicted_says_nothing():
    """A condition that is False is the past."""
    assert verdict(workload("Preempted", status="False")).kind == "unknown"


@pytest.mark.parametrize(
    ("code", "body", "kind", "deterministic"),
    [
        (400, "bad spec", "application", True),
        (422, 'Pod "x" is invalid: spec.containers: Required value', "application", True),
        (403, 'pods "x" is forbidden: violates PodSecurity "restricted"', "application", True),
        (403, 'pods "x" is forbidden: exceeded quota: cpu', "infra", False),
        (403, "Forbidden", "infra", None),
        (404, 'namespaces "batch" not found', "application", True),
        (429, "slow down", "infra", False),
        (500, "internal", "infra", False),
        (503, "unavailable", "infra", False),
    ],
)
def test_an_answer_of_the_api_tells_specification_from_control_plane(
    code, body, kind, deterministic
):
    """One status code can mean a wrong specification or a full quota; the body tells."""
    details = verdict({"api_error": {"code": code, "body": body}, "pod": None})
    assert (details.kind, details.deterministic) == (kind, deterministic)


@pytest.mark.parametrize("write", [dict, json.dumps])
@pytest.mark.parametrize(
    ("said", "kind", "deterministic"),
    [
        ('violates PodSecurity "restricted"', "application", True),
        ("failed quota: q: must specify limits.cpu", "application", True),
        ("exceeded quota: q, requested: pods=1", "infra", False),
    ],
)
def test_the_body_of_a_clients_error_is_read_in_any_form(write, said, kind, deterministic):
    """A client keeps the API's Status as an object or as the JSON that it received."""
    status = {"kind": "Status", "code": 403, "message": f'pods "x" is forbidden: {said}'}
    details = verdict({"api_error": {"code": 403, "body": write(status)}, "pod": None})
    assert (details.kind, details.deterministic) == (kind, deterministic)


@pytest.mark.parametrize("wrap", [lambda said: said, lambda said: {"body": said}])
def test_an_answer_without_a_code_is_known_by_its_sentence(wrap):
    """An engine that kept no more than the text of the API's refusal has the same verdict."""
    full, wrong = "exceeded quota: q", 'violates PodSecurity "restricted"'
    kinds = [
        verdict({"api_error": wrap(f'pods "x" is forbidden: {said}')}).kind
        for said in (full, wrong)
    ]
    assert kinds == ["infra", "application"]


@pytest.mark.parametrize("body", ["{", "{" * 9_000, '{"a":' * 3_000, "{" + " " * 99_999])
def test_a_body_that_is_no_json_is_a_text(body):
    """A broken body costs nothing but itself."""
    assert verdict({"api_error": {"code": 422, "body": body}}).kind == "application"


GONE = {"kind": "Status", "code": 404, "reason": "NotFound", "details": {"kind": "pods"}}


@pytest.mark.parametrize(
    ("phase", "kind"), [(None, "infra"), ("Running", "infra"), ("Succeeded", "unknown")]
)
def test_a_pod_that_is_gone_was_deleted_unless_it_had_ended(phase, kind):
    """A pod that had ended is cleaned away; one that ran was taken away."""
    assert verdict(GONE, last_known_phase=phase).kind == kind


@pytest.mark.parametrize(
    ("user", "kind", "reason"),
    [
        ("system:kube-scheduler", "infra", "Preempted"),
        ("system:node:node-1", "infra", "PodDeleted"),
        ("system:serviceaccount:kube-system:job-controller", "unknown", "PodDeleted"),
        ("alice@example.com", "manual", "PodDeleted"),
    ],
)
def test_an_audit_record_says_who_deleted_the_pod(user, kind, reason):
    """The scheduler preempts, the node's keepers move, people cancel."""
    record = {"verb": "delete", "user": {"username": user}, "objectRef": {"resource": "pods"}}
    details = verdict({"pod": None, "audit": record})
    assert (details.kind, details.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ("workflow shutdown with strategy: Stop", "manual", "WorkflowShutdown"),
        ("pod deleted", "infra", "PodDeleted"),
        ("Step exceeded its deadline", "timeout", "DeadlineExceeded"),
        ("main: OOMKilled (exit code 137)", "application", "OOMKilled"),
        ("Error (exit code 2): no such file", "application", "Error"),
        ("Error (exit code 143)", "unknown", "Error"),
        ("The node was low on resource: memory. ", "infra", "Evicted"),
        ("Pod was rejected: Node didn't have enough resource: cpu, ...", "infra", "OutOfcpu"),
        ("ErrImagePull: x: 503 Service Unavailable", "infra", "ErrImagePull"),
        (
            "Pod failed before main container starts due to InvalidImageName: x",
            "application",
            "InvalidImageName",
        ),
        ("Unschedulable: 0/3 nodes are available", "unknown", "Unschedulable"),
        ('pods "x" is forbidden: exceeded quota: cpu', "infra", "QuotaExceeded"),
        ("No more retries left", "unknown", "Unknown"),
    ],
)
def test_a_workflows_record_is_read_as_the_controller_writes_it(said, kind, reason):
    """Argo keeps one message of a step; it quotes kubelet, runtime or API in a known form."""
    details = verdict({"workflow_node": {"phase": "Failed", "message": said}})
    assert (details.kind, details.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        (
            "x finished (failed) although the task says it's queued. (Info: None)",
            "infra",
            "NeverStarted",
        ),
        (
            "x finished with state failed, but the task instance's state attribute is running.",
            "infra",
            "WorkerLost",
        ),
        ("Run has not completed but K8s job has no active pods", "infra", "WorkerLost"),
        ("Pod took longer than 120 seconds to start.", "infra", "StartTimeout"),
        ("Was the task killed externally?", "unknown", "Unknown"),
    ],
)
def test_an_engines_sentence_counts_for_what_it_saw(said, kind, reason):
    """An engine that lost its pod says so in a sentence of its own; a question is no evidence."""
    details = verdict({"engine_error": said})
    assert (details.kind, details.reason) == (kind, reason)
