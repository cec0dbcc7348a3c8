"""The tables: each rule decides some failure, and says what a person needs."""

from __future__ import annotations

from collections import Counter

import pytest

from failhook.classify.kubernetes.rules import RULES
from tests.classify.kubernetes.samples import (
    condition,
    disrupted,
    ended,
    event,
    job,
    pod,
    runs,
    verdict,
    waits,
    workload,
)

DELETED = {"deletionTimestamp": "2026-03-02T09:40:47Z", "deletionGracePeriodSeconds": 30}
LATE = {"finishedAt": "2026-03-02T09:40:47Z"}
EARLY = {"finishedAt": "2026-03-02T09:00:00Z"}
PENDING = {"phase": "Pending"}
NOT_READY = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
LEAVING = {"spec": {"taints": [{"key": "node.kubernetes.io/out-of-service"}]}}
POLICY = "Container main for pod a/b failed with exit code {} matching FailJob rule at index 0"


def step(message):
    """Return the record of a workflow's step."""
    return {"workflow_node": {"phase": "Failed", "message": message}}


def asked(code, body=""):
    """Return the API's answer to the request for a pod."""
    return {"api_error": {"code": code, "body": body}}


def audit(user, verb="delete", **about):
    """Return the audit record of a request on a pod."""
    about = {"resource": "pods", **about}
    return {"audit": {"verb": verb, "user": {"username": user}, "objectRef": about}}


def told(reason, message="", **more):
    """Return a pod that cannot begin, with one event."""
    container = waits("ContainerCreating")
    return pod(container, phase="Pending", events=[event(reason, message)], **more)


def run(reason, said="x", **more):
    """Return a TaskRun of Tekton."""
    status = {"conditions": [condition("Succeeded", reason, "False", message=said)], **more}
    return {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "status": status}


def volcano(reason):
    """Return a job of Volcano."""
    state = {"phase": "Failed", "reason": reason}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "status": {"state": state}}


def rayjob(reason):
    """Return a job of KubeRay."""
    status = {"jobDeploymentStatus": "Failed", "reason": reason}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "status": status}


def pulls(message, reason="ErrImagePull"):
    """Return a pod that waits for its image."""
    return pod(waits(reason, message), phase="Pending")


def beside(container, **more):
    """Return a pod whose task ended well, or waits, beside a helper."""
    return pod(more.pop("main", ended(0, "Completed")), container, **more)


def pulls_beside(message):
    """Return a pod of which a helper waits for its image."""
    waiting = waits("ErrImagePull", message, name="istio-proxy")
    return beside(waiting, main=waits("ContainerCreating"), phase="Pending")


PULL = 'Failed to pull image "x": '
SAID = {
    "throttled": "429 Too Many Requests",
    "registry": "502 Bad Gateway",
    "node": "no space left on device",
    "network": "i/o timeout",
    "expired": "denied: your authorization token has expired",
    "missing": "manifest unknown",
    "denied": "pull access denied",
}
PULLS = [
    *((f"kubernetes.image.{name}", pulls(said)) for name, said in SAID.items()),
    *(
        (f"kubernetes.image.{name}.event", told("Failed", PULL + said))
        for name, said in SAID.items()
    ),
    *(
        (f"kubernetes.image.{name}.sidecar", pulls_beside(SAID[name]))
        for name in ("throttled", "registry", "node", "network")
    ),
]

DECIDED = [
    ("kubernetes.workflow.stopped", step("workflow shutdown with strategy: Stop")),
    ("kubernetes.kueue.stopped", workload("LocalQueueStopped")),
    ("kubernetes.pod.deadline.never-started", pod(waits(""), reason="DeadlineExceeded")),
    ("kubernetes.pod.deadline", pod(reason="DeadlineExceeded")),
    ("kubernetes.job.deadline", job("DeadlineExceeded")),
    ("kubernetes.workflow.deadline", step("Max duration limit exceeded")),
    ("kubernetes.kueue.execution-time", workload("MaximumExecutionTimeExceeded")),
    ("kubernetes.kueue.pods-ready", workload("PodsReadyTimeout")),
    (
        "kubernetes.evicted.own-limit",
        pod(message='Usage of EmptyDir volume "x" exceeds the limit "1Gi".'),
    ),
    (
        "kubernetes.disrupted.ended-before",
        pod(ended(1, **EARLY), conditions=disrupted(lastTransitionTime="2026-03-02T09:00:09Z")),
    ),
    (
        "kubernetes.disrupted.stale.ended-by-itself",
        pod(ended(1, **EARLY), conditions=disrupted(lastTransitionTime="2026-03-02T08:00:00Z")),
    ),
    (
        "kubernetes.disrupted.stale",
        pod(ended(137, **EARLY), conditions=disrupted(lastTransitionTime="2026-03-02T08:00:00Z")),
    ),
    ("kubernetes.evicted.node-pressure", pod(message="The node was low on resource: pids. ")),
    ("kubernetes.evicted.admission", pod(message="The node had condition: [PIDPressure]. ")),
    ("kubernetes.pod.preempting", pod(reason="Preempting")),
    (
        "kubernetes.node-shutdown.rejected",
        pod(message="Pod was rejected as the node is shutting down."),
    ),
    ("kubernetes.node-shutdown", pod(reason="Terminated")),
    ("kubernetes.node-lost", pod(reason="NodeLost", phase="Running")),
    ("kubernetes.disrupted", pod(conditions=disrupted())),
    ("kubernetes.disrupted.other", pod(conditions=disrupted(None))),
    ("kubernetes.kueue.requeuing-limit", workload("RequeuingLimitExceeded")),
    ("kubernetes.kueue.evicted", workload("NodeFailures")),
    ("kubernetes.evicted", pod(reason="Evicted")),
    ("kubernetes.evicted.container", pod(ended(137, "Evicted"))),
    ("kubernetes.provider-failed", pod(reason="ProviderFailed")),
    ("kubernetes.event.preempted", {"events": [event("Preempted", "Preempted by a/b on node n")]}),
    (
        "kubernetes.event.taint",
        {"events": [event("TaintManagerEviction", "Marking for deletion Pod a/b")]},
    ),
    ("kubernetes.event.node-lost", pod(ended(137), events=[event("NodeNotReady")])),
    ("kubernetes.event.spot", pod(ended(137), events=[event("SpotInterrupted")])),
    ("kubernetes.event.node-shutdown", pod(ended(137), events=[event("NodeShutdown")])),
    (
        "kubernetes.event.sandbox-changed",
        pod(ended(255), events=[event("SandboxChanged", "Pod sandbox changed")]),
    ),
    ("kubernetes.event.xid", pod(ended(1), events=[event("GPUXidError", "GPU 0: Xid: 79")])),
    ("kubernetes.event.moved", pod(ended(137), events=[event("ScaleDown")])),
    ("kubernetes.node-object.lost", pod(ended(137), node=NOT_READY)),
    ("kubernetes.node-object.leaving", pod(ended(137), node=LEAVING)),
    ("kubernetes.node-preempted-label", pod(metadata={"labels": {"node-preempted": "1"}})),
    ("kubernetes.admission.no-room", pod(reason="OutOfcpu")),
    ("kubernetes.admission.no-room.again", pod(ended(143), reason="OutOfcpu")),
    ("kubernetes.admission.node", pod(reason="TopologyAffinityError")),
    ("kubernetes.admission.specification", pod(reason="AppArmor")),
    (
        "kubernetes.api.quota-unspecified",
        asked(403, 'pods "x" is forbidden: failed quota: q: must specify limits.cpu'),
    ),
    ("kubernetes.api.quota", asked(403, "exceeded quota: cpu")),
    ("kubernetes.api.denied", asked(403, "violates PodSecurity")),
    ("kubernetes.api.namespace-terminating", asked(403, "because it is being terminated")),
    ("kubernetes.api.forbidden", asked(401)),
    ("kubernetes.api.bad-specification", asked(400)),
    ("kubernetes.api.invalid", asked(422)),
    ("kubernetes.api.no-namespace", asked(404, 'namespaces "batch" not found')),
    ("kubernetes.api.server-error", asked(500)),
    ("kubernetes.api.busy", asked(429)),
    ("kubernetes.api.conflict", asked(409)),
    ("kubernetes.api.watch-expired", asked(410)),
    ("kubernetes.api.other", {"kind": "Status", "code": 404}),
    (
        "kubernetes.job.policy.disrupted",
        job(
            "PodFailurePolicy",
            "Pod a/b has condition DisruptionTarget matching FailJob rule at index 0",
        ),
    ),
    ("kubernetes.job.policy.killed", job("PodFailurePolicy", POLICY.format(143))),
    ("kubernetes.job.policy.exit-code", job("PodFailurePolicy", POLICY.format(3))),
    ("kubernetes.run.timeout", run("TaskRunTimeout")),
    (
        "kubernetes.run.step-timeout",
        run("Failed", steps=[{"terminated": {"exitCode": 1, "reason": "TimeoutExceeded"}}]),
    ),
    (
        "kubernetes.run.timeout.pipeline",
        run(
            "TaskRunCancelled",
            said="TaskRun cancelled as the PipelineRun it belongs to has timed out.",
        ),
    ),
    ("kubernetes.run.cancelled", run("TaskRunCancelled")),
    ("kubernetes.run.quota", run("ExceededResourceQuota")),
    ("kubernetes.run.invalid", run("TaskRunValidationFailed")),
    ("kubernetes.run.failed", run("Failed")),
    ("kubernetes.volcano.stopped", volcano("CommandIssued")),
    ("kubernetes.volcano.evicted", volcano("PodEvicted")),
    ("kubernetes.rayjob.invalid", rayjob("ValidationFailed")),
    ("kubernetes.job.failed", job("BackoffLimitExceeded")),
    ("kubernetes.job.suspended", job("JobSuspended", kind="Suspended")),
    ("kubernetes.audit.preempted", audit("system:kube-scheduler")),
    ("kubernetes.audit.evicted", audit("bob", "create", subresource="eviction")),
    ("kubernetes.audit.deleted-by-the-cluster", audit("system:node:n")),
    (
        "kubernetes.audit.deleted-by-its-owner",
        audit("system:serviceaccount:kube-system:job-controller"),
    ),
    ("kubernetes.audit.deleted-by-somebody", audit("bob")),
    ("kubernetes.workflow.pod-deleted", step("pod deleted")),
    ("kubernetes.engine.no-active-pods", {"engine_event": "K8s job has no active pods"}),
    ("kubernetes.engine.never-started", {"engine_event": "Pod never started"}),
    ("kubernetes.pod.node-unknown", pod(phase="Unknown")),
    ("kubernetes.pod.gone", {"pod_lookup": {"kind": "Status", "code": 404}}),
    ("kubernetes.pod.reason-deleted", pod(reason="PodDeleted")),
    ("kubernetes.pod.deleted.ended-by-it", pod(ended(1, **LATE), metadata=DELETED)),
    ("kubernetes.pod.deleted.ended-before", pod(ended(137, **EARLY), metadata=DELETED)),
    ("kubernetes.pod.deleted", pod(runs(), metadata=DELETED)),
    ("kubernetes.pod.deleted.status-lost", pod(metadata=DELETED)),
    ("kubernetes.pod.deleted.pending", pod(metadata=DELETED, **PENDING)),
    (
        "kubernetes.event.stopped",
        pod(ended(143), events=[event("Killing", "Stopping container main")]),
    ),
    ("kubernetes.image.invalid-name", pulls(None, "InvalidImageName")),
    ("kubernetes.image.never-pull", pulls(None, "ErrImageNeverPull")),
    ("kubernetes.image.signature", pulls(None, "SignatureValidationFailed")),
    *PULLS,
    ("kubernetes.image.registry-unavailable", pulls(None, "RegistryUnavailable")),
    ("kubernetes.image.inspect", pulls(None, "ImageInspectError")),
    ("kubernetes.image.unexplained", pulls(None)),
    ("kubernetes.sidecar.blocked", pulls_beside(None)),
    (
        "kubernetes.start.too-little-memory",
        pod(ended(128, "StartError", message="container init was OOM-killed")),
    ),
    (
        "kubernetes.start.node-program",
        pod(ended(128, "StartError", message='exec: "runc": executable file not found in $PATH')),
    ),
    ("kubernetes.start.bad-command", pod(ended(128, "StartError", message="exec format error"))),
    (
        "kubernetes.start.runtime",
        pod(ended(128, "StartError", message="context deadline exceeded")),
    ),
    ("kubernetes.start.unclear", pod(ended(128, "StartError"))),
    ("kubernetes.create.bad-command", pulls("no command specified", "CreateContainerError")),
    ("kubernetes.create.runtime", pulls("context deadline exceeded", "CreateContainerError")),
    (
        "kubernetes.config.cache-lag",
        pulls("failed to sync secret cache", "CreateContainerConfigError"),
    ),
    (
        "kubernetes.config.missing-key",
        pulls("couldn't find key a in Secret b/c", "CreateContainerConfigError"),
    ),
    ("kubernetes.config.error", pulls('secret "x" not found', "CreateContainerConfigError")),
    ("kubernetes.config.sentence", pulls(None, "couldn't find key a in Secret b/c")),
    ("kubernetes.config.sentence.not-found", pulls(None, 'secrets "x" not found')),
    ("kubernetes.start.non-root", pulls(None, "VerifyNonRootError")),
    ("kubernetes.start.hook.event", pod(ended(137), events=[event("FailedPostStartHook", "x")])),
    ("kubernetes.start.hook", pulls(None, "PostStartHookError")),
    ("kubernetes.sandbox.waiting", pulls(None, "CreatePodSandboxError")),
    (
        "kubernetes.sandbox.too-little-memory",
        told("FailedCreatePodSandBox", "container init was OOM-killed"),
    ),
    (
        "kubernetes.sandbox.no-such-network",
        told("FailedCreatePodSandBox", "cannot find a network-attachment-definition (x)"),
    ),
    ("kubernetes.sandbox", told("FailedCreatePodSandBox", "failed to assign an IP address")),
    ("kubernetes.mount.not-found", told("FailedMount", 'configmap "x" not found')),
    ("kubernetes.mount.host-path", told("FailedMount", "hostPath type check failed: /x")),
    ("kubernetes.attach", told("FailedAttachVolume", "Multi-Attach error")),
    ("kubernetes.mount.storage", told("FailedMount", "rpc error: code = Internal")),
    ("kubernetes.network-not-ready", told("NetworkNotReady", "network is not ready")),
    (
        "kubernetes.unscheduled.no-capacity",
        told("FailedScheduling", "Pod provisioning timed out", spec={"nodeName": None}),
    ),
    (
        "kubernetes.unscheduled.no-claim",
        pod(
            conditions=[
                condition(
                    "PodScheduled",
                    "Unschedulable",
                    "False",
                    message='persistentvolumeclaim "x" not found',
                )
            ],
            **PENDING,
        ),
    ),
    (
        "kubernetes.unscheduled",
        pod(
            conditions=[condition("PodScheduled", "Unschedulable", "False")],
            spec={"nodeName": None},
            **PENDING,
        ),
    ),
    (
        "kubernetes.unscheduled.event",
        told("FailedScheduling", "0/1 nodes", spec={"nodeName": None}),
    ),
    ("kubernetes.oom.no-limit", pod(ended(137, "OOMKilled"), qosClass="BestEffort")),
    (
        "kubernetes.oom.node",
        pod(
            ended(137, "OOMKilled"),
            events=[event("SystemOOM", kind="Node")],
            spec={"containers": [{"name": "main", "resources": {}}]},
        ),
    ),
    ("kubernetes.oom.pod", pod(reason="OOMKilled")),
    ("kubernetes.oom", pod(ended(137, "OOMKilled"))),
    (
        "kubernetes.probe",
        pod(ended(137), events=[event("Killing", "Container main failed startup probe")]),
    ),
    (
        "kubernetes.init.injected",
        pod(waits("PodInitializing"), initContainerStatuses=[ended(1, name="linkerd-init")]),
    ),
    ("kubernetes.exit.bad-command", pod(ended(127))),
    ("kubernetes.exit.crash", pod(ended(139))),
    ("kubernetes.exit.error", pod(ended(1))),
    ("kubernetes.lost.runtime", pod(ended(255, "Unknown"))),
    ("kubernetes.lost.kubelet", pod(ended(137, "ContainerStatusUnknown"))),
    ("kubernetes.lost.never-ran", pod(ended(137, "ContainerStatusUnknown"), **PENDING)),
    ("kubernetes.exit.signal", pod(ended(143))),
    ("kubernetes.exit.unclear", pod(ended(255))),
    ("kubernetes.exit.clean", pod(ended(0, "Completed"))),
    ("kubernetes.sidecar.oom", beside(ended(137, "OOMKilled", name="wait"))),
    ("kubernetes.sidecar.killed", beside(ended(137, name="wait"))),
    ("kubernetes.sidecar.network", beside(ended(1, name="wait", message="i/o timeout"))),
    ("kubernetes.sidecar.failed", beside(ended(1, name="wait"))),
    (
        "kubernetes.log.exec-format",
        {**pod(waits("CrashLoopBackOff")), "log_tail": "exec /bin/sh: exec format error"},
    ),
    ("kubernetes.crash-loop", pod(waits("CrashLoopBackOff"))),
    ("kubernetes.waiting.other", pod(waits("ContainerCreating"))),
    ("kubernetes.pod.other-reason", pod(reason="SomeReason")),
    ("kubernetes.pod.failed", pod()),
]


@pytest.mark.parametrize(("rule", "document"), DECIDED, ids=[rule for rule, _ in DECIDED])
def test_the_rule_decides(rule, document):
    """There is a failure that the rule decides, so nothing before it hides it."""
    assert verdict(document).rule == rule


def test_a_pod_that_was_there_before_decides():
    """The one rule that needs to know how the pod stood when it was last seen."""
    details = verdict({"pod": None}, last_known_phase="Running")
    assert details.rule == "kubernetes.pod.missing"
    assert verdict({"pod": None}).kind == "unknown"


def test_a_rule_on_age_decides():
    """The one rule that needs to know when the pod was looked at."""
    document = pulls(None, "CreateContainerConfigError")
    document["status"]["startTime"] = "2026-03-02T09:00:00Z"
    details = verdict(document, observed_at="2026-03-02T09:00:10Z")
    assert details.rule == "kubernetes.config.too-early"


def test_each_rule_has_its_failure():
    """No rule of the tables is without a failure in this file."""
    shown = {rule for rule, _ in DECIDED} | {
        "kubernetes.config.too-early",
        "kubernetes.pod.missing",
    }
    assert {rule.id for rule in RULES} - shown == set()
    assert shown - {rule.id for rule in RULES} == set()


def test_each_rule_says_what_a_person_needs():
    """Ids are unique; each rule has its reason, its source and the next step, as sentences."""
    assert [rule for rule, count in Counter(rule.id for rule in RULES).items() if count > 1] == []
    for rule in RULES:
        assert rule.id.startswith("kubernetes."), rule.id
        assert rule.source.startswith("https://"), rule.id
        assert rule.because.endswith("."), rule.id
        assert rule.next_step.endswith("."), rule.id


def test_an_infra_verdict_is_never_called_deterministic():
    """What the platform did once it need not do again."""
    assert [rule.id for rule in RULES if rule.kind == "infra" and rule.deterministic is True] == []
