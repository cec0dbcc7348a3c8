"""What the platform recorded of ending a pod: evictions, preemptions, shutdowns."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, like, one_of
from failhook.classify.rule import APPLICATION, CONFIRMED, INFRA, LIKELY, UNKNOWN, Rule, Take, Tier
from failhook.details import Hint, Started

_KUEUE: Final = "https://kueue.sigs.k8s.io/docs/concepts/preemption/"
_CONDITIONS: Final = (
    "https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions"
)
_PRESSURE: Final = "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/"
_LOCAL_LIMIT: Final = (
    "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
    "#local-ephemeral-storage"
)
_SHUTDOWN: Final = "https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/"
_CRITICAL: Final = (
    "https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/"
)
_NODES: Final = "https://kubernetes.io/docs/concepts/architecture/nodes/#condition"
_KEP: Final = (
    "https://github.com/kubernetes/enhancements/tree/master/keps/sig-apps/"
    "3329-retriable-and-non-retriable-failures"
)
_LOOK_AT_NODE: Final = "Look at the node: its conditions, its events, what else ran there."
LISTED: Final = one_of(
    "PreemptionByScheduler",
    "PreemptionByKubeScheduler",  # its name in Kubernetes 1.25
    "DeletionByTaintManager",
    "EvictionByEvictionAPI",
    "DeletionByPodGC",
    "TerminationByKubelet",
    "DeletionByDeviceTaintManager",
)
"""The reasons of a DisruptionTarget condition that Kubernetes documents."""
OWN_LIMIT: Final = like(
    r"exceed(s|ed) (the|its) (total |local ephemeral storage )?limit", ignore_case=True
)
"""How the kubelet says that a pod passed a storage limit of its own, not the node's threshold."""
_GUILTY: Final = one_of("oom", "error", "crash")

DISRUPTIONS: Final = (
    Rule(
        id="kubernetes.evicted.own-limit",
        tier=Tier.DISRUPTION,
        when={"pod.reason": "Evicted", "pod.message": OWN_LIMIT},
        kind=APPLICATION,
        reason="Evicted",
        confidence=CONFIRMED,
        message="{pod.said}",
        because="The pod passed its own ephemeral-storage or emptyDir limit; no node was short.",
        source=_LOCAL_LIMIT,
        next_step="Raise the limit, or write less to the container's disk and to emptyDir volumes.",
    ),
    Rule(
        id="kubernetes.disrupted.ended-before",
        tier=Tier.DISRUPTION,
        when={
            "pod.disruption": PRESENT,
            "pod.ended": _GUILTY,
            "pod.ended_before_disruption": True,
        },
        kind=APPLICATION,
        reason=Take("pod.container.reason", "NonZeroExit"),
        confidence=LIKELY,
        ended_by_itself=True,
        message="{pod.container.said}",
        because="The container had failed by itself before the platform chose the pod.",
        source=_KEP,
        next_step="Read the end of the container's log.",
    ),
    Rule(
        id="kubernetes.disrupted.stale.ended-by-itself",
        tier=Tier.DISRUPTION,
        when={"pod.disruption": PRESENT, "pod.ended": _GUILTY, "pod.disruption.stale": True},
        kind=APPLICATION,
        reason=Take("pod.container.reason", "NonZeroExit"),
        confidence=LIKELY,
        ended_by_itself=True,
        message="{pod.container.said}",
        because="The disruption was announced long before and never carried out.",
        source=_KEP,
        next_step="Read the end of the container's log.",
    ),
    Rule(
        id="kubernetes.disrupted.stale",
        tier=Tier.DISRUPTION,
        when={"pod.disruption": PRESENT, "pod.disruption.stale": True},
        kind=UNKNOWN,
        reason=Take("pod.container.reason", "KilledBySignal"),
        message="{pod.container.said}",
        because="The disruption was announced long before and never carried out.",
        source=_KEP,
        next_step="Look for another reason of this end; the condition does not explain it.",
    ),
    Rule(
        id="kubernetes.evicted.node-pressure",
        tier=Tier.DISRUPTION,
        when={"pod.reason": "Evicted", "pod.message": like(r"^(Pod )?The node was low on ")},
        kind=INFRA,
        reason="Evicted",
        deterministic=False,
        confidence=CONFIRMED,
        hint=Hint.OTHER_NODE,
        message="{pod.said}",
        because="The kubelet evicted the pod because the node ran short of memory, disk or PIDs.",
        source=_PRESSURE,
        next_step="Compare the pod's requests with its use: pods above their request go first.",
    ),
    Rule(
        id="kubernetes.evicted.admission",
        tier=Tier.DISRUPTION,
        when={"pod.reason": "Evicted", "pod.message": like(r"^(Pod )?The node had condition")},
        kind=INFRA,
        reason="Evicted",
        deterministic=False,
        confidence=CONFIRMED,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
        message="{pod.said}",
        because="The node was under pressure already, and the kubelet took the pod in no more.",
        source=_PRESSURE,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.pod.preempting",
        tier=Tier.DISRUPTION,
        when={"pod.reason": one_of("Preempting", "Preempted", "PreemptionByScheduler")},
        kind=INFRA,
        reason=Take("pod.reason"),
        deterministic=False,
        confidence=CONFIRMED,
        message="{pod.said}",
        because="The pod had to make room for one of higher priority.",
        source=_CRITICAL,
        next_step="See which pod came in its place, and compare the priorities.",
    ),
    Rule(
        id="kubernetes.node-shutdown.rejected",
        tier=Tier.DISRUPTION,
        when={
            "pod.reason": one_of("NodeShutdown", "Terminated", "Shutdown"),
            "pod.message": like(r"not admitting|was rejected"),
        },
        kind=INFRA,
        reason="NodeShutdown",
        deterministic=False,
        confidence=CONFIRMED,
        started=Started.NO,
        message="{pod.said}",
        because="The node was shutting down already, and the kubelet took the pod in no more.",
        source=_SHUTDOWN,
        next_step="Find out why the node was shut down: maintenance, spot reclaim, autoscaler.",
    ),
    Rule(
        id="kubernetes.node-shutdown",
        tier=Tier.DISRUPTION,
        when={"pod.reason": one_of("NodeShutdown", "Terminated", "Shutdown")},
        kind=INFRA,
        reason="NodeShutdown",
        deterministic=False,
        confidence=CONFIRMED,
        message="{pod.said}",
        because="The kubelet ended the pod because its node was shut down.",
        source=_SHUTDOWN,
        next_step="Find out why the node was shut down: maintenance, spot reclaim, autoscaler.",
    ),
    Rule(
        id="kubernetes.node-lost",
        tier=Tier.DISRUPTION,
        when={"pod.reason": one_of("NodeLost", "NodeUnreachable")},
        kind=INFRA,
        reason=Take("pod.reason"),
        deterministic=False,
        confidence=CONFIRMED,
        hint=Hint.OTHER_NODE,
        message="{pod.said}",
        because="The node controller heard nothing of the node any more.",
        source=_NODES,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.disrupted",
        tier=Tier.DISRUPTION,
        when={"pod.disruption": LISTED},
        kind=INFRA,
        reason=Take("pod.disruption"),
        deterministic=False,
        confidence=CONFIRMED,
        message="{pod.disruption.said}",
        because="A component of Kubernetes marked the pod as the target of a disruption.",
        source=_CONDITIONS,
        next_step="The condition's reason names the component; look at its events.",
    ),
    Rule(
        id="kubernetes.disrupted.other",
        tier=Tier.DISRUPTION,
        when={"pod.disruption": PRESENT},
        kind=INFRA,
        reason=Take("pod.disruption"),
        deterministic=False,
        confidence=LIKELY,
        message="{pod.disruption.said}",
        because="The pod is marked as a target of disruption, for a reason that is not documented.",
        source=_CONDITIONS,
        next_step="Find out which component sets this reason.",
    ),
    Rule(
        id="kubernetes.kueue.requeuing-limit",
        tier=Tier.DISRUPTION,
        when={
            "kube.eviction": one_of(
                *("DeactivatedDueToRequeuingLimitExceeded", "RequeuingLimitExceeded"),
                *("DeactivatedDueToAdmissionCheck", "WorkloadDeleted", "NoMatchingWorkload"),
                *("NotAdmitted", "InactiveWorkloadRequeuingLimitExceeded", "OnHold"),
            )
        },
        kind=UNKNOWN,
        reason=Take("kube.eviction"),
        message="Kueue ended the workload: {kube.eviction}.",
        because="Kueue gave up or lost the workload; that is not why its pods had failed before.",
        source=_KUEUE,
        next_step="Look at the earlier Evicted conditions and events of the workload.",
    ),
    Rule(
        id="kubernetes.kueue.evicted",
        tier=Tier.DISRUPTION,
        when={"kube.eviction": PRESENT},
        kind=INFRA,
        reason=Take("kube.eviction"),
        deterministic=False,
        confidence=CONFIRMED,
        message="Kueue evicted the workload: {kube.eviction}.",
        because="Kueue took the workload's quota away, and with it its pods.",
        source=_KUEUE,
        next_step="Look at the workload's Preempted condition for who needed the quota.",
    ),
    Rule(
        id="kubernetes.evicted",
        tier=Tier.DISRUPTION,
        when={"pod.reason": "Evicted"},
        kind=INFRA,
        reason="Evicted",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.said}",
        because="Evictions are nearly always the node's trouble, and no limit of the pod is named.",
        source=_PRESSURE,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.evicted.container",
        tier=Tier.DISRUPTION,
        when={"pod.container.reason": "Evicted"},
        kind=INFRA,
        reason="Evicted",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.container.said}",
        because="The container is recorded as evicted, and nothing names a limit of its own.",
        source=_PRESSURE,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.provider-failed",
        tier=Tier.DISRUPTION,
        when={"pod.reason": "ProviderFailed"},
        kind=INFRA,
        reason="ProviderFailed",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.said}",
        because="The virtual kubelet's provider could not run the pod.",
        source="https://virtual-kubelet.io/docs/providers/",
        next_step="Read the message and the log of the virtual kubelet.",
    ),
)
