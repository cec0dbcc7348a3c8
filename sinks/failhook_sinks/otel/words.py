"""An event in OpenTelemetry's words: attributes of spans, records and numbers.

Names are those of the semantic conventions 1.44 for CI/CD pipelines, errors, exceptions and
processes; what these have no name for begins with ``failhook.``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from failhook.plugin import EventType, FailureDetails, FailureEvent, Kind
from failhook_sinks.otel.attempt import steps, times

Value = str | int | float | bool | tuple[str, ...]
Attributes = dict[str, Value]

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"

_RESULTS: Final[Mapping[Kind, str]] = {
    Kind.APPLICATION: "failure",
    Kind.INFRA: "error",
    Kind.TIMEOUT: "timeout",
    Kind.MANUAL: "cancellation",
    Kind.UNKNOWN: "failure",
}
"""The values of ``cicd.pipeline.task.run.result``; what is unknown counts as it always did."""

_DESCRIPTION: Final = 256
"""Characters of a span's status; the whole text is in the log record."""
_MESSAGE: Final = 4_096


def result(event: FailureEvent) -> str:
    """Return the value of ``cicd.pipeline.task.run.result``."""
    return "success" if _succeeded(event) else _RESULTS[event.failure_details.kind]


def is_error(event: FailureEvent) -> bool:
    """Return whether the span's status is ERROR; a cancel is none."""
    return not _succeeded(event) and event.failure_details.kind is not Kind.MANUAL


def span_name(event: FailureEvent) -> str:
    """Return the name of the span; it has few values."""
    return f"{event.task.workflow}.{event.task.name}"


def description(event: FailureEvent) -> str:
    """Return what a span's status says: what went wrong, without the stack."""
    details = event.failure_details
    text = details.message or f"{details.kind.value} {details.reason}"
    return text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 1]}…"


def attempt(event: FailureEvent) -> Attributes:
    """Return the attributes of the attempt's span."""
    found = _where(event) | {"cicd.pipeline.task.run.result": result(event)}
    if is_error(event):
        found["error.type"] = _error_type(event)
    if event.type is not EventType.RECOVERED:
        found |= _failure(event.failure_details)
    return found | _decision(event) | _labels(event)


def note(event: FailureEvent) -> Attributes:
    """Return the attributes of what is said of an attempt later on."""
    found = _where(event) | _failure(event.failure_details)
    if event.previous is not None:
        found["failhook.previous.kind"] = event.previous.kind.value
        found["failhook.previous.reason"] = event.previous.reason
    if event.succeeded:
        found["failhook.succeeded"] = True
    return found


def record(event: FailureEvent) -> Attributes:
    """Return the attributes of the log record: those of the span, and the exception."""
    found = note(event) if event.type is EventType.AMENDED else attempt(event)
    error = event.error
    if error is None or event.type is EventType.RECOVERED:
        return found
    if error.type != "builtins.str":  # plain text that was never an exception
        found["exception.type"] = error.name
    for name, text in (("message", error.message), ("stacktrace", error.traceback)):
        if text:
            found[f"exception.{name}"] = text
    return found


def numbers(event: FailureEvent) -> Attributes:
    """Return the attributes of counters and histograms: names and tokens, no ids and no texts."""
    task, details = event.task, event.failure_details
    found: Attributes = {
        "cicd.pipeline.name": task.workflow,
        "cicd.pipeline.task.name": task.name,
        "cicd.pipeline.task.run.result": result(event),
    }
    if executor := details.executor or task.executor:
        found["failhook.executor"] = executor
    if _succeeded(event):
        return found
    found["failhook.failure.kind"] = details.kind.value
    if is_error(event):
        found["error.type"] = _error_type(event)
    if event.decision is not None:
        found["failhook.retry.decision"] = event.decision.action.value
    return found


def seconds(event: FailureEvent) -> float | None:
    """Return how long the attempt ran; None where its start was not seen."""
    start, end = times(event)
    return None if event.started_at is None else (end - start).total_seconds()


def body(event: FailureEvent) -> str:
    """Return the event in one sentence or two."""
    details, task, decision = event.failure_details, event.task, event.decision
    of = "" if decision is None else f" of {decision.max_tries + 1}"
    who = f"{span_name(event)} attempt {task.attempt}"
    why = f"{details.kind.value} {details.reason}"
    said = f": {details.message.rstrip('.')}"[:_MESSAGE] if details.message else ""
    match event.type:
        case EventType.RECOVERED:
            return f"{who} succeeded; an attempt before had failed: {why}"
        case EventType.SUSPECT_SUCCESS:
            return f"{who} reported success, which is in doubt: {why}{said}"
        case EventType.AMENDED if event.succeeded:
            return f"{who} had been given up, and has succeeded after all: {why}{said}"
        case EventType.AMENDED:
            return f"{who}: the verdict is now {why}{said}"
        case _:
            then = "" if decision is None else f"; {decision.message}"
            return f"{who}{of} failed: {why}{said}{then}"


def phases(event: FailureEvent) -> Iterator[tuple[str, int, Attributes]]:
    """Yield name, number and attributes of each phase that gets a span."""
    for number, step in enumerate(steps(event)):
        found: Attributes = {"failhook.phase": step.name}
        if step.message:
            found["failhook.phase.message"] = step.message
        yield step.name, number, found


def _succeeded(event: FailureEvent) -> bool:
    return event.type in {EventType.RECOVERED, EventType.SUSPECT_SUCCESS}


def _error_type(event: FailureEvent) -> str:
    return event.failure_details.reason or "_OTHER"


def _where(event: FailureEvent) -> Attributes:
    task, details = event.task, event.failure_details
    node = None if event.type is EventType.RECOVERED else details.node  # of the one that failed
    return _known(
        {
            "cicd.pipeline.name": task.workflow,
            "cicd.pipeline.run.id": task.run_id,
            "cicd.pipeline.task.name": task.name,
            "cicd.pipeline.task.run.id": task.attempt_key,
            "cicd.pipeline.task.run.url.full": task.log_url,
            "cicd.worker.name": node,
            "failhook.event": event.type.value,
            "failhook.namespace": task.namespace,
            "failhook.attempt": task.attempt,
            "failhook.map_index": task.map_index,
            "failhook.executor": details.executor or task.executor,
            "failhook.owner": task.owner,
            "failhook.simulated": event.simulated or None,
        }
    )


def _failure(details: FailureDetails) -> Attributes:
    return _known(
        {
            "process.exit.code": details.exit_code,
            "failhook.failure.kind": details.kind.value,
            "failhook.failure.reason": details.reason,
            "failhook.failure.confidence": details.confidence.value,
            "failhook.failure.deterministic": details.deterministic,
            "failhook.failure.rule": details.rule or None,
            "failhook.failure.evidence": tuple(
                f"{fact.path}={fact.value}" for fact in details.evidence
            ),
            "failhook.failure.started": details.started.value,
            "failhook.failure.signal": details.signal,
            "failhook.failure.code": details.code,
            "failhook.failure.actor": details.actor,
            "failhook.failure.hint": details.hint and details.hint.value,
        }
    )


def _decision(event: FailureEvent) -> Attributes:
    decision, first = event.decision, event.first_failure
    found: dict[str, Value | None] = {}
    if first is not None:
        found["failhook.first_failure.kind"] = first.kind.value
        found["failhook.first_failure.reason"] = first.reason
        found["failhook.first_failure.error"] = event.first_error or None
    if decision is not None:
        found |= {
            "failhook.attempt.max": decision.max_tries + 1,
            "failhook.retry.decision": decision.action.value,
            "failhook.retry.charge": decision.charge.value,
            "failhook.retry.rule": decision.because.rule,
            "failhook.retry.delay": decision.delay if decision.retry else None,
            "failhook.retry.code": decision.code,
        }
        after = decision.after
        for name, used, limit in (
            ("user", after.user, after.user_limit),
            ("infra", after.infra, after.infra_limit),
            ("system", after.system, after.system_limit),
        ):
            found[f"failhook.budget.{name}.used"] = used
            found[f"failhook.budget.{name}.limit"] = limit
    return _known(found)


def _labels(event: FailureEvent) -> Attributes:
    return {f"failhook.label.{name}": value for name, value in event.task.labels.items()}


def _known(found: Mapping[str, Value | None]) -> Attributes:
    return {name: value for name, value in found.items() if value is not None and value != ()}
