"""Somebody stopped the workflow or its queue, or a time limit of the task had passed."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like, one_of
from failhook.classify.rule import CONFIRMED, LIKELY, MANUAL, TIMEOUT, Rule, Take, Tier
from failhook.details import Started

_ARGO: Final = "https://argo-workflows.readthedocs.io/en/latest/walk-through/timeouts/"
_ARGO_STOP: Final = "https://argo-workflows.readthedocs.io/en/latest/cli/argo_terminate/"
_DEADLINE: Final = (
    "https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#detailed-behavior"
)
_JOB: Final = (
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup"
)
_KUEUE: Final = "https://kueue.sigs.k8s.io/docs/concepts/workload/#evicted"
_COMPARE: Final = (
    "Compare the limit with how long earlier runs took, and with how long this one queued."
)

DEADLINES: Final = (
    Rule(
        id="kubernetes.workflow.stopped",
        tier=Tier.CANCEL,
        when={
            "kube.workflow.message": like(
                r"^(workflow shutdown with strategy|stopped with strategy|terminated$)",
                ignore_case=True,
            )
        },
        kind=MANUAL,
        reason="WorkflowShutdown",
        confidence=CONFIRMED,
        message="{kube.workflow.message}",
        because="Somebody stopped or terminated the workflow, and Argo ended its steps.",
        source=_ARGO_STOP,
        next_step="Ask who stopped the workflow; the controller's log names the request.",
    ),
    Rule(
        id="kubernetes.kueue.stopped",
        tier=Tier.CANCEL,
        when={
            "kube.eviction": one_of(
                *("ClusterQueueStopped", "LocalQueueStopped", "Deactivated", "InactiveWorkload"),
            )
        },
        kind=MANUAL,
        reason=Take("kube.eviction"),
        confidence=LIKELY,
        message="Kueue stopped the workload: {kube.eviction}.",
        because="An administrator stopped the queue, or somebody set the workload inactive.",
        source=_KUEUE,
        next_step="Look at the queue's stopPolicy and the workload's spec.active.",
    ),
    Rule(
        id="kubernetes.pod.deadline.never-started",
        tier=Tier.DEADLINE,
        when={"pod.reason": "DeadlineExceeded", "started": "no"},
        kind=TIMEOUT,
        reason="DeadlineExceeded",
        confidence=CONFIRMED,
        started=Started.NO,
        message="The pod's activeDeadlineSeconds passed before its main container began.",
        take={"time_limit": "pod.deadline"},
        because="activeDeadlineSeconds also counts the time that a pod waits for node and image.",
        source=_DEADLINE,
        next_step="Find out what the pod waited for; the limit may leave too little for that.",
    ),
    Rule(
        id="kubernetes.pod.deadline",
        tier=Tier.DEADLINE,
        when={"pod.reason": "DeadlineExceeded"},
        kind=TIMEOUT,
        reason="DeadlineExceeded",
        confidence=CONFIRMED,
        message="The pod ran longer than its activeDeadlineSeconds.",
        take={"time_limit": "pod.deadline"},
        because="The kubelet ended the pod because its activeDeadlineSeconds had passed.",
        source=_DEADLINE,
        next_step=_COMPARE,
    ),
    Rule(
        id="kubernetes.job.deadline",
        tier=Tier.DEADLINE,
        when={"kube.owner.failed": "DeadlineExceeded"},
        kind=TIMEOUT,
        reason="DeadlineExceeded",
        confidence=CONFIRMED,
        message="{kube.owner.said}",
        take={"time_limit": "pod.deadline"},
        because="The job's own activeDeadlineSeconds had passed, over all its pods.",
        source=_JOB,
        next_step=_COMPARE,
    ),
    Rule(
        id="kubernetes.workflow.deadline",
        tier=Tier.DEADLINE,
        when={
            "kube.workflow.message": like(
                r"^(step exceeded its deadline|max duration limit exceeded|"
                r".{0,80} exceeded deadline)",
                ignore_case=True,
            )
        },
        kind=TIMEOUT,
        reason="DeadlineExceeded",
        confidence=CONFIRMED,
        message="{kube.workflow.message}",
        because="Argo ended the step because the deadline of its template or workflow had passed.",
        source=_ARGO,
        next_step=_COMPARE,
    ),
    Rule(
        id="kubernetes.kueue.execution-time",
        tier=Tier.DEADLINE,
        when={
            "kube.eviction": one_of(
                "MaximumExecutionTimeExceeded",
                "DeactivatedDueToMaximumExecutionTimeExceeded",
            )
        },
        kind=TIMEOUT,
        reason="DeadlineExceeded",
        confidence=CONFIRMED,
        message="Kueue ended the workload: its maximum execution time had passed.",
        because="The workload's maximumExecutionTimeSeconds had passed.",
        source="https://kueue.sigs.k8s.io/docs/concepts/workload/#maximum-execution-time",
        next_step=_COMPARE,
    ),
    Rule(
        id="kubernetes.kueue.pods-ready",
        tier=Tier.DEADLINE,
        when={"kube.eviction": "PodsReadyTimeout"},
        kind=TIMEOUT,
        reason="PodsReadyTimeout",
        confidence=LIKELY,
        message="Kueue ended the workload: its pods were not all ready in time.",
        because="Kueue gives a workload's pods a limited time to become ready together.",
        source="https://kueue.sigs.k8s.io/docs/tasks/manage/setup_wait_for_pods_ready/",
        next_step="Find the pod that did not become ready, and what it waited for.",
    ),
)
