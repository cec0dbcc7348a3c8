"""Nomad allocations: what the scheduler wanted of them, and the events of their tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import ABSENT, PRESENT, has, like, one_of
from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Take,
    Tier,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Hint, Started
from failhook.evidence import Evidence

_EVENTS: Final = "https://github.com/hashicorp/nomad/blob/main/nomad/structs/structs.go"
_DESIRED: Final = "https://github.com/hashicorp/nomad/blob/main/scheduler/structs/const.go"
_STATUS: Final = "https://developer.hashicorp.com/nomad/api-docs/allocations"
_FIELDS: Final = ("ClientStatus", "DesiredStatus", "TaskStates", "DesiredDescription")
_CODE: Final = re.compile(r"Exit Code: (\d{1,5})")
_SIGNAL: Final = re.compile(r"Signal: (\d{1,3})")
_START: Final = frozenset({"Driver Failure", "Setup Failure"})
_LOOP: Final = frozenset({"Restarting", "Not Restarting", "Restart Signaled", "Killed"})


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the allocation, and the last telling event of its main task."""
    document = Record(evidence.facts)
    alloc = document.holder("TaskStates", "ClientStatus")
    if evidence.system != "nomad" and not ("taskstates" in alloc or "clientstatus" in alloc):
        return
    facts.read("nomad.status", alloc.text("ClientStatus"), "ClientStatus")
    facts.read("nomad.desired", alloc.text("DesiredStatus"), "DesiredStatus")
    facts.read("nomad.why", alloc.text("DesiredDescription"), "DesiredDescription")
    facts.read("node", alloc.text("NodeName", "NodeID"))
    if alloc.text("PreemptedByAllocation"):
        facts["nomad.preempted"] = True
    task = _main(alloc.record("TaskStates"), evidence.context.get("main_container"))
    events = task.records("Events") or document.records("Events", "task_events")
    _read_events(events, facts)


def _main(states: Record, name: object) -> Record:
    """Return the task that is meant: by name, the only one, or the first that failed."""
    tasks = [(key, states.record(key)) for key in states.names()]
    if isinstance(name, str):
        tasks = [(key, task) for key, task in tasks if key == Record({name: 1}).names()[0]] or tasks
    failed = (task for _, task in tasks if task.flag("Failed"))
    return next(failed, tasks[0][1] if tasks else Record())


def _read_events(events: tuple[Record, ...], facts: Facts) -> None:
    kinds: list[str] = []
    for event in events:
        kind = event.text("Type")
        if kind is None:
            continue
        if kind == "Started":
            kinds.clear()  # what came before belongs to an earlier run of the task
            for name in ("container.error", "nomad.oom_killed", "nomad.killing"):
                facts.pop(name, None)
        if kind not in _LOOP:
            kinds.append(kind)
        if kind == "Terminated":
            _read_end(event, facts)
        if kind in _START and (error := _message(event)):
            facts.read("container.error", error, "TaskStates.Events")
            facts["container.token"] = kind.replace(" ", "")
        if kind == "Killing":
            facts.read("nomad.killing", _message(event), "TaskStates.Events")
        facts.read("nomad.message", _message(event), "TaskStates.Events")
    facts.read_texts("nomad.events", kinds[-40:])


def _message(event: Record) -> str | None:
    return event.text(
        "DriverError", "SetupError", "DownloadError", "ValidationError", "KillReason",
        "DisplayMessage", "Message",
    )  # fmt: skip


def _read_end(event: Record, facts: Facts) -> None:
    details = event.record("Details")
    message = event.text("DisplayMessage", "Message") or ""
    if details.flag("oom_killed") or event.flag("OOMKilled") or "OOM Killed" in message:
        facts["nomad.oom_killed"] = True
    code = event.whole("ExitCode")
    code = details.whole("exit_code") if code is None else code
    signal = event.whole("Signal") or details.whole("signal")
    if code is None and (found := _CODE.search(message)):
        code = int(found[1])
    if not signal and (found := _SIGNAL.search(message)):
        signal = int(found[1])
    facts.pop("exit_code", None)
    facts.pop("signal", None)
    if signal:
        facts["signal"] = signal
    elif code:
        facts["exit_code"] = code


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know an allocation as ``nomad alloc status -json`` prints it."""
    document = Record(record)
    return Evidence("nomad", record) if "clientstatus" in document and "jobid" in document else None


_rule: Final = Table(
    prefix="nomad",
    source=_EVENTS,
    next_step="Look at the allocation's events: nomad alloc status ALLOC.",
).row


# fmt: off
RULES: Final = (
    _rule(
        "node-down", {"nomad.why": has("node is down", "node is disconnected")}, INFRA, "NodeLost",
        "The client under the allocation was lost.", source=_DESIRED, deterministic=False,
    ),
    _rule(
        "lost", {"nomad.status": one_of("lost", "unknown")}, INFRA, "NodeLost",
        "The client under the allocation was lost.", source=_STATUS, deterministic=False,
    ),
    _rule(
        "preempted", {"nomad.preempted": True}, INFRA, "Preempted",
        "An allocation of higher priority took its place.", source=_STATUS, deterministic=False,
    ),
    _rule(
        "evicted", {"nomad.desired": "evict"}, INFRA, "Preempted",
        "The scheduler evicted the allocation.", source=_STATUS, deterministic=False,
    ),
    _rule(
        "drained", {"nomad.why": has("being migrated", "node is tainted")}, INFRA, "NodeShutdown",
        "The client was being drained.", source=_DESIRED, deterministic=False,
    ),
    _rule(
        "oom-killed", {"nomad.oom_killed": True}, APPLICATION, "OOMKilled",
        "The task passed its memory limit.", hint=Hint.MORE_MEMORY,
    ),
    _rule(
        "disk", {"nomad.events": "Disk Resources Exceeded"}, APPLICATION, "DiskResourcesExceeded",
        "The task group passed the disk space that it asked for.",
    ),
    _rule(
        "invalid", {"nomad.events": "Failed Validation"}, APPLICATION, "FailedValidation",
        "The task is invalid, so it did not run.", deterministic=True, started=Started.NO,
    ),
    _rule(
        "artifact.missing",
        {"nomad.events": "Failed Artifact Download",
         "nomad.message": like(r"(?i)\b40[0-9]\b|not found|no such|forbidden|denied|checksum|"
                               r"invalid|unsupported")},
        APPLICATION, "FailedArtifactDownload", "An artifact of the task is not there.",
        deterministic=True, confidence=LIKELY, started=Started.NO,
    ),
    _rule(
        "artifact", {"nomad.events": "Failed Artifact Download"}, INFRA, "FailedArtifactDownload",
        "An artifact of the task could not be fetched.", deterministic=False, confidence=LIKELY,
        started=Started.NO,
    ),
    _rule(
        "max-run",
        {"nomad.killing": like(r"(?i)max.?run|deadline|timed? ?out|exceeded .{0,40}time")},
        TIMEOUT, "ExecutionTimeout", "Nomad ended the task at a deadline.", confidence=LIKELY,
    ),
    _rule(
        "update", {"nomad.why": has("due to job update", "alloc not needed")}, MANUAL, "JobUpdated",
        "Somebody changed or stopped the job.", source=_DESIRED, confidence=LIKELY,
    ),
    _rule(
        "collateral",
        {"nomad.events": one_of("Sibling Task Failed", "Leader Task Dead", "Main Tasks Dead")},
        UNKNOWN, "UpstreamFailed", "It was ended because another task of its group had ended.",
        confidence=GUESS,
    ),
    _rule(
        "platform",
        {"nomad.events": one_of("Task hook failed", "Failed Restoring Task",
                                "Plugin became unhealthy")},
        INFRA, Take("nomad.message", "TaskHookFailed"), "The client failed around the task.",
        confidence=LIKELY, started=Started.MAYBE,
    ),
    _rule(
        "stopped", {"nomad.events": "Killing", "nomad.desired": "stop"}, MANUAL, "Killed",
        "Somebody stopped the job.", confidence=LIKELY,
    ),
    _rule(
        "killed", {"nomad.events": "Killing", "exit_code": PRESENT}, UNKNOWN, "Killed",
        "Nomad ended the task, and nothing tells for whom.", confidence=GUESS,
    ),
    _rule(
        "start", {"nomad.events": one_of("Driver Failure", "Setup Failure"),
                  "container.error": ABSENT},
        UNKNOWN, "DriverFailure", "The driver could not start the task.", confidence=GUESS,
        started=Started.NO,
    ),
    _rule(
        "failed", {"nomad.status": PRESENT}, UNKNOWN, Take("nomad.status"),
        "Nothing tells why the allocation ended.", source=_STATUS, tier=Tier.NOTHING,
        confidence=GUESS,
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="nomad",
    systems=frozenset({"nomad"}),
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
