"""Reads AWS Batch jobs and ECS tasks: how the service says they stopped, and their containers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.evidence import Evidence

BATCH: Final = frozenset({"aws-batch", "aws_batch", "awsbatch"})
ECS: Final = frozenset({"ecs", "aws-ecs", "fargate", "ecs-fargate", "aws-fargate"})
FIELDS: Final = (
    *("statusReason", "status_reason", "stopCode", "stop_code", "stoppedReason", "stopped_reason"),
    *("lastStatus", "last_status", "attempts", "containers", "tasks", "detail", "jobArn"),
    *("job_status", "failures"),
)

_ERROR: Final = re.compile(r"^\s{0,4}([A-Z]\w{3,60}(?:Error|Exception))\b")
_START: Final = re.compile(
    r"^\s{0,4}(?:Cannot(?:Pull|Start|Create|Inspect)\w{1,40}|Container\w{0,40}Error|"
    r"DockerTimeoutError|DockerStateError|ContainerRuntimeTimeoutError)\b"
)
_OUT_OF_MEMORY: Final = re.compile(r"^\s{0,4}(?:OutOfMemory(?:Error)?|OOMKilled)\b")
_OWN: Final = ("stopcode", "stoppedreason", "statusreason", "taskarn", "jobarn", "laststatus")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the last attempt: its status, its reasons, its main container."""
    document = Record(evidence.facts)
    batch = evidence.system in BATCH
    if not batch and evidence.system not in ECS and not _is_ours(document):
        return
    task = _task(document)
    last = (task.records("attempts", "eksAttempts") or (Record(),))[-1]
    containers = _containers(task, last)
    main = _main(containers, evidence.context.get("main_container"))
    said = (
        *task.texts("statusReason", "stoppedReason"),
        *last.texts("statusReason"),
        *(main or Record()).texts("reason"),
        *(failure.text("reason") or "" for failure in document.records("failures")),
    )
    facts.read("aws.status", task.text("status", "lastStatus", "jobStatus"))
    facts.read("aws.stop_code", task.text("stopCode"), "stopCode")
    facts.read("aws.status_reason", task.text("statusReason"), "statusReason")
    facts.read_texts("aws.said", [text for text in said if text])
    if task.flag("isCancelled", "isTerminated"):
        facts["aws.terminated"] = True
    _read_errors(said, facts)
    _read_container(main, containers, facts)
    if "exit_code" not in facts and (code := task.whole("exitStatus", "exitCode")):
        facts["exit_code"] = code
    if batch or "statusreason" in task:
        facts["aws.batch"] = True


def _is_ours(document: Record) -> bool:
    inner = (
        found
        for name in ("detail", "tasks", "jobs", "state")
        for found in document.records(name)[:1]
    )
    return any(field in record for record in (document, *inner) for field in _OWN)


def _task(document: Record) -> Record:
    """Return the job or task itself: bare, in an event, or the failed one of a description."""
    document = document.record("detail") or document
    every = document.records("jobs") or document.records("tasks")
    if every:
        failed = (one for one in every if one.text("status", "lastStatus") in ("FAILED", "STOPPED"))
        return next(failed, every[0])
    return document.holder(*_OWN)


def _containers(task: Record, last: Record) -> tuple[Record, ...]:
    return (
        task.records("containers")
        or last.records("containers")
        or last.records("container")
        or task.records("container")
    )


def _main(containers: tuple[Record, ...], name: object) -> Record | None:
    """Return the container that is the task: by name, the only one, or the one that failed."""
    named = [one for one in containers if isinstance(name, str) and one.text("name") == name]
    if named or len(containers) <= 1:
        return (*named, *containers, None)[0]
    failed = (one for one in containers if one.text("reason") or one.whole("exitCode"))
    return next(failed, containers[0])


def _read_errors(said: tuple[str, ...], facts: Facts) -> None:
    for text in said:
        found = _ERROR.match(text)
        if found is not None:
            facts.setdefault("container.token", found[1])
        if _START.match(text):
            facts.setdefault("container.error", text)
        if _OUT_OF_MEMORY.match(text):
            facts["aws.out_of_memory"] = True


def _read_container(main: Record | None, every: tuple[Record, ...], facts: Facts) -> None:
    code = None if main is None else main.whole("exitCode")
    if code:
        facts["exit_code"] = code
    elif code == 0 and any(one.whole("exitCode") for one in every):
        facts["aws.sidecar_failed"] = True


def batch_shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job as ``aws batch describe-jobs`` prints it."""
    document = Record(record)
    for job in document.records("jobs") or (document,):
        if "jobarn" in job or ("jobqueue" in job and "jobdefinition" in job):
            return Evidence("aws-batch", record)
        break
    return None


def ecs_shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a task as ``aws ecs describe-tasks`` prints it, and its state-change event."""
    document = Record(record)
    for task in document.records("tasks") or document.records("detail") or (document,):
        if "taskarn" in task and ("laststatus" in task or "stoppedreason" in task):
            return Evidence("ecs", record)
        break
    return None
