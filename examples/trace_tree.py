"""A task that fails twice and succeeds, as a trace backend shows it.

Run it: ``pip install 'failhook[otel]'`` and ``python examples/trace_tree.py``. The program is a
host that traces its own runs: failhook uses its provider, and attempts are children of its span.
`tree` draws the spans of any exporter in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from failhook import Evidence, Manager, Pipeline, Policy, Task
from failhook.clock import SystemClock
from failhook_sinks.otel import OtelSink


class Story(SystemClock):
    """A clock that is moved by hand, so that the picture is always the same."""

    def __init__(self) -> None:
        self.time = self.begin = datetime(2026, 3, 29, 2, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the time of the story."""
        return self.time

    def monotonic(self) -> float:
        """Return the seconds of the story that have passed."""
        return (self.time - self.begin).total_seconds()

    def wait(self, minutes: float) -> int:
        """Let minutes pass; return the time in nanoseconds since 1970."""
        self.time += timedelta(minutes=minutes)
        return int(self.time.timestamp()) * 10**9


def tree(spans: Iterable[ReadableSpan]) -> str:
    """Return the spans as a tree: name, duration, and what failhook says of each.

    Args:
        spans: finished ones, in any order. One whose parent is not among them is a root.
    """
    found = {span.context.span_id: span for span in spans if span.context is not None}
    below: dict[int | None, list[ReadableSpan]] = {}
    for span in found.values():
        known = span.parent is not None and span.parent.span_id in found
        below.setdefault(span.parent.span_id if known and span.parent else None, []).append(span)

    def lines(parent: int | None, indent: str) -> list[tuple[str, ReadableSpan]]:
        drawn: list[tuple[str, ReadableSpan]] = []
        children = sorted(below.get(parent, ()), key=lambda span: span.start_time or 0)
        for number, span in enumerate(children, 1):
            last = number == len(children)
            mark, more = (
                ("", "") if parent is None else (("└─ ", "   ") if last else ("├─ ", "│  "))
            )
            drawn.append((f"{indent}{mark}{span.name}", span))
            own = None if span.context is None else span.context.span_id
            drawn += lines(own, indent + more)
        return drawn

    rows = [(name, _duration(span), _said(span)) for name, span in lines(None, "")]
    width = max((len(name) for name, _, _ in rows), default=0)
    return "\n".join(f"{name:<{width}} {took:>7}  {said}".rstrip() for name, took, said in rows)


def _duration(span: ReadableSpan) -> str:
    seconds = ((span.end_time or 0) - (span.start_time or 0)) / 1e9
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.3g} s"


def _said(span: ReadableSpan) -> str:
    """Return attempt, result and reason of an attempt, and which attempts it is linked to."""
    attributes = span.attributes or {}
    if "failhook.attempt" not in attributes:
        return ""
    words = [f"attempt {attributes['failhook.attempt']}"]
    result = attributes.get("cicd.pipeline.task.run.result")
    words += [str(result)] if result else []
    reason = attributes.get("error.type") or attributes.get("failhook.failure.reason")
    words += [f"{attributes['failhook.failure.kind']} {reason}"] if reason else []
    linked = [str((link.attributes or {})["failhook.attempt"]) for link in span.links]
    words += [f"after {' and '.join(linked)}"] if linked else []
    return ", ".join(words)


def story(provider: TracerProvider, clock: Story) -> None:
    """Evict a task, let it fail by itself, and let it succeed."""
    start = clock.wait(0)
    run = provider.get_tracer("scheduler").start_span("nightly", start_time=start)
    context = run.get_span_context()
    manager = Manager()
    manager.register(OtelSink, "otel")
    task = Task(
        "nightly",
        "load",
        run_id="2026-03-29",
        policy=Policy(retries=1, max_infra_refunds=1),
        traceparent=f"00-{context.trace_id:032x}-{context.span_id:016x}-01",
    )
    evicted = Evidence.verdict("infra", "Evicted", confidence="confirmed", started="yes")
    with Pipeline(manager=manager, dispatch="inline", clock=clock) as pipeline:
        for minutes, evidence in ((12, evicted), (3, Evidence.exception(KeyError("amount")))):
            task = pipeline.started(task)
            clock.wait(minutes)
            pipeline.failed(task, evidence)
            clock.wait(1)
            task = task.next_attempt()
        task = pipeline.started(task)
        clock.wait(9)
        pipeline.succeeded(task)
    run.end(clock.wait(0))


def main() -> int:
    """Print the tree; return the exit status."""
    kept, clock = InMemorySpanExporter(), Story()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    story(provider, clock)
    print(tree(kept.get_finished_spans()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
