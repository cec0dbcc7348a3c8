"""Collectors on loopback, over HTTP and gRPC: they remember what came, and answer as told."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

SIGNALS = {
    "traces": (trace_service_pb2.ExportTraceServiceRequest, "resource_spans", "scope_spans"),
    "metrics": (
        metrics_service_pb2.ExportMetricsServiceRequest,
        "resource_metrics",
        "scope_metrics",
    ),
    "logs": (logs_service_pb2.ExportLogsServiceRequest, "resource_logs", "scope_logs"),
}
ITEMS = {"traces": "spans", "metrics": "metrics", "logs": "log_records"}


@dataclass
class Answer:
    """What to say to one request over HTTP; `silent` says nothing until the test is over."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    silent: bool = False


@dataclass
class Collector:
    """What came, and what is answered.

    Attributes:
        url: where it listens.
        requests: the signal of each request, in order.
        taken: signal and message of each that was taken.
        headers: the headers of the last one.
        answers: for the next requests, in order; then all are taken. Over gRPC, status codes with
            a text and seconds to wait.
        over: set at the end of the test.
    """

    url: str = ""
    requests: list[str] = field(default_factory=list)
    taken: list[tuple[str, Any]] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def spans(self) -> list[Span]:
        """Return the spans that came, in order."""
        return [Span.read(item) for item in self.items("traces")]

    @property
    def records(self) -> list[Any]:
        """Return the log records that came, in order."""
        return list(self.items("logs"))

    @property
    def numbers(self) -> dict[str, list[Any]]:
        """Return the points of each metric as the last request had them."""
        last = [message for signal, message in self.taken if signal == "metrics"][-1:]
        return {
            metric.name: list((metric.sum or metric.histogram).data_points)
            if metric.HasField("sum")
            else list(metric.histogram.data_points)
            for metric in _items("metrics", last)
        }

    def items(self, signal: str) -> Iterator[Any]:
        """Yield the spans, metrics or records that came."""
        yield from _items(signal, [message for each, message in self.taken if each == signal])


@dataclass(frozen=True)
class Span:
    """A span as it came."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    links: tuple[tuple[str, str], ...]
    error: str | None

    @classmethod
    def read(cls, span: Any) -> Span:
        """Read it from the message."""
        return cls(
            name=span.name,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            start=span.start_time_unix_nano,
            end=span.end_time_unix_nano,
            attributes=attributes(span),
            links=tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
            error=span.status.message if span.status.code == 2 else None,
        )


def attributes(item: Any) -> dict[str, Any]:
    """Return the attributes of a message as Python has them."""
    return {each.key: _value(each.value) for each in item.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [_value(each) for each in found.values] if kind == "array_value" else found


def _items(signal: str, messages: list[Any]) -> Iterator[Any]:
    _, resources, scopes = SIGNALS[signal]
    for message in messages:
        for resource in getattr(message, resources):
            for scope in getattr(resource, scopes):
                yield from getattr(scope, ITEMS[signal])


@contextmanager
def over_http() -> Iterator[Collector]:
    """Listen on a free port of loopback."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            signal = self.path.rpartition("/")[2]
            collector.requests.append(signal)
            collector.headers = dict(self.headers)
            answer = collector.answers.pop(0) if collector.answers else Answer()
            if answer.silent:
                collector.over.wait()
                self.close_connection = True
                return
            if answer.status == 200:
                collector.taken.append((signal, SIGNALS[signal][0].FromString(body)))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_):
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def over_grpc() -> Iterator[Collector]:
    """Listen on a free port of loopback."""
    collector = Collector()

    def export(signal, response, request, context):
        collector.requests.append(signal)
        collector.headers = dict(context.invocation_metadata())
        if collector.answers:
            code, text, wait = collector.answers.pop(0)
            if wait:
                info = RetryInfo()
                info.retry_delay.seconds = wait
                context.set_trailing_metadata(
                    (("google.rpc.retryinfo-bin", info.SerializeToString()),)
                )
            context.abort(code, text)
        collector.taken.append((signal, request))
        return response()

    class Traces(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request, context):  # noqa: N802 - the name of the method in gRPC
            return export("traces", trace_service_pb2.ExportTraceServiceResponse, request, context)

    class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
        def Export(self, request, context):  # noqa: N802 - as above
            answer = metrics_service_pb2.ExportMetricsServiceResponse
            return export("metrics", answer, request, context)

    class Logs(logs_service_pb2_grpc.LogsServiceServicer):
        def Export(self, request, context):  # noqa: N802 - as above
            return export("logs", logs_service_pb2.ExportLogsServiceResponse, request, context)

    server = grpc.server(ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(), server)
    logs_service_pb2_grpc.add_LogsServiceServicer_to_server(Logs(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    collector.url = f"http://127.0.0.1:{port}"
    try:
        yield collector
    finally:
        server.stop(None).wait()
