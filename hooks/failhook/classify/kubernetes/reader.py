"""Reads any document about a pod: the pod itself, a List, its owner, or what is left of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.kubernetes.events import read_events
from failhook.classify.kubernetes.fields import NOTHING, Object, mapping, members, text
from failhook.classify.kubernetes.nodes import read_node_object
from failhook.classify.kubernetes.owners import read_owner, read_workload
from failhook.classify.kubernetes.pods import failing, read_pod
from failhook.classify.kubernetes.words import (
    read_answer,
    read_audit,
    read_node,
    read_sentence_of_engine,
)
from failhook.evidence import Evidence

BARE_STATUS: Final = frozenset(
    (
        *("containerStatuses", "container_statuses"),
        *("initContainerStatuses", "init_container_statuses"),
    )
)
"""Fields by which the status of a pod is known where it comes without the pod."""

FIELDS: Final = frozenset(("pod", "pods", "pod_lookup", "workflow_node", *BARE_STATUS))
"""Fields that hold what this source reads, whatever system reports them."""


def read(evidence: Evidence, facts: Facts) -> None:
    """Read a pod, a List, an owner of pods, an answer of the API, or an object that holds them."""
    document, context = evidence.facts, evidence.context
    if context:
        facts.sources["context"] = context
        facts.read("pod.last_phase", text(context.get("last_known_phase")))
    kind = document.get("kind")
    if kind == "Pod" or (kind is None and _is_pod(document)):
        read_pod(document, context, facts)
    elif kind is None and not BARE_STATUS.isdisjoint(document):
        read_pod({"status": document}, context, facts)
    elif type(kind) is str:
        _read_object(kind, document, context, facts)
    parts = [name for name in document if name in _ALSO]
    if len(parts) > 1:
        parts.sort(key=_ORDER.__getitem__)
    for name in parts:
        value = document[name]
        if value is not None:
            _ALSO[name](value, context, facts)
    if "pod" in parts and document["pod"] is None:
        facts["pod.missing"] = True
    if parts and document.get("type") == "DELETED":  # a watch event, with the pod as it last was
        facts["pod.deleted"] = True
        facts.origins["pod.deleted"] = "type"
    facts.setdefault("pod.ended", "nothing")


def _is_pod(document: Object) -> bool:
    """Return whether a document that does not say what it is has the parts of a pod."""
    return any(mapping(document.get(part)) is not NOTHING for part in ("status", "spec"))


def _read_object(kind: str, document: Object, context: Object, facts: Facts) -> None:
    if kind.endswith("List"):
        _read_list(document, context, facts)
    elif kind == "Status":
        read_answer(document, facts)
    elif kind == "Event" and document.get("verb") is not None:
        read_audit(document, facts)
    elif kind == "Event":
        read_events((document,), None, facts)
    elif kind == "Node":
        read_node_object(document, facts)
    elif kind == "Workload":
        read_workload(document, facts)
    elif kind == "Workflow":
        read_node(mapping(document.get("status")), facts)
    else:
        facts.sources["owner"] = document
        read_owner(document, facts)


def _read_list(document: Object, context: Object, facts: Facts) -> None:
    """Read a List: its pods decide, and its owners and events add what they know."""
    pods: list[Object] = []
    events: list[Object] = []
    for each in members(document.get("items")):
        item = mapping(each)
        kind = text(item.get("kind")) or _kind_of_items(document, item)
        if kind == "Pod":
            pods.append(item)
        elif kind == "Event":
            events.append(item)
        elif kind is not None and not kind.endswith("List"):
            _read_object(kind, item, context, facts)
    pod = failing(pods)
    if pod:
        read_pod(pod, context, facts)
    if events:
        read_events(events, _name(pod), facts)


def _kind_of_items(document: Object, item: Object) -> str | None:
    """Return the kind of a member that does not say it: the Python client leaves it out."""
    kind = text(document.get("kind")) or ""
    if kind != "List" and kind.endswith("List"):
        return kind.removesuffix("List")
    return "Pod" if mapping(item.get("status")).get("phase") is not None else None


def _name(pod: Object) -> str | None:
    return text(mapping(pod.get("metadata")).get("name"))


def _pod(value: object, context: Object, facts: Facts) -> None:
    if facts.sources.get("pod") is None:
        pod = mapping(value)
        if pod:
            read_pod(pod, context, facts)


def _pods(value: object, context: Object, facts: Facts) -> None:
    if facts.sources.get("pod") is None:
        pod = failing([mapping(each) for each in members(value)])
        if pod:
            read_pod(pod, context, facts)


def _events(value: object, _: Object, facts: Facts) -> None:
    pod = facts.sources.get("pod")
    read_events(value, _name(pod) if pod is not None else None, facts)


def _owner(value: object, _: Object, facts: Facts) -> None:
    owner = mapping(value)
    facts.sources["owner"] = owner
    read_owner(owner, facts)


def _lookup(value: object, _: Object, facts: Facts) -> None:
    read_answer(mapping(value), facts, verb="get")


def _refused(value: object, _: Object, facts: Facts) -> None:
    answer = {"body": value} if isinstance(value, str) else mapping(value)
    read_answer(answer, facts, verb="create")


def _node(value: object, _: Object, facts: Facts) -> None:
    read_node_object(mapping(value), facts)


_ALSO: Final[dict[str, Callable[[Any, Object, Facts], None]]] = {
    "pod": _pod,
    "pods": _pods,
    "object": _pod,
    "job": _owner,
    "jobset": _owner,
    "workload": lambda value, _, facts: read_workload(mapping(value), facts),
    "workflow_node": lambda value, _, facts: read_node(mapping(value), facts),
    "node": _node,
    "node_conditions": lambda value, _, facts: read_node_object(
        {"status": {"conditions": value}}, facts
    ),
    "node_events": lambda value, _, facts: read_events(value, None, facts),
    "events": _events,
    "pod_lookup": _lookup,
    "api_status": _lookup,
    "api_error": _refused,
    "audit": lambda value, _, facts: read_audit(mapping(value), facts),
    "engine_error": lambda value, _, facts: read_sentence_of_engine(value, facts),
    "engine_event": lambda value, _, facts: read_sentence_of_engine(value, facts),
    "engine_message": lambda value, _, facts: read_sentence_of_engine(value, facts),
}
"""Parts of a document that has several, by the name they have there; read in this order."""
_ORDER: Final = {name: number for number, name in enumerate(_ALSO)}
