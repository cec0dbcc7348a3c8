"""The same failures as a lineage backend, a trace backend and people in Slack see them.

``failhook demo --events FILE`` lets tasks die for real and keeps their events; this program hands
those to the bundled sinks, and shows what leaves them through their real clients. No account is
needed: each client talks to a server on loopback. ``make demo`` runs both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from trace_tree import tree

from failhook.plugin import FailureEvent
from failhook.testing import Answer, Harness, LoopbackServer, ManualClock, MemoryState
from failhook_sinks.alerts import AlertSink
from failhook_sinks.alerts.receivers.slack_listener import listening
from failhook_sinks.openlineage import OpenLineageSink
from failhook_sinks.otel import OtelSink

WIDTH = 78
SHOWN = {
    "failhook_failure": ("kind", "reason", "confidence", "attempt", "maxAttempts", "retryDecision"),
    "errorMessage": ("message", "programmingLanguage"),
}
"""What is shown of a lineage event; docs/openlineage.md has all of it."""


def main(path: str) -> int:
    """Print three views of the events in a file; return the exit status."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    events = [FailureEvent.from_dict(json.loads(line)) for line in lines]
    print("The bug as a lineage backend gets it (OpenLineage):\n")
    print(lineage([event for event in events if event.task.name == "bug"]))
    print("\nThe eviction as a trace backend shows it (OpenTelemetry):\n")
    print(spans([event for event in events if event.task.name == "evicted"]))
    print("\nThe bug as people get it (Slack):\n")
    print(message([event for event in events if event.task.name == "bug"]))
    return 0


def lineage(events: Sequence[FailureEvent]) -> str:
    """Return what ends the run: the event's type, and the facets that say why."""
    with LoopbackServer(lambda _: Answer(201, "")) as server:
        transport = {"type": "http", "url": server.url}
        told(OpenLineageSink({"transport": transport}, ManualClock()), events)
        sent: list[dict[str, Any]] = [json.loads(request.body) for request in server.requests]
    last = sent[-1]
    facets = last["run"]["facets"]
    shown = {
        "eventType": last["eventType"],
        "job": f"{last['job']['namespace']}/{last['job']['name']}",
        "run": {"runId": last["run"]["runId"], "facets": {}},
    }
    for name, keys in SHOWN.items():
        shown["run"]["facets"][name] = {key: facets[name][key] for key in keys}
    return json.dumps(shown, indent=2)


def spans(events: Sequence[FailureEvent]) -> str:
    """Return the spans as a tree."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)  # the host's own, which the sink then uses
    told(OtelSink({"signals": ["traces"]}, MemoryState(), ManualClock()), events)
    return tree(kept.get_finished_spans())


def message(events: Sequence[FailureEvent]) -> str:
    """Return the message as people see it."""
    seen: list[str] = []
    with listening(seen.append, width=WIDTH) as address:
        settings = {
            "route": {"receiver": "team"},
            "receivers": {"team": {"type": "slack_webhook", "url": f"{address}/services/x"}},
        }
        clock = ManualClock(events[-1].observed_at)
        told(AlertSink(settings, MemoryState(), clock, Path()), events, clock)
    return "\n".join(seen)


def told(sink: object, events: Sequence[FailureEvent], clock: ManualClock | None = None) -> None:
    """Hand events to a sink as failhook does."""
    harness = Harness(sink, clock)
    for outcome in harness.deliver(*events):
        if not outcome.delivered:
            raise SystemExit(f"not delivered: {outcome.error}")
    harness.close(5.0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
