"""What ``[plugins.otel]`` may say; where data goes, the usual ``OTEL_*`` variables say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from failhook.plugin import Settings, SettingsTable


class Signal(StrEnum):
    """The signals of OpenTelemetry; the order is that of sending."""

    TRACES = "traces"
    METRICS = "metrics"
    LOGS = "logs"


class Providers(StrEnum):
    """Whose providers are used: the host's where it has set them, or always ones of our own."""

    AUTO = "auto"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class OtelSettings:
    """The settings of the sink.

    Attributes:
        signals: what is sent.
        providers: whose providers send it.
    """

    signals: tuple[Signal, ...] = tuple(Signal)
    providers: Providers = Providers.AUTO


def read_settings(settings: Settings) -> OtelSettings:
    """Check the settings.

    Raises:
        ConfigError: one is wrong; the message says what is allowed.
    """
    table = SettingsTable(settings, "plugins", "otel")
    named = table.texts("signals", tuple(Signal))
    providers = Providers(table.choice("providers", tuple(Providers), Providers.AUTO))
    table.done()
    for name in named:
        if name not in tuple(Signal):
            raise table.error("signals", f"has {name!r}; allowed: {', '.join(Signal)}")
    if not named:
        raise table.error("signals", f"is empty; allowed: {', '.join(Signal)}")
    return OtelSettings(tuple(signal for signal in Signal if signal in named), providers)
