"""The hooks: each event becomes spans, numbers and a log record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from failhook.plugin import (
    Action,
    Clock,
    FailureEvent,
    PluginState,
    Settings,
    Task,
    hookimpl,
)
from failhook_sinks.otel.settings import read_settings

if TYPE_CHECKING:
    from failhook_sinks.otel.telemetry import Telemetry

_NEEDED: Final = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto")


class OtelSink:
    """Tells OpenTelemetry of every attempt that failed, and of the one that succeeded after.

    One span per attempt, with the same ids whoever reports and however often, linked to those of
    the attempts before. The SDK is imported when the first event is there. No global is set; a
    forked child opens what it needs anew.

    Settings (``[plugins.otel]``):
        signals: which of ``traces``, ``metrics`` and ``logs`` are sent; all by default.
        providers: ``auto`` (default) uses those that the host has set, and ones of our own, made
            from the ``OTEL_*`` variables, where it has none; ``private`` leaves the host's alone.

    Raises:
        ConfigError: a setting is wrong.
        ModuleNotFoundError: the SDK or the OTLP exporter is not installed.
    """

    def __init__(self, settings: Settings, state: PluginState, clock: Clock) -> None:
        self._settings = read_settings(settings)
        self._state = state
        self._clock = clock
        self._telemetry: Telemetry | None = None
        _require_sdk()

    @hookimpl
    def on_task_failed(self, event: FailureEvent) -> None:
        """Tell of a failed attempt: a span with its phases, numbers, a record."""
        span = self._tell(event)
        decision = event.decision
        if decision is not None and decision.action is Action.FAIL:
            self._forget(event.task)
        elif span is not None:
            self._state.put(event.task.attempt_key, span)

    @hookimpl
    def on_task_recovered(self, event: FailureEvent) -> None:
        """Tell of the attempt that succeeded: a span linked to those that failed, a record."""
        self._tell(event)
        self._forget(event.task)

    @hookimpl
    def on_failure_amended(self, event: FailureEvent) -> None:
        """Tell of a better verdict: a span below the attempt's, a record."""
        self._tell(event)

    @hookimpl
    def on_suspect_success(self, event: FailureEvent) -> None:
        """Tell of a success that is in doubt: a span of a success, a record that warns."""
        self._tell(event)

    def close(self, timeout: float) -> bool:
        """Send what waits; return whether all went out."""
        telemetry, self._telemetry = self._telemetry, None
        if telemetry is None or telemetry.pid != os.getpid():
            return True
        return telemetry.close(timeout)

    def _tell(self, event: FailureEvent) -> str | None:
        telemetry = self._telemetry
        if telemetry is None or telemetry.pid != os.getpid():
            from failhook_sinks.otel.telemetry import open_telemetry

            telemetry = self._telemetry = open_telemetry(self._settings, os.environ, self._clock)
        return telemetry.tell(event, self._told(event.task))

    def _told(self, task: Task) -> Mapping[int, str]:
        """Return where the spans of the task's failed attempts are, as they were told."""
        found = self._state.items(f"{task.key}/")
        return {int(key.rpartition("/")[2]): span for key, span in found.items()}

    def _forget(self, task: Task) -> None:
        """Forget the attempts of a task that has come to its end."""
        for key in self._state.items(f"{task.key}/"):
            self._state.put(key, None)


def _require_sdk() -> None:
    """Look for the SDK without importing it.

    Raises:
        ModuleNotFoundError: it or the exporter is not installed.
    """
    for name in _NEEDED:
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            if find_spec(".".join(parts[:depth])) is None:
                raise ModuleNotFoundError(
                    "the OpenTelemetry SDK or its OTLP exporter is not installed",
                    name="opentelemetry",
                )
