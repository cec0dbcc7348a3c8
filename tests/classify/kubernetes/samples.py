"""Pods and what belongs to them, as small as a test needs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from failhook.classify import Classifier
from failhook.details import FailureDetails
from failhook.evidence import Evidence

CASES = Path(__file__).parents[2] / "cases" / "cluster.jsonl"
CLASSIFIER = Classifier()


def verdict(document: dict[str, Any], **context: Any) -> FailureDetails:
    """Return the verdict on one document of Kubernetes."""
    return CLASSIFIER.classify(None, Evidence("kubernetes", document, context))


def pod(*containers: dict[str, Any], phase: str | None = "Failed", **more: Any) -> dict[str, Any]:
    """Return a pod; what is not a part of its own goes into its status."""
    metadata = {"name": "p", **more.pop("metadata", {})}
    parts = {name: more.pop(name) for name in ("events", "node") if name in more}
    names = [{"name": each["name"]} for each in containers] or [{"name": "main"}]
    spec = {"nodeName": "node-1", "containers": names, **more.pop("spec", {})}
    status = {"phase": phase, **more}
    if containers:
        status["containerStatuses"] = list(containers)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": status,
        **parts,
    }


def ended(code: int, reason: str | None = "Error", *, name: str = "main", **more: Any) -> Any:
    """Return the status of a container that ended."""
    last = more.pop("last", {})
    state = {"exitCode": code, "reason": reason, **more}
    return {"name": name, "state": {"terminated": state}, "lastState": last, "restartCount": 0}


def waits(reason: str, message: str | None = None, *, name: str = "main", last: Any = None) -> Any:
    """Return the status of a container that waits."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {"name": name, "state": state, "lastState": last or {}, "restartCount": 1 if last else 0}


def runs(name: str = "main", last: Any = None) -> Any:
    """Return the status of a container that runs."""
    state = {"running": {"startedAt": "2026-03-02T09:00:05Z"}}
    return {"name": name, "state": state, "lastState": last or {}, "restartCount": 1 if last else 0}


def event(reason: str, message: str = "", **about: str) -> dict[str, Any]:
    """Return an event, about the pod unless told otherwise."""
    return {
        "kind": "Event",
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": {"kind": "Pod", "name": "p", **about},
    }


def condition(kind: str, reason: str | None, status: Any = "True", **more: Any) -> dict[str, Any]:
    """Return a condition of a pod or of a job."""
    return {"type": kind, "status": status, "reason": reason, **more}


def disrupted(
    reason: str | None = "PreemptionByScheduler", status: Any = "True", **more: Any
) -> Any:
    """Return the conditions of a pod that is marked as a target of disruption."""
    return [condition("DisruptionTarget", reason, status, **more)]


def job(reason: str, message: str = "", kind: str = "Failed") -> dict[str, Any]:
    """Return a Job that failed."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {"activeDeadlineSeconds": 40},
        "status": {"conditions": [condition(kind, reason, message=message)]},
    }


def workload(reason: str, kind: str = "Evicted", status: str = "True") -> dict[str, Any]:
    """Return a Workload of Kueue."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "status": {"conditions": [condition(kind, reason, status)]},
    }


def cases() -> Iterator[dict[str, Any]]:
    """Yield the real failures on Kubernetes."""
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["system"] == "kubernetes":
            yield case
