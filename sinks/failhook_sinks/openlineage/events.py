"""From one failure event to the run events that tell it. Imported on first use."""

from __future__ import annotations

from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import RunFacet

from failhook.plugin import EventType, FailureEvent, Kind, to_rfc3339
from failhook_sinks.openlineage import facets
from failhook_sinks.openlineage.facet import KEY
from failhook_sinks.openlineage.runs import Span, run_id, span


def whole_run(event: FailureEvent, *, brief: bool = False) -> list[RunEvent]:
    """Return the start and the end of a run that nobody else tells of.

    Each has all that it needs, so that one told again, late or out of order changes nothing.

    Args:
        event: what happened.
        brief: leave out what is large: the traceback, the phases and the labels.
    """
    task, times = event.task, span(event)
    run = run_id(event)
    told = facets.frame(event) | {"tags": facets.tags(event, brief=brief)}
    told |= _failure(event, times, brief=brief)
    return [
        RunEvent(
            eventType=state,
            eventTime=to_rfc3339(moment),
            run=Run(runId=run, facets=run_facets),
            job=Job(namespace=task.namespace, name=_job_name(event), facets=facets.job(task)),
            producer=facets.PRODUCER,
        )
        for state, moment, run_facets in (
            (RunState.START, times.start, facets.frame(event)),
            (_end(event), times.end, told),
        )
    ]


def enrichment(event: FailureEvent, run: str, *, brief: bool = False) -> list[RunEvent]:
    """Return what an orchestrator's own run is to be told: how it ended, and why.

    A recovery is the orchestrator's to tell. No facet is sent but those of the failure, since one
    of the same name would take the place of the orchestrator's.

    Args:
        event: what happened.
        run: the orchestrator's id of the attempt's run.
        brief: as in `whole_run`.
    """
    if event.type is EventType.RECOVERED:
        return []
    times = span(event)
    return [
        RunEvent(
            eventType=_end(event),
            eventTime=to_rfc3339(times.end),
            run=Run(runId=run, facets=_failure(event, times, brief=brief)),
            job=Job(namespace=event.task.namespace, name=_job_name(event)),
            producer=facets.PRODUCER,
        )
    ]


def _failure(event: FailureEvent, times: Span, *, brief: bool) -> dict[str, RunFacet]:
    """Return why the run failed; a success that nothing is said against has nothing to tell."""
    if event.type is EventType.RECOVERED:
        return {}
    return {
        "errorMessage": facets.error_message(event, brief=brief),
        KEY: facets.failure(event, times, brief=brief),
    }


def _job_name(event: FailureEvent) -> str:
    return f"{event.task.workflow}.{event.task.name}"


def _end(event: FailureEvent) -> RunState:
    """Return how the run ended; what was marked failed by hand has failed, not been stopped."""
    if event.succeeded or event.type in {EventType.RECOVERED, EventType.SUSPECT_SUCCESS}:
        return RunState.COMPLETE
    details = event.failure_details
    marked = details.reason.replace("_", "").casefold() == "markedfailed"
    return RunState.ABORT if details.kind is Kind.MANUAL and not marked else RunState.FAIL
