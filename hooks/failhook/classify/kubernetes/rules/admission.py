"""Pods that a node's kubelet turned away: nothing of them ran."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import is_not, like, one_of
from failhook.classify.rule import APPLICATION, CONFIRMED, INFRA, LIKELY, Rule, Take, Tier
from failhook.details import Hint, Started

_KUBELET: Final = (
    "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/lifecycle/predicate.go"
)
_SCHEDULER_RACE: Final = "https://github.com/kubernetes/kubernetes/issues/115325"
_SYSCTL: Final = "https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/"
_CORRECT: Final = "Correct the field of the pod's specification that the message names."
NO_ROOM: Final = like(r"^OutOf[a-z]")
"""``OutOfcpu``, ``OutOfmemory``, ``OutOfpods``, ``OutOfnvidia.com/gpu``: the node has no room."""
NODES_FAULT: Final = one_of(
    *("UnexpectedAdmissionError", "InvalidNodeInfo", "UnknownReason"),
    *("UnexpectedPredicateFailureType", "TopologyAffinityError", "VolumeAttachmentLimitExceeded"),
    *("NodeAffinity", "NodeName", "NodePorts", "TaintToleration", "NodeUnschedulable"),
    "node(s) had taints that the pod didn't tolerate",
    # names of old kubelets
    *("MatchNodeSelector", "NodeSelectorMismatching", "PodFitsHostPorts", "HostPortConflict"),
    *("InsufficientFreeCPU", "InsufficientFreeMemory", "PodExceedsFreeCPU", "OutOfDisk"),
    *("PodExceedsFreeMemory", "GeneralPredicates", "HostName", "PodToleratesNodeTaints"),
    *("CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure"),
)
"""Rejections where scheduler and node disagree about the node."""
SPECS_FAULT: Final = one_of(
    *("SysctlForbidden", "AppArmor", "PodOSNotSupported", "PodOSSelectorNodeLabelDoesNotMatch"),
    *("InitContainerRestartPolicyForbidden", "SupplementalGroupsPolicyNotSupported"),
    *("PodLevelResourcesNotSupported", "PodFeatureUnsupported", "SMTAlignmentError"),
    *("SecurityProfileRejected", "NoNewPrivs", "ProcMount", "HostNetworkNotSupported"),
)
"""Rejections of what the pod's specification asks for."""

ADMISSIONS: Final = (
    Rule(
        id="kubernetes.admission.no-room",
        tier=Tier.DISRUPTION,
        when={"pod.reason": NO_ROOM, "started": is_not("yes")},
        kind=INFRA,
        reason=Take("pod.reason"),
        deterministic=False,
        confidence=CONFIRMED,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
        message="{pod.said}",
        because="The scheduler sent the pod to a node that had no room left for it.",
        source=_KUBELET,
        next_step="Look for pods that bypass the scheduler, and for two schedulers on one node.",
    ),
    Rule(
        id="kubernetes.admission.no-room.again",
        tier=Tier.DISRUPTION,
        when={"pod.reason": NO_ROOM},
        kind=INFRA,
        reason=Take("pod.reason"),
        deterministic=False,
        confidence=CONFIRMED,
        hint=Hint.OTHER_NODE,
        message="{pod.said}",
        because="A kubelet that was restarted had no room any more for a pod that already ran.",
        source=_SCHEDULER_RACE,
        next_step="Find out why the kubelet was restarted.",
    ),
    Rule(
        id="kubernetes.admission.node",
        tier=Tier.DISRUPTION,
        when={"pod.reason": NODES_FAULT},
        kind=INFRA,
        reason=Take("pod.reason"),
        deterministic=False,
        confidence=CONFIRMED,
        hint=Hint.OTHER_NODE,
        message="{pod.said}",
        because="The kubelet turned down a pod that the scheduler had sent to this node.",
        source=_KUBELET,
        next_step="Look at the node: device plugins, labels, taints, a restart of the kubelet.",
    ),
    Rule(
        id="kubernetes.admission.specification",
        tier=Tier.DISRUPTION,
        when={"pod.reason": SPECS_FAULT},
        kind=APPLICATION,
        reason=Take("pod.reason"),
        deterministic=True,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.said}",
        because="The pod's specification asks for what the nodes do not allow or support.",
        source=_SYSCTL,
        next_step=_CORRECT,
    ),
)
