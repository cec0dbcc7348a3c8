"""Numbers: a counter of failed attempts, and a histogram of how long attempts ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from failhook.plugin import EventType, FailureEvent
from failhook_sinks.otel import words
from failhook_sinks.otel.scope import SCOPE, VERSION

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

FAILURES: Final = "failhook.task.failures"
DURATION: Final = "failhook.task.attempt.duration"

_BUCKETS: Final = (
    *(0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800),
    *(3_600, 7_200, 14_400, 28_800, 43_200, 86_400),
)
"""Seconds; tasks run for a moment, or for a day."""


class Metrics:
    """Counts with a provider, the host's or our own."""

    def __init__(self, provider: MeterProvider) -> None:
        meter = provider.get_meter(SCOPE, VERSION, schema_url=words.SCHEMA_URL)
        self._failures = meter.create_counter(
            FAILURES, unit="{failure}", description="Attempts of tasks that failed."
        )
        self._duration = meter.create_histogram(
            DURATION,
            unit="s",
            description="How long attempts ran that failed, or succeeded after a failure.",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )

    def tell(self, event: FailureEvent) -> None:
        """Count an attempt; not what is said of it later, and no marked test."""
        if event.simulated or event.type not in {EventType.FAILED, EventType.RECOVERED}:
            return
        attributes = words.numbers(event)
        if event.type is EventType.FAILED:
            self._failures.add(1, attributes)
        seconds = words.seconds(event)
        if seconds is not None:
            self._duration.record(seconds, attributes)
