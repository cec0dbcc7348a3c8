"""Google Cloud Batch: status events, and the exit codes that Batch keeps for itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, Shorthand, like, one_of
from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Confidence, Kind, Started
from failhook.evidence import Evidence

_SYSTEMS: Final = frozenset({"gcp-batch", "google-batch", "gcp_batch", "google-lifesciences"})
_CODES: Final = "https://cloud.google.com/batch/docs/troubleshooting#reserved-exit-codes"
_EVENT: Final = "https://cloud.google.com/batch/docs/reference/rest/v1/StatusEvent"
_JOB: Final = "https://cloud.google.com/batch/docs/reference/rest/v1/projects.locations.jobs"
_EXIT: Final = re.compile(r"(?i)\bexit code:? (\d{1,6})\b")
_ERROR: Final = re.compile(r"\bCODE_[A-Z_]{3,60}\b")
_START: Final = re.compile(r"Task state is updated from (?:PENDING|ASSIGNED) to FAILED")
_FIRST_RESERVED: Final = 50_000
_LAST_RESERVED: Final = 59_999


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the state and the last event that tells of a failure; older ones are history."""
    if evidence.system not in _SYSTEMS and not _is_ours(evidence.facts):
        return
    document = Record(evidence.facts)
    status = document.record("status") or document.holder("statusEvents", "taskExecution")
    events = status.records("statusEvents", "events")
    state = status.text("state")
    facts.read("gcp.state", state, "status.state")
    event = _deciding(events)
    text = event.text("description") or status.text("message", "error", "description") or ""
    facts.read("gcp.said", text or None, "status.statusEvents")
    if error := _ERROR.search(text):
        facts["gcp.error"] = error[0]
    if _START.search(text):
        facts["gcp.never_started"] = True
    code = event.record("taskExecution").whole("exitCode")
    if code is None:
        code = status.whole("exitCode", "exit_code", "exit_status")
    if code is None and (found := _EXIT.findall(text)):
        code = int(found[-1])
    if code is None or state == "SUCCEEDED":
        return
    if _FIRST_RESERVED <= code <= _LAST_RESERVED:
        facts["gcp.code"] = code
    elif code:
        facts["exit_code"] = code


def _is_ours(document: Mapping[str, Any]) -> bool:
    """Return at once where there are no status events: many other records have a status."""
    status = document.get("status")
    return any(
        name in found
        for found in (document, status)
        if isinstance(found, Mapping)
        for name in ("statusEvents", "status_events")
    )


def _deciding(events: tuple[Record, ...]) -> Record:
    """Return the last event, by time, that tells of a failure; the last one, if none does."""
    ordered = sorted(events, key=lambda event: event.text("eventTime") or "")
    failed = [
        event
        for event in ordered
        if "FAILED" in (event.text("taskState") or "", *(event.text("description") or "").split())
        or event.record("taskExecution").whole("exitCode")
    ]
    told = [event for event in failed if _EXIT.search(event.text("description") or "")]
    return (told or failed or ordered or [Record()])[-1]


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job or task as ``gcloud batch jobs describe`` prints it."""
    document = Record(record)
    if document.record("status").records("statusEvents") or "taskGroups" in document:
        return Evidence("gcp-batch", record)
    return None


def _reserved(
    code: int,
    kind: Kind,
    reason: str,
    because: str,
    *,
    deterministic: bool | None = False,
    confidence: Confidence = CONFIRMED,
    pending: bool = False,
) -> Rule:
    """Make a rule on a reserved code; `pending` narrows it to tasks that had not begun."""
    when: dict[str, Shorthand] = {"gcp.code": code}
    if pending:
        when["gcp.never_started"] = True
    return Rule(
        id=f"gcp-batch.code.{code}.pending" if pending else f"gcp-batch.code.{code}",
        tier=Tier.DISRUPTION,
        when=when,
        kind=kind,
        reason=reason,
        deterministic=deterministic,
        confidence=confidence,
        started=Started.NO if pending else None,
        because=because,
        source=_CODES,
        next_step="Look at the task's events: gcloud batch tasks describe.",
    )


_said: Final = Table(
    prefix="gcp-batch",
    source=_EVENT,
    next_step="Look at the job's events: gcloud batch jobs describe.",
    confidence=LIKELY,
).row


# fmt: off
RULES: Final = (
    _reserved(50001, INFRA, "SpotPreemption", "The spot VM was taken back first.", pending=True),
    _reserved(50001, INFRA, "SpotPreemption", "The spot VM was taken back."),
    _reserved(50002, INFRA, "VMReportingTimeout", "Batch heard nothing of the VM.", pending=True),
    _reserved(50002, INFRA, "VMReportingTimeout", "Batch heard nothing of the VM any more."),
    _reserved(50003, INFRA, "VMReboot", "The VM restarted under the task."),
    _reserved(50004, INFRA, "VMUnresponsive", "The VM could not end the task when asked to."),
    _reserved(50005, TIMEOUT, "MaxRunDuration", "The task reached its maxRunDuration.",
              deterministic=None),
    _reserved(50006, INFRA, "VMRecreated", "The VM was made anew under the task."),
    _said(
        "cancelled",
        {"gcp.state": one_of("CANCELLED", "CANCELLATION_IN_PROGRESS")},
        MANUAL, "CANCELLED", "Somebody cancelled the job.", source=_JOB, confidence=CONFIRMED,
    ),
    _said(
        "deleted", {"gcp.state": "DELETION_IN_PROGRESS"}, MANUAL, "DELETION_IN_PROGRESS",
        "Somebody deletes the job.", source=_JOB, confidence=CONFIRMED,
    ),
    _said(
        "refused",
        {
            "gcp.said": like(
                r"CODE_(?:MACHINE_TYPE_NOT_FOUND|GCE_PERMISSION_DENIED|INVALID|GCE_SERVICE_ACCOUNT|"
                r"GCE_.{0,30}NOT_FOUND)|INVALID_ARGUMENT|invalid_field|PERMISSION_DENIED"
            )
        },
        APPLICATION, Take("gcp.error", "SpecError"),
        "The job asks for something that is not there or not allowed.",
        deterministic=True, started=Started.NO,
    ),
    _said(
        "no-capacity",
        {
            "gcp.said": like(
                r"CODE_GCE_(?:ZONE_RESOURCE_POOL_EXHAUSTED|QUOTA_EXCEEDED)|RESOURCE_EXHAUSTED|"
                r"ZONE_RESOURCE_POOL_EXHAUSTED|QUOTA_EXCEEDED|does not have enough resources"
            )
        },
        INFRA, Take("gcp.error", "InsufficientCapacity"),
        "The zone, or the project's quota, had no room.",
        deterministic=False, started=Started.NO,
    ),
    _said(
        "preempted", {"gcp.said": like(r"(?i)\b(?:VM|worker|instance|machine)\b[^\n]{0,120}"
                                       r"\b(?:preempt(?:ed|ion)|stopped unexpectedly)")},
        INFRA, "SpotPreemption", "The VM was taken back.", deterministic=False,
    ),
    _said(
        "agent-lost", {"gcp.said": like(r"(?i)no longer receives VM updates|"
                                        r"assigned worker has failed to complete|VM is (?:rebooted|"
                                        r"recreated) during")},
        INFRA, "VMReportingTimeout", "The VM was lost under the task.", deterministic=False,
    ),
    _said(
        "max-run-duration", {"gcp.said": like(r"runs over the maximum runtime")}, TIMEOUT,
        "MaxRunDuration", "The task reached its maxRunDuration.", confidence=CONFIRMED,
    ),
    _said(
        "unknown-cause", {"gcp.code": PRESENT}, UNKNOWN, "50000",
        "The code says that Batch does not know the cause.", tier=Tier.NOTHING, source=_CODES,
        confidence=GUESS,
    ),
    _said(
        "failed", {"gcp.state": PRESENT}, UNKNOWN, "FAILED", "Batch does not say why.",
        tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="gcp_batch",
    systems=_SYSTEMS,
    fields=frozenset({"status", "statusEvents", "status_events", "taskGroups"}),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
