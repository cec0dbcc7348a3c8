"""Log records: one per event, within the context of its span, with the exception where one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry._logs import LoggerProvider, LogRecord, SeverityNumber

from failhook.plugin import EventType, FailureEvent, Kind
from failhook_sinks.otel import words
from failhook_sinks.otel.attempt import nanoseconds, times
from failhook_sinks.otel.scope import SCOPE, VERSION
from failhook_sinks.otel.traces import context_of

_NAMES: Final[Mapping[EventType, str]] = {
    EventType.FAILED: "failhook.task.failed",
    EventType.RECOVERED: "failhook.task.recovered",
    EventType.AMENDED: "failhook.task.amended",
    EventType.SUSPECT_SUCCESS: "failhook.task.suspect_success",
}


class Logs:
    """Writes log records with a provider, the host's or our own."""

    def __init__(self, provider: LoggerProvider) -> None:
        self._logger = provider.get_logger(SCOPE, VERSION, schema_url=words.SCHEMA_URL)

    def tell(self, event: FailureEvent, span: str | None) -> None:
        """Write the record of an event.

        Args:
            event: what happened.
            span: the traceparent of its span.
        """
        _, end = times(event)
        severity = _severity(event)
        moment = event.observed_at if event.type is EventType.AMENDED else end
        self._logger.emit(
            LogRecord(
                timestamp=nanoseconds(moment),
                observed_timestamp=nanoseconds(event.observed_at),
                context=context_of(span or event.task.traceparent),
                severity_number=severity,
                severity_text=severity.name,
                body=words.body(event),
                attributes=words.record(event),
                event_name=_NAMES[event.type],
            )
        )


def _severity(event: FailureEvent) -> SeverityNumber:
    """Return ERROR where nothing follows by itself, WARN where it does, INFO for no harm."""
    if event.type is EventType.SUSPECT_SUCCESS:
        return SeverityNumber.WARN
    if event.type is not EventType.FAILED or event.failure_details.kind is Kind.MANUAL:
        return SeverityNumber.INFO
    goes_on = event.decision is not None and event.decision.retry
    return SeverityNumber.WARN if goes_on else SeverityNumber.ERROR
