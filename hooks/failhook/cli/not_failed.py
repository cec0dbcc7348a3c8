"""Native records of what has not failed: a verdict on them would be a verdict on nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

Record = Mapping[str, Any]

_OF_AWS: Final = {
    "SUCCEEDED": "has succeeded",
    "RUNNING": "is still running",
    "SUBMITTED": "has not started yet",
    "PENDING": "has not started yet",
    "RUNNABLE": "has not started yet",
    "STARTING": "has not started yet",
}
_NODE: Final = "this is a node and no task; give the pod that ran there"
_NO_STATUS: Final = "the pod has no status, so nothing is known of it; get it with -o json"


def why_no_failure(document: object) -> str:
    """Say why a bare record shows no failure; "" where it may show one.

    An evidence document is taken at its word: whoever writes one says that something failed.
    """
    if not isinstance(document, Mapping) or "evidence" in document:
        return ""
    record = cast("Record", document)
    for key in ("jobs", "tasks"):
        listed = _records(record.get(key))
        if len(listed) == 1:
            return _of_aws(listed[0])
    if isinstance(record.get("items"), list):
        listed = _records(record["items"])
        found = [why_no_failure(each) for each in listed if each.get("kind") != "Event"]
        told = len(listed) > len(found) or not all(found)
        return "" if told else next((reason for reason in found if reason != _NODE), _NODE)
    kind = record.get("kind")
    if kind == "Node":
        return _NODE
    if kind == "Pod":
        return _of_pod(record)
    if kind == "Job" and any(each.get("type") == "Complete" for each in _conditions(record)):
        return "the job has completed: nothing has failed"
    return _of_aws(record)


def _of_aws(record: Record) -> str:
    batch = "jobArn" in record or {"jobQueue", "jobDefinition"} <= record.keys()
    ecs = "taskArn" in record
    state = record.get("status") if batch else record.get("lastStatus") if ecs else None
    said = _OF_AWS.get(state) if isinstance(state, str) else None
    return f"the {'job' if batch else 'task'} {said}: nothing has failed" if said else ""


def _of_pod(pod: Record) -> str:
    status = _mapping(pod.get("status"))
    if not status:
        return _NO_STATUS
    phase = status.get("phase")
    ends = phase in ("Running", "Succeeded") and not _disturbed(pod, status)
    if not ends:
        return ""
    said = "is still running" if phase == "Running" else "has succeeded"
    return f"the pod {said}: nothing has failed"


def _disturbed(pod: Record, status: Record) -> bool:
    """Return whether anything about a pod hints at an end that was not its own."""
    metadata = _mapping(pod.get("metadata"))
    if metadata.get("deletionTimestamp") or status.get("reason") or status.get("message"):
        return True
    if any(each.get("type") == "DisruptionTarget" for each in _conditions(pod)):
        return True
    return any(map(_hurt, _containers(status)))


def _hurt(container: Record) -> bool:
    state = _mapping(container.get("state"))
    ended = _mapping(state.get("terminated"))
    last = _mapping(container.get("lastState"))
    return bool(last) or "waiting" in state or bool(ended.get("exitCode") or ended.get("signal"))


def _containers(status: Record) -> Iterator[Record]:
    for name in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        yield from _records(status.get(name))


def _conditions(record: Record) -> list[Record]:
    listed = _records(_mapping(record.get("status")).get("conditions"))
    return [each for each in listed if each.get("status") == "True"]


def _records(value: object) -> list[Record]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Record", each) for each in listed if isinstance(each, Mapping)]


def _mapping(value: object) -> Record:
    return cast("Record", value) if isinstance(value, Mapping) else {}
