"""Every real failure, through the real pipeline, to OpenTelemetry's own test server."""

from __future__ import annotations

from collections import Counter

import pytest
from opentelemetry.test._otlp_test_server import OtlpProtoTestServer

from failhook.clock import SystemClock
from failhook.evidence import Evidence
from failhook.manager import Manager
from failhook.manager.provisions import VolatileState
from failhook.pipeline import Pipeline
from failhook.policy import Policy
from failhook.task import Task
from failhook_sinks.otel import OtelSink
from tests.score.cases import load, question
from tests.sinks.otel.collector import Span, attributes

CASES = load()
RESULTS = {
    "application": "failure",
    "infra": "error",
    "timeout": "timeout",
    "manual": "cancellation",
    "unknown": "failure",
}


@pytest.fixture(scope="module")
def sent():
    """Report every case, some after a start and some without, and each third one's recovery."""
    with pytest.MonkeyPatch.context() as patch, OtlpProtoTestServer() as server:
        patch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", server.traces_endpoint.removesuffix("/v1/traces")
        )
        patch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        patch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        manager = Manager()
        manager.register(OtelSink({}, VolatileState(), SystemClock()), "otel")
        pipeline = Pipeline(manager=manager)
        for number, case in enumerate(CASES):
            task = Task(
                "cases",
                case["id"],
                run_id="r1",
                map_index=None if number % 2 else number,
                labels={"system": case["system"], "number": str(number)},
                policy=Policy(retries=2, max_infra_refunds=2),
            )
            if number % 3:
                task = pipeline.started(task)
            decision = pipeline.failed(task, Evidence.from_dict(question(case)))
            if decision.retry and not number % 3:
                pipeline.succeeded(task.next_attempt())
        assert pipeline.close(timeout=60)
        spans = [Span.read(each.span) for each in server.drain_spans()]
        records = [each.log_record for each in server.drain_log_records()]
        yield spans, records, [each.metric for each in server.drain_metrics()]


def test_every_case_is_a_span_with_its_verdict(sent):
    """A case whose label is sure arrives with that label, in OpenTelemetry's word for it."""
    spans, _, _ = sent
    failed = {
        int(span.attributes["failhook.label.number"]): span
        for span in spans
        if span.attributes.get("failhook.event") == "failed"
    }
    sure = {n: case for n, case in enumerate(CASES) if case["confidence"] == "high"}

    assert len(CASES) == len(failed)
    assert {n: RESULTS[case["expected"]["kind"]] for n, case in sure.items()} == {
        n: failed[n].attributes["cicd.pipeline.task.run.result"] for n in sure
    }
    for span in failed.values():
        cancelled = span.attributes["failhook.failure.kind"] == "manual"
        assert cancelled is (span.error is None)
        assert cancelled is not (
            span.attributes.get("error.type") == span.attributes["failhook.failure.reason"]
        )


def test_links_and_children_lead_to_spans_that_are_there(sent):
    """Nothing points into the void, and no id is given twice."""
    spans, _, _ = sent
    ids = {(span.trace, span.id) for span in spans}

    assert len(spans) == len(ids)
    assert {link for span in spans for link in span.links} <= ids
    assert {(span.trace, span.parent) for span in spans if span.parent} <= ids
    assert all(span.start <= span.end for span in spans)
    recovered = [span for span in spans if span.attributes.get("failhook.event") == "recovered"]
    assert recovered
    assert all(1 == len(span.links) for span in recovered)


def test_every_event_has_its_record_and_every_failure_is_counted(sent):
    """The three signals agree."""
    spans, records, metrics = sent
    told = Counter(span.attributes.get("failhook.event") for span in spans)
    names = Counter(record.event_name for record in records)
    ids = {(span.trace, span.id) for span in spans}
    *_, failures = [each for each in metrics if each.name == "failhook.task.failures"]

    assert told["failed"] == names["failhook.task.failed"]
    assert told["recovered"] == names["failhook.task.recovered"]
    assert {(each.trace_id.hex(), each.span_id.hex()) for each in records} <= ids
    assert len(CASES) == sum(point.as_int for point in failures.sum.data_points)
    assert all(
        {"cicd.pipeline.task.run.result", "failhook.failure.kind"} <= attributes(point).keys()
        for point in failures.sum.data_points
    )
