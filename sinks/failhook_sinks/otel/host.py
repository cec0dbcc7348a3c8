"""Providers that the host has set: used as they are, never changed, never shut down."""

from __future__ import annotations

from typing import Any

from opentelemetry._logs import get_logger_provider
from opentelemetry.metrics import get_meter_provider
from opentelemetry.trace import get_tracer_provider

from failhook_sinks.otel.settings import Signal

_GLOBALS = {
    Signal.TRACES: get_tracer_provider,
    Signal.METRICS: get_meter_provider,
    Signal.LOGS: get_logger_provider,
}


class HostProvider:
    """A provider of the host's; what it does with what it is given is the host's affair.

    Args:
        provider: the one that is set.
    """

    keeps = True

    def __init__(self, provider: Any) -> None:
        self.provider = provider

    def send(self) -> None:
        """Leave it to the host's processors and readers."""

    def close(self, timeout: float) -> bool:
        """Ask the host's processors to send what they have; return what they say.

        Args:
            timeout: seconds.
        """
        flush = getattr(self.provider, "force_flush", None)
        if flush is None:
            return True
        try:
            return bool(flush(int(timeout * 1_000)))
        except Exception:  # noqa: BLE001 - readers of metrics raise where a batch failed
            return False


def host_provider(signal: Signal) -> HostProvider | None:
    """Return the provider that the host has set for a signal; None where it has set none."""
    provider = _GLOBALS[signal]()
    kind = type(provider)
    # What stands in until one is set; for metrics and logs its class is not public.
    if kind.__module__.startswith("opentelemetry.") and "Proxy" in kind.__name__:
        return None
    return HostProvider(provider)
