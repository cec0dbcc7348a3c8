"""The facets of an event: standard ones, and failhook's own. Imported on first use."""

from __future__ import annotations

from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from typing import Any, Final

from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    error_message_run,
    job_type_job,
    nominal_time_run,
    ownership_job,
    parent_run,
    processing_engine_run,
    tags_run,
)

from failhook.plugin import (
    Counters,
    ErrorInfo,
    EventType,
    FailureDetails,
    FailureEvent,
    PhaseHistory,
    Task,
    to_rfc3339,
)
from failhook_sinks.openlineage.facet import (
    Budget,
    Budgets,
    FailhookFailureRunFacet,
    PhaseSpan,
    Verdict,
)
from failhook_sinks.openlineage.runs import RUN_ID_LABEL, Span, parent_run_id

NAME: Final = "FAILHOOK"


def _version() -> str:
    try:
        return version("failhook")
    except PackageNotFoundError:  # run from a checkout that was not installed
        return "unknown"


VERSION: Final = _version()
PRODUCER: Final = f"urn:failhook:{VERSION}"
_OURS: Final[dict[str, Any]] = {"producer": PRODUCER}

_SHORT: Final = 500
"""Characters of a message that stay when the backend finds an event too large."""


def frame(event: FailureEvent) -> dict[str, RunFacet]:
    """Return what places a run: the workflow's run, the time it stands for, and us."""
    task = event.task
    root = parent_run.Root(
        run=parent_run.RootRun(runId=parent_run_id(task)),
        job=parent_run.RootJob(namespace=task.namespace, name=task.workflow),
    )
    facets: dict[str, RunFacet] = {
        "parent": parent_run.ParentRunFacet(
            run=parent_run.Run(runId=parent_run_id(task)),
            job=parent_run.Job(namespace=task.namespace, name=task.workflow),
            root=root,
            **_OURS,
        ),
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=VERSION, name="failhook", openlineageAdapterVersion=VERSION, **_OURS
        ),
    }
    if task.logical_time is not None:
        facets["nominalTime"] = nominal_time_run.NominalTimeRunFacet(
            nominalStartTime=to_rfc3339(task.logical_time), **_OURS
        )
    return facets


def job(task: Task) -> dict[str, JobFacet]:
    """Return what a job is and who owns it."""
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet(
            processingType="BATCH", integration=NAME, jobType="TASK", **_OURS
        )
    }
    if task.owner:
        facets["ownership"] = ownership_job.OwnershipJobFacet(
            owners=[ownership_job.Owner(name=task.owner)], **_OURS
        )
    return facets


def tags(event: FailureEvent, *, brief: bool) -> RunFacet:
    """Return what backends filter by that do not look into facets they do not know."""
    details, task = event.failure_details, event.task
    found = {
        "failhook.event": event.type.value,
        "failhook.attempt": str(task.attempt),
        "failhook.map_index": "" if task.map_index is None else str(task.map_index),
        "failhook.executor": details.executor or task.executor or "",
        "failhook.simulated": "true" if event.simulated else "",
    }
    if event.type is not EventType.RECOVERED and not event.succeeded:
        found |= {
            "failhook.failure.kind": details.kind.value,
            "failhook.failure.reason": details.reason,
            "failhook.retry.decision": event.decision.action.value if event.decision else "",
        }
    if not brief:
        labels = event.task.labels.items()
        found |= {name: value for name, value in labels if name != RUN_ID_LABEL}
    return tags_run.TagsRunFacet(
        tags=[
            tags_run.TagsRunFacetFields(key=name, value=value, source=NAME)
            for name, value in found.items()
            if value
        ],
        **_OURS,
    )


def error_message(event: FailureEvent, *, brief: bool) -> RunFacet:
    """Return what went wrong in words; without a traceback where it must be small."""
    error, details = event.error, event.failure_details
    message = details.message if error is None else _headline(error)
    trace = "" if error is None else error.traceback
    if brief:
        trace = "left out: the backend found the event too large" if trace else ""
        message = message[:_SHORT]
    return error_message_run.ErrorMessageRunFacet(
        message=message or f"{details.kind.value} {details.reason}",
        programmingLanguage="unknown" if error is None else "python",
        stackTrace=trace or None,
        **_OURS,
    )


def failure(event: FailureEvent, span: Span, *, brief: bool) -> RunFacet:
    """Return failhook's own facet."""
    details, decision, previous = event.failure_details, event.decision, event.previous
    retry_at = None
    if decision is not None and decision.retry:
        retry_at = to_rfc3339(span.end + timedelta(seconds=decision.delay))
    succeeded = event.succeeded or event.type is EventType.SUSPECT_SUCCESS
    return FailhookFailureRunFacet(
        kind=details.kind.value,
        reason=details.reason,
        attempt=event.task.attempt,
        mapIndex=event.task.map_index,
        logUrl=event.task.log_url,
        retryDecision="none" if decision is None else decision.action.value,
        executor=details.executor or event.task.executor,
        maxAttempts=None if decision is None else decision.max_tries + 1,
        exitCode=details.exit_code,
        signal=details.signal,
        deterministic=details.deterministic,
        confidence=details.confidence.value,
        rule=details.rule or None,
        started=details.started.value,
        node=details.node,
        code=details.code,
        charge=None if decision is None else decision.charge.value,
        budgets=None if decision is None else _budgets(decision.after),
        nextRetryAt=retry_at,
        phases=None if brief else _phases(event.phases, span) or None,
        previous=None if previous is None else _verdict(previous),
        succeeded=succeeded or None,
        simulated=event.simulated or None,
        **_OURS,
    )


def _verdict(details: FailureDetails) -> Verdict:
    return Verdict(kind=details.kind.value, reason=details.reason)


def _headline(error: ErrorInfo) -> str:
    if error.type == "builtins.str":  # plain text that was never an exception
        return error.message
    return f"{error.name}: {error.message}" if error.message.strip() else error.name


def _budgets(after: Counters) -> Budgets:
    return Budgets(
        user=Budget(used=after.user, limit=after.user_limit),
        infra=Budget(used=after.infra, limit=after.infra_limit),
        system=Budget(used=after.system, limit=after.system_limit),
    )


def _phases(history: PhaseHistory, span: Span) -> list[PhaseSpan]:
    """Return the phases up to the end of this attempt; later ones are other runs' affair."""
    passed = [each for each in history.transitions if each.occurred_at <= span.end]
    starts = [to_rfc3339(each.occurred_at) for each in passed]
    return [
        PhaseSpan(name=each.phase, startTime=start, endTime=end)
        for each, start, end in zip_longest(passed, starts, starts[1:])
    ]
