"""Records that are known by sight, as ``kubectl get -o json`` or a client gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.kubernetes.fields import mapping, members
from failhook.evidence import Evidence

SYSTEM: Final = "kubernetes"
_KINDS: Final = frozenset(
    (
        *("Pod", "Job", "JobSet", "Workload", "Workflow", "Event", "Status", "Node"),
        *("TaskRun", "PipelineRun", "RayJob"),
    )
)
_GROUPS: Final = ("v1", "batch/", "events.k8s.io/", "jobset.x-k8s.io/", "kueue.x-k8s.io/")
_OTHER_GROUPS: Final = (
    *("argoproj.io/", "audit.k8s.io/", "tekton.dev/", "ray.io/", "batch.volcano.sh/"),
)
_POD_STATUS: Final = (
    *("phase", "containerStatuses", "container_statuses", "conditions"),
    *("initContainerStatuses", "init_container_statuses"),
)


def known(record: Mapping[str, Any]) -> Evidence | None:
    """Know a Pod, an owner of pods, an Event, a Status, a List of them, or a watch event."""
    if _is_known(record) or _is_list(record):
        return Evidence(SYSTEM, record)
    if record.get("type") in ("ADDED", "MODIFIED", "DELETED") and _is_known(
        mapping(record.get("object"))
    ):
        return Evidence(SYSTEM, record)
    return None


def _is_known(record: Mapping[str, Any]) -> bool:
    kind, version = record.get("kind"), record.get("apiVersion")
    if kind is None:
        return _looks_like_pod(record)
    if kind == "Pod":
        return True
    return (
        isinstance(kind, str)
        and kind in _KINDS
        and isinstance(version, str)
        and version.startswith((*_GROUPS, *_OTHER_GROUPS))
    )


def _looks_like_pod(record: Mapping[str, Any]) -> bool:
    """Know a pod of the Python client, whose ``to_dict()`` leaves the kind empty."""
    status = mapping(record.get("status"))
    if not any(name in status for name in _POD_STATUS):
        return False
    return bool(mapping(record.get("spec")).get("containers") or mapping(record.get("metadata")))


def _is_list(record: Mapping[str, Any]) -> bool:
    kind = record.get("kind")
    items = members(record.get("items"))
    if not items:
        return False
    if isinstance(kind, str) and not kind.endswith("List"):
        return False
    if kind in ("PodList", "JobList", "EventList", "JobSetList", "WorkloadList"):
        return True
    return any(_is_known(mapping(each)) for each in items)
