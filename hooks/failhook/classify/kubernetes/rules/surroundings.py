"""What a pod needs around it: a sandbox, a network, volumes, a node."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, is_not, like, one_of
from failhook.classify.rule import APPLICATION, CONFIRMED, INFRA, LIKELY, UNKNOWN, Rule, Take, Tier
from failhook.details import Hint, Started

_LOOK_AT_NODE: Final = "Look at the node: its container runtime, disk, memory and devices."
_CORRECT: Final = "Correct the specification: command, image, user, mounts, secrets."
_RUNC: Final = "https://github.com/opencontainers/runc"
_SANDBOX: Final = (
    "https://kubernetes.io/docs/tasks/administer-cluster/migrating-from-dockershim/"
    "troubleshooting-cni-plugin-related-errors/"
)
_VOLUMES: Final = "https://kubernetes.io/docs/concepts/storage/volumes/"
_SCHEDULING: Final = "https://kubernetes.io/docs/tasks/debug/debug-application/debug-pods/"
_NOT_STARTED: Final = one_of("waiting", "nothing", "blocked")

SURROUNDINGS: Final = (
    Rule(
        id="kubernetes.sandbox.waiting",
        tier=Tier.CONTAINER,
        when={
            "pod.waiting": one_of(
                "CreatePodSandboxError", "ConfigPodSandboxError", "KillPodSandboxError"
            )
        },
        kind=INFRA,
        reason=Take("pod.waiting"),
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
        message="{pod.waiting.said}",
        because="The node could not set up network and namespaces for the pod.",
        source=_SANDBOX,
        next_step=_LOOK_AT_NODE,
    ),
    Rule(
        id="kubernetes.sandbox.too-little-memory",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedCreatePodSandBox": PRESENT,
            "pod.sandbox.says": "too-little-memory",
            "started": is_not("yes"),
        },
        kind=APPLICATION,
        reason="FailedCreatePodSandBox",
        deterministic=True,
        confidence=LIKELY,
        started=Started.NO,
        hint=Hint.MORE_MEMORY,
        message="{pod.event.FailedCreatePodSandBox}",
        because="The pod's own memory limit is too low for it even to be set up.",
        source=_RUNC,
        next_step="Raise the memory limit.",
    ),
    Rule(
        id="kubernetes.sandbox.no-such-network",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedCreatePodSandBox": PRESENT,
            "pod.sandbox.says": "no-such-network",
            "started": is_not("yes"),
        },
        kind=APPLICATION,
        reason="FailedCreatePodSandBox",
        deterministic=True,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.event.FailedCreatePodSandBox}",
        because="The pod asks for a network that is not defined.",
        source="https://github.com/k8snetworkplumbingwg/multus-cni",
        next_step=_CORRECT,
    ),
    Rule(
        id="kubernetes.sandbox",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedCreatePodSandBox": PRESENT,
            "pod.ended": _NOT_STARTED,
            "started": is_not("yes"),
        },
        kind=INFRA,
        reason="FailedCreatePodSandBox",
        deterministic=False,
        confidence=CONFIRMED,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
        message="{pod.event.FailedCreatePodSandBox}",
        because="The node could not set up network and namespaces for the pod.",
        source=_SANDBOX,
        next_step="Look at the node's network plugin and its container runtime.",
    ),
    Rule(
        id="kubernetes.mount.not-found",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedMount": PRESENT,
            "pod.mount.says": "not-found",
            "started": is_not("yes"),
        },
        kind=APPLICATION,
        reason="FailedMount",
        deterministic=True,
        confidence=CONFIRMED,
        started=Started.NO,
        message="{pod.event.FailedMount}",
        because="A volume names a Secret, ConfigMap or claim that is not there.",
        source=_VOLUMES,
        next_step="Create what the message names, or correct its name.",
    ),
    Rule(
        id="kubernetes.mount.host-path",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedMount": PRESENT,
            "pod.mount.says": "host-path",
            "started": is_not("yes"),
        },
        kind=APPLICATION,
        reason="FailedMount",
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.event.FailedMount}",
        because="A hostPath volume names what this node does not have.",
        source=f"{_VOLUMES}#hostpath",
        next_step="Correct the path, or run on nodes that have it.",
    ),
    Rule(
        id="kubernetes.attach",
        tier=Tier.CONTAINER,
        when={"pod.event.FailedAttachVolume": PRESENT, "started": is_not("yes")},
        kind=INFRA,
        reason="FailedAttachVolume",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.event.FailedAttachVolume}",
        because="The storage could not attach a volume to the node.",
        source=_VOLUMES,
        next_step="See whether the volume is still attached to another node.",
    ),
    Rule(
        id="kubernetes.mount.storage",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedMount": PRESENT,
            "pod.mount.says": one_of("storage", "cache-lag"),
            "started": is_not("yes"),
            "pod.event.Failed": ABSENT,
        },
        kind=INFRA,
        reason="FailedMount",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.event.FailedMount}",
        because="The storage or its driver did not mount a volume in time.",
        source=_VOLUMES,
        next_step="Look at the volume's driver on the node, and at the storage itself.",
    ),
    Rule(
        id="kubernetes.network-not-ready",
        tier=Tier.CONTAINER,
        when={"pod.event.NetworkNotReady": PRESENT, "started": is_not("yes")},
        kind=INFRA,
        reason="NetworkNotReady",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
        message="{pod.event.NetworkNotReady}",
        because="The node had no working pod network when the pod came.",
        source=_SANDBOX,
        next_step="Look at the node's network plugin.",
    ),
    Rule(
        id="kubernetes.unscheduled.no-capacity",
        tier=Tier.CONTAINER,
        when={
            "pod.event.FailedScheduling": like(
                r"capacity is unavailable|provisioning timed out", ignore_case=True
            ),
            "node": ABSENT,
        },
        kind=INFRA,
        reason="FailedScheduling",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.event.FailedScheduling}",
        because="The cloud had no machine to give to the pod.",
        source="https://docs.aws.amazon.com/eks/latest/userguide/fargate.html",
        next_step="Wait, or allow other zones and kinds of machines.",
    ),
    Rule(
        id="kubernetes.unscheduled.no-claim",
        tier=Tier.CONTAINER,
        when={
            "pod.unscheduled": PRESENT,
            "pod.unscheduled.message": like(
                r"persistentvolumeclaim \S{1,300} not found", ignore_case=True
            ),
        },
        kind=APPLICATION,
        reason=Take("pod.unscheduled"),
        deterministic=True,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.unscheduled.said}",
        because="The pod names a volume claim that does not exist.",
        source="https://kubernetes.io/docs/concepts/storage/persistent-volumes/",
        next_step="Create the claim, or correct its name.",
    ),
    Rule(
        id="kubernetes.unscheduled",
        tier=Tier.NOTHING,
        when={"pod.unscheduled": PRESENT, "node": ABSENT},
        kind=UNKNOWN,
        reason=Take("pod.unscheduled"),
        started=Started.NO,
        message="{pod.unscheduled.said}",
        because="A full cluster and a request that no node can meet look alike.",
        source=_SCHEDULING,
        next_step="Compare what the pod asks for with the largest node.",
    ),
    Rule(
        id="kubernetes.unscheduled.event",
        tier=Tier.NOTHING,
        when={
            "pod.event.FailedScheduling": PRESENT,
            "node": ABSENT,
            "pod.ended": one_of("waiting", "nothing"),
        },
        kind=UNKNOWN,
        reason="FailedScheduling",
        started=Started.NO,
        message="{pod.event.FailedScheduling}",
        because="A full cluster and a request that no node can meet look alike.",
        source=_SCHEDULING,
        next_step="Compare what the pod asks for with the largest node.",
    ),
)
