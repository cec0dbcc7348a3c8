"""Pods that were deleted, or are gone."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import is_not, like, one_of
from failhook.classify.rule import GUESS, INFRA, LIKELY, UNKNOWN, Rule, Tier
from failhook.details import Started

_KEP: Final = (
    "https://github.com/kubernetes/enhancements/tree/master/keps/sig-apps/"
    "3329-retriable-and-non-retriable-failures"
)
_DELETION: Final = (
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination"
)
_WHO: Final = "Look into the API server's audit log for who deleted the pod."

REMOVALS: Final = (
    Rule(
        id="kubernetes.pod.gone",
        tier=Tier.DISRUPTION,
        when={
            "kube.api.gone": True,
            "pod.last_phase": is_not("Succeeded", "Failed"),
        },
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="The pod is not there any more.",
        because="A failing task cannot delete its own pod, and the engine did not.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.missing",
        tier=Tier.MISMATCH,
        when={"pod.missing": True, "pod.last_phase": one_of("Pending", "Running", "Unknown")},
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="The pod is not there any more.",
        because="A failing task cannot delete its own pod, and the engine did not.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.reason-deleted",
        tier=Tier.DISRUPTION,
        when={"pod.reason": one_of("PodDeleted", "PodNotFound")},
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.said}",
        because="The engine saw the pod being deleted under it, and did not do it.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.deleted.ended-by-it",
        tier=Tier.DISRUPTION,
        when={
            "pod.deleted": True,
            "pod.ended": one_of("error", "crash"),
            "pod.ended_by_delete": True,
        },
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="The pod was deleted while it ran. {pod.container.said}",
        because="The container ended after the delete was asked for: it was told to stop.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.deleted.ended-before",
        tier=Tier.DISRUPTION,
        when={
            "pod.deleted": True,
            "pod.ended": one_of("signal", "unclear"),
            "pod.ended_by_delete": False,
        },
        kind=UNKNOWN,
        reason="KilledBySignal",
        confidence=GUESS,
        message="{pod.container.said}",
        because="The container had been stopped before anybody asked to delete the pod.",
        source=_DELETION,
        next_step="Look for another reason of this end; the delete does not explain it.",
    ),
    Rule(
        id="kubernetes.pod.deleted",
        tier=Tier.DISRUPTION,
        when={
            "pod.deleted": True,
            "pod.ended": one_of("signal", "unclear", "running"),
            "pod.phase": is_not("Pending"),
        },
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="The pod was deleted while it ran.",
        because="The pod was deleted under the running container, and the engine did not do it.",
        source=_KEP,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.deleted.status-lost",
        tier=Tier.DISRUPTION,
        when={
            "pod.deleted": True,
            "pod.ended": one_of("lost", "nothing"),
            "pod.phase": one_of("Running", "Failed", "Unknown"),
        },
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="The pod was deleted while it ran, and how its container ended was not seen.",
        because="The pod had begun to run and was deleted; the engine did not do it.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.deleted.pending",
        tier=Tier.NOTHING,
        when={"pod.deleted": True, "pod.phase": "Pending"},
        kind=UNKNOWN,
        reason="PodDeleted",
        confidence=GUESS,
        started=Started.NO,
        message="The pod was deleted before its container began.",
        because="People delete pods that cannot start; nothing says who did it, or why.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.event.stopped",
        tier=Tier.DISRUPTION,
        when={"pod.event.Killing": like(r"^Stopping container "), "pod.ended": "signal"},
        kind=INFRA,
        reason="PodDeleted",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.event.Killing}",
        because="The kubelet stopped the container as it does for a pod that shall go away.",
        source=_DELETION,
        next_step=_WHO,
    ),
    Rule(
        id="kubernetes.pod.node-unknown",
        tier=Tier.MISMATCH,
        when={"pod.phase": "Unknown"},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        confidence=LIKELY,
        message="The state of the pod cannot be read: its node does not answer.",
        because="A pod's phase is Unknown when its node cannot be reached.",
        source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase",
        next_step="Look at the node.",
    ),
)
