"""What an audit record or an engine says of a pod that is not there to be read."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, like, one_of
from failhook.classify.rule import CONFIRMED, INFRA, LIKELY, MANUAL, UNKNOWN, Rule, Tier
from failhook.details import Started

_ARGO: Final = (
    "https://github.com/argoproj/argo-workflows/blob/main/workflow/controller/operator.go"
)
_AUDIT: Final = "https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/"
_DAGSTER: Final = "https://docs.dagster.io/deployment/execution/run-monitoring"
_WHO: Final = "Look into the API server's audit log for who deleted the pod."

WITNESSES: Final = (
    Rule(
        id="kubernetes.audit.preempted",
        tier=Tier.DISRUPTION,
        when={"kube.audit.user": "system:kube-scheduler", "kube.audit.verb": "delete"},
        kind=INFRA,
        reason="Preempted",
        deterministic=False,
        confidence=CONFIRMED,
        message="The scheduler deleted the pod.",
        because="The scheduler deletes pods only to make room for others of higher priority.",
        source=_AUDIT,
        next_step="See which pod came in its place, and compare the priorities.",
    ),
    Rule(
        id="kubernetes.audit.evicted",
        tier=Tier.DISRUPTION,
        when={"kube.audit.subresource": "eviction", "kube.audit.verb": "create"},
        kind=INFRA,
        reason="EvictionByEvictionAPI",
        deterministic=False,
        confidence=CONFIRMED,
        message="{kube.audit.user} evicted the pod.",
        because="Drains, autoscalers and deschedulers ask the API to evict a pod.",
        source="https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/",
        next_step="Ask why the node was drained.",
    ),
    Rule(
        id="kubernetes.audit.deleted-by-the-cluster",
        tier=Tier.DISRUPTION,
        when={
            "kube.audit.verb": one_of("delete", "deletecollection"),
            "kube.audit.user": like(
                r"^system:node:|^system:serviceaccount:kube-system:(node-controller|"
                r"pod-garbage-collector|taint-eviction-controller|cluster-autoscaler|descheduler|"
                r"karpenter)$|^system:serviceaccount:karpenter:|^system:kube-controller-manager$"
            ),
        },
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        message="{kube.audit.user} deleted the pod.",
        because="A component that looks after nodes deleted the pod.",
        source=_AUDIT,
        next_step="Look at the node that the pod ran on.",
    ),
    Rule(
        id="kubernetes.audit.deleted-by-its-owner",
        tier=Tier.DISRUPTION,
        when={
            "kube.audit.verb": one_of("delete", "deletecollection"),
            "kube.audit.user": like(r"^system:"),
        },
        kind=UNKNOWN,
        reason="PodDeleted",
        message="{kube.audit.user} deleted the pod.",
        because="A controller deleted the pod on behalf of its owner; the record says not why.",
        source=_AUDIT,
        next_step="Find out what happened to the job that owned the pod.",
    ),
    Rule(
        id="kubernetes.audit.deleted-by-somebody",
        tier=Tier.DISRUPTION,
        when={
            "kube.audit.verb": one_of("delete", "deletecollection"),
            "kube.audit.user": PRESENT,
        },
        kind=MANUAL,
        reason="PodDeleted",
        confidence=LIKELY,
        message="{kube.audit.user} deleted the pod.",
        take={"actor": "kube.audit.user"},
        because="A person, or a program under a name of its own, deleted the pod.",
        source=_AUDIT,
        next_step="Ask them why.",
    ),
    Rule(
        id="kubernetes.workflow.pod-deleted",
        tier=Tier.DISRUPTION,
        when={"kube.workflow.message": like(r"^pod deleted\b", ignore_case=True)},
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="{kube.workflow.message}",
        because="The workflow's controller did not delete the pod, and found it gone.",
        source=_ARGO,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.engine.no-active-pods",
        tier=Tier.MISMATCH,
        when={
            "kube.engine.message": like(
                r"K8s job (has no active pods|\S{1,300} could not be found)"
            )
        },
        kind=INFRA,
        reason="WorkerLost",
        deterministic=False,
        confidence=LIKELY,
        message="{kube.engine.message}",
        because="The run's job has no pod left, and the run never reported an end.",
        source=_DAGSTER,
        next_step="Look for what ended the pod: the job's events, the node, the audit log.",
    ),
    Rule(
        id="kubernetes.engine.never-started",
        tier=Tier.MISMATCH,
        when={
            "kube.engine.message": like(
                r"\b(pod|job) never started\b|pod took (too long|longer than \S{1,20}"
                r"( seconds)?) to start",
                ignore_case=True,
            )
        },
        kind=INFRA,
        reason="StartTimeout",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        message="{kube.engine.message}",
        because="The engine waited for the pod to start, and it did not in time.",
        source="https://airflow.apache.org/docs/apache-airflow-providers-cncf-kubernetes/",
        next_step="Look at the pod's events for what it waited for.",
    ),
)
