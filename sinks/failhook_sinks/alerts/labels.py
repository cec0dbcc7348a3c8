"""What an alert is routed by: the labels of an event."""

from __future__ import annotations

from typing import Final

from failhook.plugin import EventType, FailureEvent, Task
from failhook_sinks.alerts.cause import cause_of

_NAMES: Final = {EventType.SUSPECT_SUCCESS: "SuspectSuccess"}


def labels_of(event: FailureEvent, owner: str = "") -> dict[str, str]:
    """Return the labels of an event; one that is empty is left out, as Alertmanager does.

    The task's own labels are there too, but none of them hides one of these: alertname, kind,
    reason, confidence, namespace, workflow, task, executor, owner, node, code, action, final,
    cause; ``severity`` is the task's where it has one.

    Args:
        event: a failure, or what followed one.
        owner: of the task, as the owner map has it.
    """
    details, decision, task = event.failure_details, event.decision, event.task
    final = "true" if event.final else "false"
    ours = {
        "alertname": _NAMES.get(event.type, "TaskFailed"),
        "kind": details.kind.value,
        "reason": details.reason,
        "confidence": details.confidence.value,
        "namespace": task.namespace,
        "workflow": task.workflow,
        "task": task.name,
        "executor": details.executor or task.executor or "",
        "owner": owner or task.owner or "",
        "node": details.node or "",
        "code": details.code or "",
        "action": "" if decision is None else decision.action.value,
        "final": final,
        "cause": cause_of(event),
        "simulated": "true" if event.simulated else "",
    }
    severity = {"severity": "critical" if event.final else "warning"}
    merged = {**severity, **task.labels, **ours}
    return {name: value for name, value in merged.items() if value}


def job_of(task: Task) -> str:
    """Return the task across its runs; each index of a mapped task is one of its own."""
    return task.job_key if task.map_index is None else f"{task.job_key}[{task.map_index}]"
