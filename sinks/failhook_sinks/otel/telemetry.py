"""The three signals of one process: each event goes to those that have not taken it yet."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from failhook.plugin import Clock, FailureEvent, Undelivered
from failhook_sinks.otel.host import HostProvider, host_provider
from failhook_sinks.otel.logs import Logs
from failhook_sinks.otel.metrics import Metrics
from failhook_sinks.otel.private import PrivateBatches, PrivateNumbers, open_private
from failhook_sinks.otel.settings import OtelSettings, Providers, Signal
from failhook_sinks.otel.traces import Traces

_Outlet = HostProvider | PrivateBatches | PrivateNumbers

_REMEMBERED: Final = 1_024
"""Events whose progress is kept: one that is told again is not counted again."""


@dataclass(slots=True)
class _Progress:
    """How far an event has come."""

    sent: set[Signal] = field(default_factory=set[Signal])
    span: str | None = None
    counted: bool = False


class Telemetry:
    """What an event is told to.

    Args:
        outlets: the signals that are on, and where they go.
    """

    def __init__(self, outlets: Mapping[Signal, _Outlet]) -> None:
        self.pid = os.getpid()
        self._outlets = outlets
        self._events: OrderedDict[str, _Progress] = OrderedDict()
        providers: dict[Signal, Any] = {each: out.provider for each, out in outlets.items()}
        self._traces = Traces(providers[Signal.TRACES]) if Signal.TRACES in providers else None
        self._metrics = Metrics(providers[Signal.METRICS]) if Signal.METRICS in providers else None
        self._logs = Logs(providers[Signal.LOGS]) if Signal.LOGS in providers else None

    def tell(self, event: FailureEvent, told: Mapping[int, str]) -> str | None:
        """Send an event by every signal; return the traceparent of its span, if it has one.

        What a signal has taken is not sent again when the event is told again.

        Args:
            event: what happened.
            told: the traceparents of the task's attempts that were told of as failed.

        Raises:
            Undelivered: a signal did not get through.
        """
        progress = self._progress(event)
        makers: Mapping[Signal, Callable[[], None]] = {
            Signal.TRACES: lambda: self._make_spans(event, told, progress),
            Signal.METRICS: lambda: self._count(event, progress),
            Signal.LOGS: lambda: self._write(event, progress),
        }
        refused: list[Undelivered] = []
        for signal, outlet in self._outlets.items():
            if signal in progress.sent:
                continue
            makers[signal]()
            try:
                outlet.send()
            except Undelivered as why:
                if signal is Signal.METRICS and not outlet.keeps:
                    progress.counted = False
                refused.append(why)
                if why.retryable:  # what is down for one is most likely down for all
                    break
            else:
                progress.sent.add(signal)
        if refused:
            raise Undelivered(
                "; ".join(map(str, refused)),
                retryable=refused[-1].retryable,
                retry_after=refused[-1].retry_after,
            )
        return progress.span

    def close(self, timeout: float) -> bool:
        """Send what waits and end it; return whether all went out.

        Args:
            timeout: seconds.
        """
        closed = [outlet.close(timeout) for outlet in self._outlets.values()]
        return all(closed)

    def _progress(self, event: FailureEvent) -> _Progress:
        progress = self._events.setdefault(event.event_id, _Progress())
        self._events.move_to_end(event.event_id)
        if len(self._events) > _REMEMBERED:
            self._events.popitem(last=False)
        return progress

    def _make_spans(
        self, event: FailureEvent, told: Mapping[int, str], progress: _Progress
    ) -> None:
        if self._traces is not None:
            progress.span = self._traces.tell(event, told)

    def _count(self, event: FailureEvent, progress: _Progress) -> None:
        if self._metrics is not None and not progress.counted:
            self._metrics.tell(event)
            progress.counted = True

    def _write(self, event: FailureEvent, progress: _Progress) -> None:
        if self._logs is not None:
            self._logs.tell(event, progress.span)


def open_telemetry(settings: OtelSettings, environ: Mapping[str, str], clock: Clock) -> Telemetry:
    """Find the host's providers, and open our own for what it has none for.

    Where the host has some, a signal that it has none for is sent by our own only if the
    environment says where to.

    Raises:
        Undelivered: an exporter cannot be had or set up.
    """
    hosts = {
        signal: None if settings.providers is Providers.PRIVATE else host_provider(signal)
        for signal in settings.signals
    }
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    outlets: dict[Signal, _Outlet] = {}
    for signal, found in hosts.items():
        outlet: _Outlet | None = found
        wanted = not any(hosts.values()) or _is_told(signal, environ)
        if outlet is None and wanted and not disabled:
            outlet = open_private(signal, environ, clock)
        if outlet is not None:
            outlets[signal] = outlet
    return Telemetry(outlets)


def _is_told(signal: Signal, environ: Mapping[str, str]) -> bool:
    name = signal.upper()
    told = (
        f"OTEL_{name}_EXPORTER",
        f"OTEL_EXPORTER_OTLP_{name}_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    )
    return any(environ.get(each) for each in told)
