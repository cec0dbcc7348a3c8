"""The events of a pod, its job and its node: what the platform wrote while it happened."""

from __future__ import annotations

from typing import Final

from failhook.classify.facts import Facts, window
from failhook.classify.kubernetes.fields import Object, mapping, members, pick, text
from failhook.classify.kubernetes.words import read_refusal

KEPT: Final = frozenset(
    (
        *("Failed", "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedScheduling"),
        *("FailedCreatePodSandBox", "Killing", "TaintManagerEviction", "Preempted"),
        *("NetworkNotReady", "FailedPostStartHook", "GPUXidError"),
    )
)
"""Reasons whose messages rules look at, as ``pod.event.REASON``."""

OF_NODES: Final = frozenset(
    (
        *("NodeNotReady", "NodeControllerEviction", "NodeShutdown", "Rebooted", "DeletingNode"),
        *("RemovingNode", "ScaleDown", "Descheduled", "SystemOOM", "OOMKilling"),
        *("SpotInterruption", "SpotInterrupted", "InstanceTerminating", "InstanceStopping"),
        "SandboxChanged",
    )
)
"""Reasons that say by themselves what happened to the node, as ``kube.node.event``."""

_STANDS_FOR: Final = frozenset(("Evicted", "Preempting", "DeadlineExceeded"))
"""Reasons that the kubelet also writes into the pod's status, where they may have been lost."""

_EVICTED_DUE_TO: Final = "EvictedDueTo"


def read_events(source: object, name: object, facts: Facts) -> None:
    """Read events.

    Args:
        source: a list of events, or a List.
        name: the pod's, to leave out events of other pods; None where it is not known.
        facts: where to put them.
    """
    kept: dict[str, list[str]] = {}
    nodes: list[str] = []
    for number, each in enumerate(members(source)):
        event = mapping(each)
        reason = text(event.get("reason"))
        if reason is None or _of_another(event, name):
            continue
        message = text(event.get("message")) or text(event.get("note")) or ""
        if reason in KEPT:
            kept.setdefault(reason, []).append(window(message))
        elif reason in OF_NODES:
            nodes.append(reason)
        elif reason == "FailedCreate":
            read_refusal(window(message), facts)
        else:
            _read_ending(reason, message, f"events[{number}]", facts)
    for reason, messages in kept.items():
        facts[f"pod.event.{reason}"] = tuple(messages)
        facts.origins[f"pod.event.{reason}"] = f"events[reason={reason}].message"
    if nodes:
        facts["kube.node.event"] = tuple(nodes)
        facts.origins["kube.node.event"] = "events[].reason"


def _read_ending(reason: str, message: str, at: str, facts: Facts) -> None:
    """Read an event that says why the pod or its workload was ended."""
    if reason in _STANDS_FOR:
        if "pod.reason" not in facts:
            facts.read("pod.reason", reason, f"{at}.reason")
            facts.read("pod.message", message or None, f"{at}.message")
    elif reason.startswith(_EVICTED_DUE_TO):
        cause = reason.removeprefix(_EVICTED_DUE_TO)
        facts.read("kube.eviction", cause or reason, f"{at}.reason")


def _of_another(event: Object, name: object) -> bool:
    """Return whether an event is about another pod than this one."""
    if name is None:
        return False
    about = mapping(pick(event, "involvedObject", "involved_object") or event.get("regarding"))
    return about.get("kind") == "Pod" and about.get("name") not in (name, None)
