"""Facts that cost something: comparisons of times, texts put together. Computed when asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from failhook.classify.facts import Derive, Derived, Facts, Value
from failhook.classify.kubernetes.fields import (
    NOTHING,
    Object,
    mapping,
    members,
    moment,
    pick,
    text,
    whole,
)
from failhook.classify.kubernetes.phrases import (
    CREATES,
    MOUNTS,
    PULLS,
    REFUSALS,
    SANDBOXES,
    Meaning,
    meaning,
)

_STALE_AFTER: Final = 120.0
"""Seconds after which the controller takes a DisruptionTarget back if no delete followed."""

_BARE_BACK_OFF: Final = re.compile(r'Back-off pulling image "[^"\n]{0,1000}"\.?\s*')


def _source(facts: Facts, name: str) -> Object:
    found: Object = facts.sources.get(name, NOTHING)
    return found


def _finished(facts: Facts) -> float | None:
    return moment(pick(_source(facts, "pod.end"), "finishedAt", "finished_at"))


def _ended_before_disruption(facts: Facts) -> Value:
    """Return whether the container had ended before the platform decided to disrupt the pod."""
    finished = _finished(facts)
    condition = _source(facts, "disruption")
    decided = moment(pick(condition, "lastTransitionTime", "last_transition_time"))
    return None if finished is None or decided is None else finished < decided


def _stale_disruption(facts: Facts) -> Value:
    """Return whether a disruption was announced long before the end and never carried out."""
    if facts["pod.deleted"] or facts["pod.disruption"] == "TerminationByKubelet":
        return None
    finished = _finished(facts)
    condition = _source(facts, "disruption")
    decided = moment(pick(condition, "lastTransitionTime", "last_transition_time"))
    if finished is None or decided is None:
        return None
    return finished - decided > _STALE_AFTER


def _ended_by_delete(facts: Facts) -> Value:
    """Return whether the container ended after a delete of the pod was asked for."""
    metadata = mapping(_source(facts, "pod").get("metadata"))
    finished = _finished(facts)
    at = moment(pick(metadata, "deletionTimestamp", "deletion_timestamp"))
    if finished is None or at is None:
        return None
    grace = whole(pick(metadata, "deletionGracePeriodSeconds", "deletion_grace_period_seconds"))
    return finished >= at - (grace or 0)


def _deadline(facts: Facts) -> Value:
    """Return the pod's or the job's own time limit in seconds."""
    for name in ("pod", "owner"):
        spec = mapping(_source(facts, name).get("spec"))
        limit = whole(pick(spec, "activeDeadlineSeconds", "active_deadline_seconds"))
        if limit is not None:
            return limit
    return None


def _memory_limit(facts: Facts) -> Value:
    """Return whether the container, or its pod as a whole, has a memory limit of its own."""
    spec = mapping(_source(facts, "pod").get("spec"))
    if mapping(mapping(spec.get("resources")).get("limits")).get("memory"):
        return True
    containers = [
        *members(spec.get("containers")),
        *members(pick(spec, "initContainers", "init_containers")),
    ]
    name = facts["pod.container.name"]
    for each in containers:
        container = mapping(each)
        if container.get("name") == name:
            limits = mapping(mapping(container.get("resources")).get("limits"))
            return bool(limits.get("memory"))
    return None


def _no_limit_at_all(facts: Facts) -> Value:
    """Return whether the API itself says that no container of the pod has any limit."""
    status = mapping(_source(facts, "pod").get("status"))
    return bool(pick(status, "qosClass", "qos_class") == "BestEffort")


def _pull(facts: Facts) -> Value:
    """Return the newest text that says why an image could not be pulled."""
    waiting = facts["pod.waiting.message"] or facts["pod.sidecar.waiting.message"]
    if isinstance(waiting, str) and not _BARE_BACK_OFF.fullmatch(waiting):
        return waiting
    events = facts["pod.event.Failed"]
    told = [each for each in events if _is_pull(each)] if isinstance(events, tuple) else ()
    return told[-1] if told else None


def _means(path: str, table: tuple[Meaning, ...]) -> Derive:
    """Return how to read what the texts at a path mean."""

    def derive(facts: Facts) -> Value:
        said = facts[path]
        if isinstance(said, str):
            said = (said,)
        return meaning(said, table) if isinstance(said, tuple) else None

    return derive


def _is_pull(message: str) -> bool:
    return message.startswith(("Failed to pull image", "Failed to inspect image"))


def _create(facts: Facts) -> Value:
    """Return every text that says why a container could not be created or started."""
    told: list[str] = []
    for path in ("pod.waiting.message", "pod.container.message"):
        found = facts[path]
        if isinstance(found, str) and not (
            path == "pod.container.message" and facts["pod.ended"] != "start"
        ):
            told.append(found)
    events = facts["pod.event.Failed"]
    if isinstance(events, tuple):
        told.extend(each for each in events if not _is_pull(each))
    return tuple(told)


def _start_reason(facts: Facts) -> Value:
    """Return the reason that was given for a container that could not be started."""
    return facts["pod.container.reason"] or facts["pod.waiting"]


def _probe(facts: Facts) -> Value:
    """Return what the kubelet wrote when it stopped this container for its failed health check."""
    events, name = facts["pod.event.Killing"], facts["pod.container.name"]
    if not isinstance(events, tuple):
        return None
    told = (
        each for each in events if "failed liveness probe" in each or "failed startup probe" in each
    )
    return next((each for each in told if name is None or f" {name} " in each), None)


def _age(facts: Facts) -> Value:
    """Return the seconds from the pod's start to the time that the caller looked at it."""
    seen = moment(_source(facts, "context").get("observed_at"))
    pod = _source(facts, "pod")
    began = moment(pick(mapping(pod.get("status")), "startTime", "start_time"))
    if began is None:
        metadata = mapping(pod.get("metadata"))
        began = moment(pick(metadata, "creationTimestamp", "creation_timestamp"))
    return None if seen is None or began is None else seen - began


def _said(facts: Facts) -> Value:
    """Return the pod's own reason and message in one line."""
    return _join(facts["pod.reason"], facts["pod.message"])


def _disruption_said(facts: Facts) -> Value:
    return _join(facts["pod.disruption"], facts["pod.disruption.message"])


def _container_said(facts: Facts) -> Value:
    """Return how the container ended in one line, with the task's last words."""
    name, reason = facts["pod.container.name"], facts["pod.container.reason"]
    code, message = facts["exit_code"], facts["pod.container.message"]
    end = f"exit code {code}" if reason is None else f"{reason} (exit code {code})"
    if code is None:
        end = str(reason or "ended")
    said = f"Container {name}: {end}" if isinstance(name, str) else end
    return f"{said}: {message.strip()}" if isinstance(message, str) else said


def _waiting_said(facts: Facts) -> Value:
    return _join(
        facts["pod.waiting"] or facts["pod.sidecar.waiting"],
        facts["pod.waiting.message"] or facts["pod.sidecar.waiting.message"],
    )


def _pull_said(facts: Facts) -> Value:
    return _join(facts["pod.waiting"] or facts["pod.sidecar.waiting"], facts["pod.pull"])


def _owner_said(facts: Facts) -> Value:
    return _join(facts["kube.owner.failed"], facts["kube.owner.message"])


def _api_said(facts: Facts) -> Value:
    return _join(facts["kube.api.reason"] or facts["kube.api.code"], facts["kube.api.message"])


def _unscheduled_said(facts: Facts) -> Value:
    return _join(facts["pod.unscheduled"], facts["pod.unscheduled.message"])


def _join(reason: Value, message: Value) -> str:
    said = [str(part).strip() for part in (reason, message) if part is not None]
    return ": ".join(said)


def _image_reason(facts: Facts) -> Value:
    """Return the kubelet's reason for an image that is not there; events alone have none."""
    waiting = text(facts["pod.waiting"]) or text(facts["pod.sidecar.waiting"])
    return waiting if waiting and waiting not in ("ContainerCreating", "sentence") else None


_WAITING: Final = ("pod.waiting", "pod.sidecar.waiting")

DERIVED: Final[Mapping[str, Derived]] = {
    "pod.ended_before_disruption": Derived(_ended_before_disruption, ("pod.disruption",)),
    "pod.disruption.stale": Derived(_stale_disruption, ("pod.disruption",)),
    "pod.ended_by_delete": Derived(_ended_by_delete, ("pod.deleted",)),
    "pod.deadline": Derived(_deadline, ("pod.reason", "kube.owner.failed")),
    "pod.memory_limit": Derived(_memory_limit, ("pod.ended",)),
    "pod.best_effort": Derived(_no_limit_at_all, ("pod.ended",)),
    "pod.pull": Derived(_pull, (*_WAITING, "pod.event.Failed")),
    "pod.pull.says": Derived(_means("pod.pull", PULLS), (*_WAITING, "pod.event.Failed")),
    "pod.create": Derived(_create, ("pod.waiting", "pod.container.message", "pod.event.Failed")),
    "pod.create.says": Derived(
        _means("pod.create", CREATES), ("pod.waiting", "pod.container.message", "pod.event.Failed")
    ),
    "pod.waiting.says": Derived(_means("pod.waiting.message", CREATES), ("pod.waiting.message",)),
    "pod.mount.says": Derived(_means("pod.event.FailedMount", MOUNTS), ("pod.event.FailedMount",)),
    "pod.sandbox.says": Derived(
        _means("pod.event.FailedCreatePodSandBox", SANDBOXES), ("pod.event.FailedCreatePodSandBox",)
    ),
    "pod.start_reason": Derived(_start_reason, ("pod.container.reason", "pod.waiting")),
    "pod.probe": Derived(_probe, ("pod.event.Killing",)),
    "pod.age": Derived(_age),
    "pod.image_reason": Derived(_image_reason, _WAITING),
    "pod.said": Derived(_said, ("pod.reason", "pod.message")),
    "pod.disruption.said": Derived(_disruption_said, ("pod.disruption",)),
    "pod.container.said": Derived(_container_said, ("pod.ended",)),
    "pod.waiting.said": Derived(_waiting_said, _WAITING),
    "pod.pull.said": Derived(_pull_said, (*_WAITING, "pod.event.Failed")),
    "pod.unscheduled.said": Derived(_unscheduled_said, ("pod.unscheduled",)),
    "kube.owner.said": Derived(_owner_said, ("kube.owner.failed",)),
    "kube.api.says": Derived(_means("kube.api.message", REFUSALS), ("kube.api.message",)),
    "kube.api.said": Derived(_api_said, ("kube.api.code", "kube.api.message")),
}
