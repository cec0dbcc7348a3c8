"""A document that holds several tasks, taken apart: one verdict would hide all but one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

Record = Mapping[str, Any]

_WITNESSES: Final = frozenset({"Event", "Node", "Status"})
"""Kinds in a Kubernetes List that tell of others and are no task themselves."""
_ARRAYS: Final = ("jobs", "tasks")
"""Where ``aws batch describe-jobs`` and ``aws ecs describe-tasks`` print what was asked for."""
_ABOUT: Final = ("involvedObject", "involved_object", "regarding")
_NAMES: Final = (
    *(
        "id",
        "jobName",
        "job_name",
        "name",
        "jobId",
        "job_id",
        "taskArn",
        "jobArn",
        "TrainingJobName",
    ),
)


def members_of(document: object) -> Sequence[tuple[str, object]]:
    """Return the documents in a document, each with its name; one that holds none is itself."""
    whole: Sequence[tuple[str, object]] = [("", document)]
    records = _records(document)
    if len(records) > 1:
        return [(_name(record, number), record) for number, record in enumerate(records)]
    record: Record = cast("Record", document) if isinstance(document, Mapping) else {}
    if record and "evidence" not in record:
        for key in _ARRAYS:
            listed = _records(record.get(key))
            if len(listed) > 1:
                return [(_name(each, at), {key: [each]}) for at, each in enumerate(listed)]
        subjects = _subjects(record)
        if len(subjects) > 1:
            return [
                (_name(each, number), {**record, "items": [each, *_about(record, each)]})
                for number, each in enumerate(subjects)
            ]
    return whole


def _subjects(record: Record) -> Sequence[Record]:
    kind = record.get("kind")
    if kind is not None and not str(kind).endswith("List"):
        return ()
    return [each for each in _records(record.get("items")) if each.get("kind") not in _WITNESSES]


def _about(record: Record, subject: Record) -> Iterator[Record]:
    """Yield what a List has to say about one of its members."""
    name = _field(subject, "metadata", "name")
    node = _field(subject, "spec", "nodeName") or _field(subject, "spec", "node_name")
    for each in _records(record.get("items")):
        if each.get("kind") == "Node" and node and _field(each, "metadata", "name") == node:
            yield each
        elif each.get("kind") == "Event":
            about = [_field(each, key, "name") for key in _ABOUT]
            if name is not None and name in about:
                yield each


def _records(value: object) -> Sequence[Record]:
    if not isinstance(value, list):
        return ()
    listed = cast("list[object]", value)
    found = [cast("Record", each) for each in listed if isinstance(each, Mapping)]
    return found if len(found) == len(listed) else ()


def _name(record: Record, number: int) -> str:
    named = _field(record, "metadata", "name")
    for key in _NAMES:
        named = named or record.get(key)
    kind = record.get("kind")
    text = str(named) if isinstance(named, str | int) and named else f"number {number + 1}"
    return f"{kind} {text}" if isinstance(kind, str) and kind else text


def _field(record: Record, *keys: str) -> Any:
    value: Any = record
    for key in keys:
        value = cast("Record", value).get(key) if isinstance(value, Mapping) else None
    return value
