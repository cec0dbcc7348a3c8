"""What failhook says of its own deliveries, for whatever a host measures with.

Names are OpenTelemetry's in style, units are UCUM's, and attributes have few values: the plugins
and hooks of an installation and three or four outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

PLUGIN: Final = "failhook.plugin"
HOOK: Final = "failhook.hook"
OUTCOME: Final = "failhook.outcome"


class Metrics(Protocol):
    """Where a host takes numbers; made once, and called in a thread of failhook's own.

    It is never called on the executor's path, and nothing waits for it. What it raises is logged
    once and goes nowhere. One that hangs holds that one thread: deliveries go on, and numbers are
    lost until it comes back.
    """

    def count(self, name: str, value: int, attributes: Mapping[str, str]) -> None:
        """Add to a counter, or to one that goes up and down."""
        ...

    def record(self, name: str, value: float, attributes: Mapping[str, str]) -> None:
        """Record one value of a histogram."""
        ...


@dataclass(frozen=True, slots=True)
class Instrument:
    """One of the numbers.

    Attributes:
        name: as it is passed to `Metrics`.
        kind: what it is in OpenTelemetry; a histogram is recorded, the others are counted.
        unit: in UCUM.
        description: what it counts.
    """

    name: str
    kind: Literal["counter", "up_down_counter", "histogram"]
    unit: str
    description: str


ATTEMPTS: Final = Instrument(
    "failhook.delivery.attempts",
    "counter",
    "{attempt}",
    "Calls of plugins, by plugin, hook and outcome: delivered, undelivered, failed.",
)
DURATION: Final = Instrument(
    "failhook.delivery.duration",
    "histogram",
    "s",
    "How long they took, by plugin, hook and outcome.",
)
EVENTS: Final = Instrument(
    "failhook.delivery.events",
    "counter",
    "{event}",
    "Events that left the outbox, by plugin and outcome: delivered, dead, dropped.",
)
QUEUE: Final = Instrument(
    "failhook.delivery.queue",
    "up_down_counter",
    "{event}",
    "Events that wait, by plugin; each process sees the whole store.",
)

INSTRUMENTS: Final = (ATTEMPTS, DURATION, EVENTS, QUEUE)
