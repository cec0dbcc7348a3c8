"""Spans: one per attempt with its phases below it, and one for what is said of it later."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final, cast

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    Link,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    TracerProvider,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from failhook.plugin import EventType, FailureEvent
from failhook_sinks.otel import words
from failhook_sinks.otel.attempt import nanoseconds, span_id, steps, times, trace_id
from failhook_sinks.otel.scope import SCOPE, VERSION

_PROPAGATOR: Final = TraceContextTextMapPropagator()


class NamedIds(IdGenerator):
    """Gives the ids that were named in this thread, else those of another generator."""

    def __init__(self, otherwise: IdGenerator) -> None:
        self._otherwise = otherwise
        self._named = threading.local()

    @contextmanager
    def named(self, trace: int, span: int) -> Generator[None]:
        """Give these ids to the one span that is started in the block."""
        self._named.ids = trace, span
        try:
            yield
        finally:
            del self._named.ids

    def generate_trace_id(self) -> int:
        ids = self._ids()
        return self._otherwise.generate_trace_id() if ids is None else ids[0]

    def generate_span_id(self) -> int:
        ids = self._ids()
        return self._otherwise.generate_span_id() if ids is None else ids[1]

    def is_trace_id_random(self) -> bool:
        return self._ids() is None and self._otherwise.is_trace_id_random()

    def _ids(self) -> tuple[int, int] | None:
        return getattr(self._named, "ids", None)


class Traces:
    """Makes spans with a provider.

    Args:
        provider: the host's or our own. One that is not the SDK's chooses ids by itself.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(SCOPE, VERSION, schema_url=words.SCHEMA_URL)
        self._ids = _ids_of(self._tracer)

    def tell(self, event: FailureEvent, told: Mapping[int, str]) -> str | None:
        """Make the spans of an event; return the traceparent of the outer one, if it is recorded.

        Args:
            event: what happened.
            told: the traceparents of the task's attempts that were told of as failed.
        """
        if event.type is EventType.AMENDED:
            return self._note(event, told)
        return self._attempt(event, told)

    def _attempt(self, event: FailureEvent, told: Mapping[int, str]) -> str | None:
        start, end = times(event)
        key, name = event.task.attempt_key, words.span_name(event)
        succeeded = event.type is not EventType.FAILED
        links = [
            Link(_span_context(told[number]), {"failhook.attempt": number})
            for number in sorted(told)
            if number < event.task.attempt + succeeded
        ]
        with self._named(event, span_id(key, event.type)):
            span = self._tracer.start_span(
                name,
                context_of(event.task.traceparent),
                SpanKind.INTERNAL,
                words.attempt(event),
                links,
                nanoseconds(start),
            )
        within = set_span_in_context(span, Context())
        for step, (phase, number, attributes) in zip(
            steps(event), words.phases(event), strict=True
        ):
            with self._named(event, span_id(key, f"{event.type}/{phase}", number)):
                child = self._tracer.start_span(
                    phase,
                    within,
                    SpanKind.INTERNAL,
                    attributes,
                    start_time=nanoseconds(step.start),
                )
            child.end(nanoseconds(step.end))
        if words.is_error(event):
            span.set_status(Status(StatusCode.ERROR, words.description(event)))
        return _ended(span, nanoseconds(end))

    def _note(self, event: FailureEvent, told: Mapping[int, str]) -> str | None:
        """Say it below the attempt's span, which went out long ago and is not sent twice."""
        moment = nanoseconds(event.observed_at)
        key = event.task.attempt_key
        with self._named(event, span_id(key, event.type, event.revision)):
            span = self._tracer.start_span(
                f"{words.span_name(event)} amended",
                context_of(told.get(event.task.attempt) or self._of_attempt(event)),
                SpanKind.INTERNAL,
                words.note(event),
                start_time=moment,
            )
        return _ended(span, moment)

    def _of_attempt(self, event: FailureEvent) -> str | None:
        """Return where the failed attempt's span is though nobody remembers it."""
        parent = get_current_span(context_of(event.task.traceparent)).get_span_context()
        if self._ids is None:
            return event.task.traceparent
        trace, flags = parent.trace_id, parent.trace_flags
        if not parent.is_valid:
            trace, flags = trace_id(event.task), TraceFlags(TraceFlags.SAMPLED)
        return _written(trace, span_id(event.task.attempt_key, EventType.FAILED), flags)

    @contextmanager
    def _named(self, event: FailureEvent, span: int) -> Generator[None]:
        if self._ids is None:
            yield
            return
        with self._ids.named(trace_id(event.task), span):
            yield


def context_of(traceparent: str | None) -> Context:
    """Return the context that a traceparent names; an empty one for None."""
    carrier = {} if traceparent is None else {"traceparent": traceparent}
    return _PROPAGATOR.extract(carrier, Context())


def _span_context(traceparent: str) -> SpanContext:
    return get_current_span(context_of(traceparent)).get_span_context()


def _ended(span: Span, moment: int) -> str | None:
    """End a span; return its traceparent. One that goes nowhere, as the host wants it, has none."""
    recorded, context = span.is_recording(), span.get_span_context()
    span.end(moment)
    if not recorded:
        return None
    return _written(context.trace_id, context.span_id, context.trace_flags)


def _written(trace: int, span: int, flags: int) -> str:
    return f"00-{trace:032x}-{span:016x}-{flags & 1:02x}"


def _ids_of(tracer: Tracer) -> NamedIds | None:
    """Return what names the ids of this tracer's spans; None where that cannot be done.

    A tracer belongs to its scope, which is ours, so nobody else's spans are touched.
    """
    found = cast("object", getattr(tracer, "id_generator", None))
    if isinstance(found, NamedIds):
        return found
    if not isinstance(found, IdGenerator):
        return None
    named = NamedIds(found)
    tracer.id_generator = named  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue] - the SDK's has it
    return named
