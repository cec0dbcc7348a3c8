"""A collector that refuses: what is tried again, when, and what is told without a secret."""

from __future__ import annotations

import socket
from datetime import UTC, datetime

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from failhook.errors import Undelivered
from tests.sinks.otel.collector import Answer
from tests.sinks.otel.conftest import TASK, an_event, tell

BOTH = pytest.mark.parametrize("collector", ["http", "grpc"], indirect=True)
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
KEY = "s3cr3t-api-key"


class Noon:
    """A clock that stands."""

    def now(self):
        return NOON

    def monotonic(self):
        return 0.0


def refused(sink, event=None):
    """Return what the outbox is told of an event that does not get through."""
    with pytest.raises(Undelivered) as caught:
        tell(sink, event or an_event())
    return caught.value


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_and_asked_once(sink, collector, status):
    """The outbox tries again; the exporter does not, and what is down is not asked thrice."""
    collector.answers = [Answer(status)]

    answer = refused(sink)

    assert answer.retryable is True
    assert f"traces: {collector.url} answered {status}" in str(answer)
    assert ["traces"] == collector.requests


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413])
def test_what_stays_is_told_at_once_and_the_other_signals_still_go_out(sink, collector, status):
    """A collector without traces still gets the records; the dead letter says why."""
    collector.answers = [Answer(status, {"Location": "/login"}, b"no such tenant")]

    answer = refused(sink)

    assert answer.retryable is False
    assert f"traces: {collector.url} answered {status}" in str(answer)
    assert (status == 302) is not ("no such tenant" in str(answer))
    assert (status == 404) is ("leave them out of `signals`" in str(answer))
    assert ["traces", "metrics", "logs"] == collector.requests


@pytest.mark.parametrize("collector", ["grpc"], indirect=True)
@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (grpc.StatusCode.UNAVAILABLE, True),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, True),
        (grpc.StatusCode.UNAUTHENTICATED, False),
        (grpc.StatusCode.UNIMPLEMENTED, False),
    ],
)
def test_codes_of_grpc_are_told_apart(sink, collector, code, retryable):
    """As OTLP has it; what may pass is asked once, within the wait that the other side named."""
    collector.answers = [(code, "not now", 7 if retryable else 0)]

    answer = refused(sink)

    assert (retryable, 7.0 if retryable else None) == (answer.retryable, answer.retry_after)
    assert f"answered {code.name}: not now" in str(answer)
    assert 1 == collector.requests.count("traces")


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("30", 30.0), ("Fri, 02 Jan 2026 12:02:00 GMT", 120.0), ("soon", None)],
)
def test_a_collector_that_says_when_is_heard(make_sink, collector, said, seconds):
    """Retry-After in both of its forms."""
    collector.answers = [Answer(429, {"Retry-After": said})]

    assert seconds == refused(make_sink(clock=Noon())).retry_after


def test_a_second_try_sends_what_was_not_taken(sink, collector):
    """Records have no ids, so one that was taken must not be written twice; nor counted."""
    collector.answers = [Answer(), Answer(), Answer(503)]
    refused(sink)

    tell(sink, an_event())

    assert ["traces", "metrics", "logs", "logs"] == collector.requests


@BOTH
def test_all_signals_arrive_by_both_protocols(sink, collector):
    """The usual variables choose; both are the SDK's own exporters."""
    tell(sink, an_event())

    assert ["traces", "metrics", "logs"] == collector.requests
    assert 2 == len(collector.spans)
    assert {"failhook.task.failures", "failhook.task.attempt.duration"} == set(collector.numbers)


@pytest.mark.parametrize("rejected", [0, 2])
def test_a_part_that_was_dropped_is_no_delivery(sink, collector, rejected):
    """A collector may answer 200 and say in the body what it threw away."""
    body = ExportTraceServiceResponse()
    body.partial_success.rejected_spans = rejected
    body.partial_success.error_message = "too old"
    collector.answers = [Answer(body=body.SerializeToString())]

    if not rejected:  # a warning
        return tell(sink, an_event())
    answer = refused(sink)
    assert (False, "traces: 2 items were rejected: too old") == (answer.retryable, str(answer))
    return None


def test_a_200_that_is_no_otlp_is_taken(sink, collector):
    """Some gateways answer in JSON."""
    collector.answers = [Answer(body=b'{"ok": true}')]

    tell(sink, an_event())


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_collector_that_is_not_there_may_come_back(make_sink, monkeypatch, protocol):
    """A refused connection names the place and the reason."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)

    answer = refused(make_sink())

    assert answer.retryable is True
    assert f"127.0.0.1:{port}" in str(answer)
    assert "onnection refused" in str(answer)


def test_a_collector_that_hangs_is_left_in_time(sink, collector, monkeypatch):
    """The time limit that somebody set is kept, and the event waits for another try."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    collector.answers = [Answer(silent=True)]

    answer = refused(sink)

    assert answer.retryable is True
    assert f"traces: {collector.url} gave no answer: ReadTimeout" == str(answer)


def test_totals_that_did_not_get_through_go_out_at_the_end(sink, collector):
    """The close sends them once more, and says whether they were taken."""
    collector.answers = [Answer(), Answer(400)]
    refused(sink)

    assert sink.close(1.0) is True
    assert ["traces", "metrics", "logs", "metrics"] == collector.requests


def test_a_close_that_leaves_numbers_behind_says_so(sink, collector):
    """Truth, not comfort."""
    collector.answers = [Answer(), Answer(400), Answer(), Answer(503)]
    refused(sink)

    assert sink.close(1.0) is False
    assert sink.close(1.0) is True  # there is nothing left to close


def test_differences_that_did_not_get_through_are_counted_again(sink, collector, monkeypatch):
    """With delta temporality the next batch does not have what the last one had."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")
    collector.answers = [Answer(), Answer(503)]
    refused(sink)

    tell(sink, an_event())

    (point,) = collector.numbers["failhook.task.failures"]
    assert 1 == point.as_int


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("TRACES_EXPORTER=zipkin", "'zipkin' is not installed"),
        ("EXPORTER_OTLP_PROTOCOL=http/json", "allowed: grpc, http/protobuf"),
        ("EXPORTER_OTLP_ENDPOINT=nowhere", "the request cannot be made: MissingSchema"),
    ],
)
def test_a_variable_that_cannot_work_is_told_at_once(
    make_sink, collector, monkeypatch, variable, told
):
    """No retry mends a setting."""
    name, _, value = variable.partition("=")
    monkeypatch.setenv(f"OTEL_{name}", value)

    answer = refused(make_sink())

    assert answer.retryable is False
    assert told in str(answer)


@pytest.mark.parametrize("where", ["headers", "bearer", "query", "login", "no header"])
def test_no_secret_is_in_an_error(make_sink, collector, monkeypatch, caplog, where):
    """Not even one that the collector repeats; nor in what the exporter logs."""
    host = collector.url.removeprefix("http://")
    variables = {
        "headers": ("OTEL_EXPORTER_OTLP_HEADERS", f"x-api-key={KEY}"),
        "bearer": ("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{KEY}"),
        "query": ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/traces?key={KEY}"),
        "login": ("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://ann:{KEY}@{host}"),
        "no header": ("OTEL_EXPORTER_OTLP_HEADERS", f"x-api-key={KEY}%0Ay"),
    }
    monkeypatch.setenv(*variables[where])
    for status in (302, 401, 503):
        collector.answers = [Answer(status, body=f"not allowed with {KEY}".encode())]
        assert KEY not in str(refused(make_sink()))
    assert KEY not in caplog.text


@BOTH
def test_headers_reach_the_collector(sink, collector, monkeypatch):
    """They are how a backend knows whose data it is."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=blue")

    tell(sink, an_event(task=TASK))

    assert "blue" == collector.headers["x-tenant"]
