"""Providers of our own: what they make is gathered, then sent by us, so that the answer is seen.

A batch processor would say "done", and drop what no collector took.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from opentelemetry.sdk._logs import (
    LoggerProvider,
    LogRecordProcessor,
    ReadableLogRecord,
    ReadWriteLogRecord,
)
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, MetricReader, MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from failhook.plugin import Clock, Undelivered
from failhook_sinks.otel.exporters import Exporter, open_exporters
from failhook_sinks.otel.settings import Signal

_NAME: Final = "failhook"
_INTERVAL: Final = 1.0
"""Seconds between two sendings of all totals."""


class _Spans(SpanProcessor):
    def __init__(self) -> None:
        self.batch: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self.batch.append(span)


class _Records(LogRecordProcessor):
    def __init__(self) -> None:
        self.batch: list[ReadableLogRecord] = []

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        self.batch.append(
            ReadableLogRecord(
                log_record=log_record.log_record,
                resource=log_record.resource or Resource.get_empty(),
                instrumentation_scope=log_record.instrumentation_scope,
                limits=log_record.limits,
            )
        )

    def shutdown(self) -> None:
        """Have nothing to end."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the port's
        return True


class _Numbers(MetricReader):
    """Keeps the newest numbers until they are sent.

    Args:
        exporter: what says whether it wants totals or differences.
    """

    def __init__(self, exporter: Any) -> None:
        super().__init__(
            preferred_temporality=getattr(exporter, "_preferred_temporality", None),
            preferred_aggregation=getattr(exporter, "_preferred_aggregation", None),
        )
        self.data: MetricsData | None = None
        self.totals = True

    def _receive_metrics(
        self,
        metrics_data: MetricsData,
        timeout_millis: float = 10_000,  # noqa: ARG002 - the port's
        **_: object,
    ) -> None:
        self.data = metrics_data
        self.totals = all(
            getattr(metric.data, "aggregation_temporality", None)
            is not AggregationTemporality.DELTA
            for resource in metrics_data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        )

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        """Have nothing to end."""


class PrivateBatches:
    """Spans or log records on their way out.

    Args:
        provider: what makes them.
        ways: what gathers them for which exporter.
    """

    keeps = False

    def __init__(
        self,
        provider: TracerProvider | LoggerProvider,
        ways: Sequence[tuple[_Spans | _Records, Exporter]],
    ) -> None:
        self.provider = provider
        self._ways = ways

    def send(self) -> None:
        """Send what was made since; what is not taken is made anew when it is told again.

        Raises:
            Undelivered: it was not taken.
        """
        batches = [(exporter, gathered.batch[:]) for gathered, exporter in self._ways]
        for gathered, _ in self._ways:
            gathered.batch.clear()
        for exporter, batch in batches:
            if batch:
                exporter.export(batch)

    def close(self, timeout: float) -> bool:  # noqa: ARG002 - nothing waits here
        """End the connections."""
        for _, exporter in self._ways:
            exporter.close()
        return True


class PrivateNumbers:
    """Metrics on their way out.

    Totals go out with the first event, and with those of the next second together at its end,
    since each time all of them are sent.

    Args:
        provider: what counts.
        ways: what reads the numbers for which exporter.
        clock: for the second.
    """

    def __init__(
        self, provider: MeterProvider, ways: Sequence[tuple[_Numbers, Exporter]], clock: Clock
    ) -> None:
        self.provider = provider
        self._ways = ways
        self._clock = clock
        self._lock = threading.Lock()
        self._next = clock.monotonic()
        self._unsent = False
        self._timer: threading.Timer | None = None

    @property
    def keeps(self) -> bool:
        """Whether numbers that did not get through go out with the next ones: totals do."""
        return all(reader.totals for reader, _ in self._ways)

    def send(self) -> None:
        """Send the numbers as they are now, or have them sent soon.

        Raises:
            Undelivered: they were not taken.
        """
        with self._lock:
            self._unsent = True
            wait = self._next - self._clock.monotonic()
            if wait <= 0 or not self.keeps:
                self._send()
            elif self._timer is None:
                self._timer = threading.Timer(wait, self._later)
                self._timer.daemon = True
                self._timer.start()

    def close(self, timeout: float) -> bool:  # noqa: ARG002 - an exporter has limits of its own
        """Send what did not get through once more; return whether all has."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._try()
            self.provider.shutdown()
            for _, exporter in self._ways:
                exporter.close()
            return not self._unsent

    def _later(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer = None
                self._try()

    def _try(self) -> None:
        """Send totals; where they do not get through, the next event or the close tells."""
        if self._unsent and self.keeps:
            with suppress(Undelivered):
                self._send()

    def _send(self) -> None:
        for reader, exporter in self._ways:
            reader.data = None
            reader.collect()
            if reader.data is not None and reader.data.resource_metrics:
                exporter.export(reader.data)
        self._unsent = False
        self._next = self._clock.monotonic() + _INTERVAL


def open_private(
    signal: Signal, environ: Mapping[str, str], clock: Clock
) -> PrivateBatches | PrivateNumbers | None:
    """Return a provider of our own; None where the environment wants none of this signal.

    Raises:
        Undelivered: an exporter cannot be had or set up.
    """
    exporters = open_exporters(signal, environ, clock)
    if not exporters:
        return None
    if signal is Signal.METRICS:
        pushed = [(_Numbers(each.inner), each) for each in exporters if isinstance(each, Exporter)]
        asked = [each for each in exporters if not isinstance(each, Exporter)]
        readers = [*(reader for reader, _ in pushed), *asked]
        meters = MeterProvider(readers, _resource(), shutdown_on_exit=False)
        return PrivateNumbers(meters, pushed, clock)
    if signal is Signal.TRACES:
        tracers = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        spans = [(_Spans(), each) for each in exporters]
        for gathered, _ in spans:
            tracers.add_span_processor(gathered)
        return PrivateBatches(tracers, spans)
    loggers = LoggerProvider(_resource(), shutdown_on_exit=False)
    records = [(_Records(), each) for each in exporters]
    for kept, _ in records:
        loggers.add_log_record_processor(kept)
    return PrivateBatches(loggers, records)


def _resource() -> Resource:
    """Return who sends: as the environment says, else failhook; each process is an instance."""
    found = Resource.create()
    if str(found.attributes.get("service.name", "")).startswith("unknown_service"):
        found = found.merge(Resource({"service.name": _NAME}))
    if "service.instance.id" not in found.attributes:
        found = found.merge(Resource({"service.instance.id": str(uuid.uuid4())}))
    return found
