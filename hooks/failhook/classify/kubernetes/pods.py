"""Reads a pod: its own reason, its conditions, whether it was deleted, and its containers."""

from __future__ import annotations

from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.kubernetes.containers import read_containers
from failhook.classify.kubernetes.fields import (
    NOTHING,
    Object,
    mapping,
    members,
    moment,
    pick,
    text,
)
from failhook.classify.kubernetes.messages import reason_of
from failhook.classify.kubernetes.names import DEFAULT_CONTAINER

_DISRUPTED: Final = "DisruptionTarget"
_KUEUE_DUE_TO: Final = "WorkloadEvictedDueTo"
_PREEMPTED_LABEL: Final = "node-preempted"
"""The label that Cook's site daemons put on pods of a machine that is about to be reclaimed."""


def read_pod(pod: Object, context: Object, facts: Facts) -> None:
    """Read one pod.

    Args:
        pod: as the API or the Python client writes it.
        context: what the caller knows; ``main_container`` names the task's container.
        facts: where to put what was found.
    """
    metadata = mapping(pod.get("metadata"))
    spec = mapping(pod.get("spec"))
    status = mapping(pod.get("status"))
    facts.sources["pod"] = pod
    phase = text(status.get("phase"))
    if phase is not None:
        facts.read("pod.phase", phase, "status.phase")
    _read_reason(status, facts)
    conditions = status.get("conditions")
    if conditions:
        for each in members(conditions):
            condition = mapping(each)
            kind = condition.get("type")
            if type(kind) is str and kind in _CONDITIONS:
                _CONDITIONS[kind](condition, facts)
    deleted = pick(metadata, "deletionTimestamp", "deletion_timestamp")
    if deleted is not None and moment(deleted) is not None:
        facts["pod.deleted"] = True
        facts.origins["pod.deleted"] = "metadata.deletionTimestamp"
    labels = metadata.get("labels")
    if labels and mapping(labels).get(_PREEMPTED_LABEL):
        facts["pod.node_preempted"] = True
        facts.origins["pod.node_preempted"] = f"metadata.labels.{_PREEMPTED_LABEL}"
    node = text(pick(spec, "nodeName", "node_name"))
    if node is not None:
        facts["node"] = node
    read_containers(spec, status, _wanted(metadata, context), facts)


def _read_reason(status: Object, facts: Facts) -> None:
    reason, message = text(status.get("reason")), text(status.get("message"))
    if message is not None:
        facts.read("pod.message", message, "status.message")
        if reason is None:
            read_sentence(facts)
            return
    if reason is not None:
        facts.read("pod.reason", reason, "status.reason")


def read_sentence(facts: Facts) -> None:
    """Put down the reason that belongs to the pod's message, where it is one of the kubelet's."""
    message = facts["pod.message"]
    reason = reason_of(message) if isinstance(message, str) else None
    if reason is not None:
        facts.read("pod.reason", reason, facts.origins.get("pod.message"))


def _wanted(metadata: Object, context: Object) -> str | None:
    """Return the name of the main container, where the caller or an annotation gives one."""
    wanted = text(context.get("main_container"))
    if wanted is None:
        annotations = metadata.get("annotations")
        if annotations:
            annotations = mapping(annotations)
            for name in DEFAULT_CONTAINER:
                wanted = wanted or text(annotations.get(name))
    return wanted


def holds(condition: Object) -> bool:
    """Return whether a condition's status is True."""
    status = condition.get("status")
    return status is True or (type(status) is str and status.lower() == "true")


def _disruption(condition: Object, facts: Facts) -> None:
    reason = text(condition.get("reason")) or _DISRUPTED
    if not holds(condition):
        facts.read("pod.disruption.cleared", reason)
        return
    facts.read("pod.disruption", reason, f"status.conditions[type={_DISRUPTED}].reason")
    facts.sources["disruption"] = condition
    message = text(condition.get("message"))
    if message is None:
        return
    facts.read("pod.disruption.message", message)
    if "pod.reason" not in facts and reason == "TerminationByKubelet":
        said = reason_of(message)
        if said is not None:  # a late write of the status took the pod's own reason away
            facts.read("pod.reason", said, f"status.conditions[type={_DISRUPTED}].message")
            facts.read("pod.message", message, f"status.conditions[type={_DISRUPTED}].message")


def _kueue(condition: Object, facts: Facts) -> None:
    if holds(condition):
        reason = text(condition.get("reason")) or "WorkloadEvicted"
        facts.read(
            "kube.eviction",
            reason.removeprefix(_KUEUE_DUE_TO) or reason,
            "status.conditions[type=TerminationTarget].reason",
        )


def _scheduled(condition: Object, facts: Facts) -> None:
    if not holds(condition):
        at = "status.conditions[type=PodScheduled]"
        facts.read(
            "pod.unscheduled", text(condition.get("reason")) or "Unscheduled", f"{at}.reason"
        )
        facts.read("pod.unscheduled.message", text(condition.get("message")), f"{at}.message")


_CONDITIONS: Final[dict[str, Any]] = {
    _DISRUPTED: _disruption,
    "TerminationTarget": _kueue,
    "PodScheduled": _scheduled,
}


def failing(pods: list[Object]) -> Object:
    """Return the pod of several that a failure is about: the latest one that failed."""
    return max(pods, key=_when, default=NOTHING)


def _when(pod: Object) -> tuple[bool, str]:
    status, metadata = mapping(pod.get("status")), mapping(pod.get("metadata"))
    created = pick(metadata, "creationTimestamp", "creation_timestamp")
    return status.get("phase") not in ("Succeeded", "Running", "Pending"), str(created or "")[:40]
