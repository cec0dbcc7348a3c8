"""What happened to the node, from events, from the Node itself, from a label."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, like, one_of
from failhook.classify.rule import INFRA, Rule, Tier
from failhook.details import Hint

_SHUTDOWN: Final = "https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/"
_NODES: Final = "https://kubernetes.io/docs/concepts/architecture/nodes/#condition"
_LOOK_AT_NODE: Final = "Look at the node: its conditions, its events, what else ran there."
_BROKEN_OFF: Final = one_of("signal", "lost", "unclear", "running", "nothing")

NODES: Final = (
    Rule(
        id="kubernetes.event.preempted",
        tier=Tier.DISRUPTION,
        when={"pod.event.Preempted": PRESENT, "pod.ended": _BROKEN_OFF},
        kind=INFRA,
        reason="Preempted",
        deterministic=False,
        message="{pod.event.Preempted}",
        because="The scheduler wrote that it took the pod's place for another one.",
        source="https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/",
        next_step="See which pod came in its place, and compare the priorities.",
    ),
    Rule(
        id="kubernetes.event.taint",
        tier=Tier.DISRUPTION,
        when={
            "pod.event.TaintManagerEviction": like(r"^Marking for deletion"),
            "pod.ended": _BROKEN_OFF,
        },
        kind=INFRA,
        reason="TaintManagerEviction",
        deterministic=False,
        message="{pod.event.TaintManagerEviction}",
        because="The taint manager deleted the pod from a node with a NoExecute taint.",
        source="https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/",
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.event.node-lost",
        tier=Tier.DISRUPTION,
        when={
            "kube.node.event": one_of(
                *("NodeNotReady", "NodeControllerEviction", "Rebooted", "DeletingNode"),
                *("RemovingNode", "InstanceTerminating", "InstanceStopping"),
            ),
            "pod.ended": _BROKEN_OFF,
        },
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        hint=Hint.OTHER_NODE,
        message="The node was lost while the pod ran on it: {kube.node.event}.",
        because="The node did not answer, was rebooted or was removed while the pod ran on it.",
        source=_NODES,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.event.spot",
        tier=Tier.DISRUPTION,
        when={
            "kube.node.event": one_of("SpotInterruption", "SpotInterrupted"),
            "pod.ended": _BROKEN_OFF,
        },
        kind=INFRA,
        reason="Preempted",
        deterministic=False,
        message="The cloud took the machine back: {kube.node.event}.",
        because="The cloud announced that it takes the spot machine back.",
        source="https://karpenter.sh/docs/concepts/disruption/#interruption",
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.event.node-shutdown",
        tier=Tier.DISRUPTION,
        when={"kube.node.event": "NodeShutdown", "pod.ended": _BROKEN_OFF},
        kind=INFRA,
        reason="NodeShutdown",
        deterministic=False,
        message="The node was shut down while the pod ran on it.",
        because="The kubelet saw that its node was being shut down.",
        source=_SHUTDOWN,
        next_step="Find out why the node was shut down: maintenance, spot reclaim, autoscaler.",
    ),
    Rule(
        id="kubernetes.event.sandbox-changed",
        tier=Tier.DISRUPTION,
        when={"kube.node.event": "SandboxChanged", "pod.ended": _BROKEN_OFF},
        kind=INFRA,
        reason="SandboxChanged",
        deterministic=False,
        message="The pod's sandbox changed under it, so its containers were stopped.",
        because="The kubelet lost the sandbox, as after a restart of the node or of its runtime.",
        source=_NODES,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.event.xid",
        tier=Tier.HARDWARE,
        when={
            "pod.event.GPUXidError": like(
                r"\b[Xx]id\D{1,20}(48|62|63|64|74|79|92|94|95|109|119|120|140)\b"
            )
        },
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        hint=Hint.OTHER_NODE,
        message="{pod.event.GPUXidError}",
        because="The driver reported an error of the GPU itself: memory, bus, link or firmware.",
        source="https://docs.nvidia.com/deploy/xid-errors/",
        next_step="Take the GPU out of service; run its diagnostics.",
    ),
    Rule(
        id="kubernetes.event.moved",
        tier=Tier.DISRUPTION,
        when={
            "kube.node.event": one_of("ScaleDown", "Descheduled"),
            "pod.ended": _BROKEN_OFF,
        },
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        message="The cluster moved the pod away: {kube.node.event}.",
        because="The autoscaler or the descheduler evicted the pod to change where pods run.",
        source="https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",
        next_step="Mark the pod as not safe to evict, or let the task cope with being moved.",
    ),
    Rule(
        id="kubernetes.node-object.lost",
        tier=Tier.DISRUPTION,
        when={"kube.node.lost": True, "pod.ended": _BROKEN_OFF},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        hint=Hint.OTHER_NODE,
        message="The node is not ready: {kube.node.reason}.",
        because="The node does not answer, and the container did not end by itself.",
        source=_NODES,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.node-object.leaving",
        tier=Tier.DISRUPTION,
        when={"kube.node.leaving": PRESENT, "pod.ended": _BROKEN_OFF},
        kind=INFRA,
        reason="NodeShutdown",
        deterministic=False,
        message="The node is being taken away: {kube.node.leaving}.",
        because="The node carries the taint of one that is about to go; the container was stopped.",
        source="https://kubernetes.io/docs/reference/labels-annotations-taints/",
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.node-preempted-label",
        tier=Tier.DISRUPTION,
        when={"pod.node_preempted": True, "pod.ended": _BROKEN_OFF},
        kind=INFRA,
        reason="Preempted",
        deterministic=False,
        message="The pod carries the label node-preempted.",
        because="Cook's daemons put this label on pods of a machine that is about to be reclaimed.",
        source="https://github.com/twosigma/Cook/blob/master/scheduler/docs/configuration.adoc",
        next_step=_LOOK_AT_NODE,
    ),
)
