"""The host's providers where they are set, else private ones; no global is ever changed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from opentelemetry.trace import NoOpTracerProvider

from failhook.config import load_config
from failhook.errors import ConfigError, RegistrationError
from failhook.event import EventType
from failhook.pipeline import Pipeline
from failhook_sinks.otel.attempt import span_id
from failhook_sinks.otel.traces import Traces
from tests.sinks.otel.conftest import LOST, TASK, an_event, tell

START = """
import json, os, sys, warnings
warnings.simplefilter("error")
from opentelemetry import _logs, metrics, trace
from failhook.clock import SystemClock
from failhook.manager.provisions import VolatileState
from failhook_sinks.otel import OtelSink
from tests.sinks.otel.conftest import an_event, tell, TASK

def globals_now():
    return [type(each).__name__ for each in (
        trace.get_tracer_provider(), metrics.get_meter_provider(), _logs.get_logger_provider())]

sink = OtelSink(json.loads(sys.argv[1]), VolatileState(), SystemClock())
"""
HOST = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
host = TracerProvider()
host.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(host)
before = globals_now()
with host.get_tracer("host").start_as_current_span("host's own"):
    tell(sink, an_event())
done = sink.close(1.0)
with host.get_tracer("host").start_as_current_span("afterwards"):
    pass
spans = kept.get_finished_spans()
print(json.dumps({
    "same": globals_now() == before,
    "names": [span.name for span in spans],
    "ids": [f"{span.context.span_id:016x}" for span in spans],
    "parents": [span.parent and f"{span.parent.span_id:016x}" for span in spans],
    "done": done,
}))
"""
BARE = """
tell(sink, an_event())
print(json.dumps({"globals": globals_now(), "done": sink.close(1.0),
    "environment": sorted(name for name in os.environ if name.startswith("OTEL"))}))
"""
FORK = """
tell(sink, an_event())
child = os.fork()
if not child:
    tell(sink, an_event(task=TASK.next_attempt()))
    os._exit(0 if sink.close(1.0) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
tell(sink, an_event(task=TASK.next_attempt().next_attempt()))
print(json.dumps(sink.close(1.0)))
"""
IDS = [f"{span_id(TASK.attempt_key, what):016x}" for what in ("failed/Executing", EventType.FAILED)]


class Stranger(NoOpTracerProvider):
    """A provider that is not the SDK's: ids are its own affair, and it records nothing."""


def run(program, **settings):
    """Run a program of its own process, since globals can be set once; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", START + program, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)
    return json.loads(done.stdout)


def test_without_a_host_all_goes_by_the_variables_and_nothing_is_left_behind(collector):
    """No global provider, no variable that a task would inherit."""
    found = run(BARE)

    assert ["ProxyTracerProvider", "_ProxyMeterProvider", "ProxyLoggerProvider"] == found["globals"]
    assert found["done"] is True
    assert ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"] == found["environment"]
    assert ["traces", "metrics", "logs"] == collector.requests


@pytest.mark.parametrize("told_where", [True, False])
def test_the_hosts_provider_gets_the_spans(collector, monkeypatch, told_where):
    """Its exporters, its sampler; the other signals are private where the variables say where to.

    Spans have failhook's ids there too, are no children of what the host happens to do, and the
    host's own spans are as before, also after a close.
    """
    if not told_where:
        monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT")
    found = run(HOST)

    assert found["same"] is found["done"] is True
    assert ["Executing", "nightly.load", "host's own", "afterwards"] == found["names"]
    assert IDS == found["ids"][:2]
    assert [IDS[1], None, None, None] == found["parents"]
    assert (["metrics", "logs"] if told_where else []) == collector.requests


def test_a_provider_that_records_nothing_leaves_nothing_to_link_to():
    """Its spans are nowhere, so no later attempt is said to follow them."""
    traces = Traces(Stranger())

    assert traces.tell(an_event(), {}) is None
    assert traces.tell(an_event(EventType.AMENDED, previous=LOST), {}) is None


def test_any_exporter_that_is_installed_can_be_named(monkeypatch):
    """The SDK's own for the console stands for those of vendors."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    done = subprocess.run(
        [sys.executable, "-c", f"{START}tell(sink, an_event())", '{"signals": ["traces"]}'],
        capture_output=True,
        text=True,
        check=True,
    )

    assert '"name": "nightly.load"' in done.stdout


def test_private_leaves_the_host_alone(collector):
    """Its provider is not used, so that answers are seen."""
    found = run(HOST, providers="private")

    assert ["host's own", "afterwards"] == found["names"]
    assert ["traces", "metrics", "logs"] == collector.requests


@pytest.mark.parametrize("collector", ["http", "grpc"], indirect=True)
def test_a_forked_child_opens_connections_and_counts_of_its_own(collector):
    """A worker that was forked after the first event shares no socket, and counts from zero."""
    assert run(FORK) is True

    assert 3 == len({span.id for span in collector.spans if span.name == "nightly.load"})
    assert 3 == len(collector.records)
    instances = [
        attribute.value.string_value
        for signal, message in collector.taken
        if signal == "metrics"
        for resource in message.resource_metrics
        for attribute in resource.resource.attributes
        if attribute.key == "service.instance.id"
    ]
    assert 2 == len(set(instances))


def test_signals_can_be_left_out(make_sink, collector, monkeypatch):
    """By the setting, or by the usual variables."""
    tell(make_sink(signals=["traces", "logs"]), an_event())
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    tell(make_sink(), an_event())

    assert ["traces", "logs", "logs"] == collector.requests


def test_the_sdk_can_be_switched_off(sink, collector, monkeypatch):
    """As OTEL_SDK_DISABLED does for everything else."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")

    tell(sink, an_event())

    assert [] == collector.requests


def test_a_sampler_of_the_variables_is_kept(sink, collector, monkeypatch):
    """The SDK reads it as it does anywhere."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")

    tell(sink, an_event(task=TASK))

    assert ["metrics", "logs"] == collector.requests


def test_the_name_of_the_service_is_the_environments_or_ours(make_sink, collector, monkeypatch):
    """Never `unknown_service`."""
    tell(make_sink(), an_event())
    monkeypatch.setenv("OTEL_SERVICE_NAME", "scheduler")
    tell(make_sink(), an_event())

    names = [
        attribute.value.string_value
        for signal, message in collector.taken
        if signal == "traces"
        for attribute in message.resource_spans[0].resource.attributes
        if attribute.key == "service.name"
    ]
    assert ["failhook", "scheduler"] == names


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('signals = ["trace"]', "plugins.otel.signals has 'trace'; allowed: traces, metrics, logs"),
        ("signals = []", "plugins.otel.signals is empty"),
        ('providers = "global"', "allowed: auto, private"),
        ('endpoint = "x"', "plugins.otel.endpoint is not a setting"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path, text, told):
    """With the place and what is allowed."""
    path = tmp_path / "failhook.toml"
    path.write_text(f"[plugins.otel]\n{text}\n")

    with pytest.raises((ConfigError, RegistrationError)) as refused:
        Pipeline.from_config(load_config(path, {}))

    assert told in str(refused.value)


def test_the_sdk_is_imported_when_the_first_event_comes():
    """It takes a while, and most processes never see a failure."""
    program = (
        "import sys\n"
        "from failhook.clock import SystemClock\n"
        "from failhook_sinks.otel import OtelSink\n"
        "OtelSink({}, None, SystemClock()).close(1.0)\n"
        "print(sorted({'opentelemetry.sdk.trace', 'grpc', 'requests'} & sys.modules.keys()))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "[]" == done.stdout.strip()


def test_a_missing_client_names_the_extra(tmp_path, monkeypatch):
    """Whoever switches it on without its extra learns at once what to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    path = tmp_path / "failhook.toml"
    path.write_text("[plugins.otel]\n")

    with pytest.raises(RegistrationError) as refused:
        Pipeline.from_config(load_config(path, {}))

    assert str(refused.value).endswith("; pip install 'failhook[otel]'")


def test_close_is_asked_twice_without_harm(sink, collector):
    """An event after it opens what it needs anew."""
    assert sink.close(1.0) is True
    tell(sink, an_event())
    assert sink.close(1.0) is True
    assert sink.close(1.0) is True
    tell(sink, an_event())

    assert ["traces", "metrics", "logs"] * 2 == collector.requests
