"""Where events go: every transport of the client, by its own configuration or by ours."""

from __future__ import annotations

import json
import logging
import os
import sys
from types import SimpleNamespace

import pytest

from failhook.clock import SystemClock
from failhook.errors import ConfigError, Undelivered
from failhook_sinks.openlineage import OpenLineageSink
from failhook_sinks.openlineage.transport import within_limits
from tests.sinks.openlineage.conftest import an_event, tell
from tests.sinks.openlineage.receiver import Answer

HTTP = {"type": "http", "url": "http://127.0.0.1:5000"}


def told(settings):
    """Return the sink after it told an event."""
    sink = OpenLineageSink(settings, SystemClock())
    tell(sink, an_event())
    sink.close(1.0)
    return sink


def refusal(settings):
    """Return what the outbox is told."""
    with pytest.raises(Undelivered) as caught:
        told(settings)
    assert caught.value.retryable is False
    return str(caught.value)


def sender(request):
    """Return the Authorization header of a request."""
    return request[1].get("Authorization")


def test_the_clients_own_file_says_where(backend, tmp_path):
    """openlineage.yml of the working directory, as for every other producer."""
    (tmp_path / "openlineage.yml").write_text(
        f"transport: {{type: http, url: '{backend.url}', endpoint: lineage, compression: gzip,\n"
        " auth: {type: api_key, apiKey: k1}}\n"
    )

    with pytest.raises(Undelivered):  # the stand-in reads no gzip
        told({})

    assert ("/lineage", "gzip", "Bearer k1") == (
        backend.requests[0][0],
        backend.requests[0][1]["Content-Encoding"],
        sender(backend.requests[0]),
    )


def test_the_clients_own_variables_say_where(backend, monkeypatch):
    """OPENLINEAGE__TRANSPORT__..., with tags of runs beside it."""
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__URL", backend.url)
    monkeypatch.setenv("OPENLINEAGE__TAGS__RUN__SITE", "east")

    told({})

    assert ["START", "FAIL"] == backend.states
    keys = {tag["key"] for tag in backend.events[-1]["run"]["facets"]["tags"]["tags"]}
    assert {"site", "failhook.failure.kind", "openlineage_client_version"} <= keys


def test_the_clients_short_variables_say_where(backend, monkeypatch):
    """OPENLINEAGE_URL and its kin; the environment, which tasks inherit, stays as it was."""
    monkeypatch.setenv("OPENLINEAGE_URL", backend.url)
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "k2")
    monkeypatch.setenv("OPENLINEAGE_ENDPOINT", "there")

    told({})

    assert [("/there", "Bearer k2")] * 2 == [
        (request[0], sender(request)) for request in backend.requests
    ]
    assert [] == [name for name in os.environ if name.startswith("OPENLINEAGE__")]


def test_our_own_table_stands_by_itself(backend, monkeypatch):
    """A key that the environment has for another address is not sent to ours."""
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__AUTH", '{"type": "api_key", "apiKey": "k3"}')

    told({"transport": {"type": "http", "url": backend.url}})

    assert [None, None] == list(map(sender, backend.requests))


def test_without_a_transport_the_way_to_one_is_told():
    """Nothing is printed to a console that nobody reads."""
    assert "no lineage backend is configured: write [plugins.openlineage.transport]" in refusal({})


def test_the_clients_own_switch_is_kept(backend, monkeypatch):
    """OPENLINEAGE_DISABLED drops events, ours too."""
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")

    told({})
    told({"transport": {"type": "http", "url": backend.url}})

    assert [] == backend.requests


def test_every_transport_works_by_its_name(tmp_path, caplog):
    """File and console as examples that need no server."""
    caplog.set_level(logging.INFO, "openlineage.client.transport.console")

    told({"transport": {"type": "console"}})
    path = tmp_path / "events.jsonl"
    told({"transport": {"type": "file", "log_file_path": str(path), "append": True}})

    assert 2 == len([record for record in caplog.records if "eventType" in record.message])
    states = [json.loads(line)["eventType"] for line in path.read_text().splitlines()]
    assert ["START", "FAIL"] == states


def test_nested_transports_get_the_limits_too(backend):
    """A composite of a transform and plain HTTP, neither of which retries."""
    transform = {
        "type": "transform",
        "transport": {"type": "http", "url": backend.url},
        "transformer_class": "openlineage.client.transport.transform.transformers"
        ".job_namespace_replace_transformer.JobNamespaceReplaceTransformer",
        "transformer_properties": {"new_job_namespace": "elsewhere"},
    }
    both = {"first": transform, "second": {"type": "http", "url": backend.url}}

    told({"transport": {"type": "composite", "transports": both}})

    assert ["START", "START", "FAIL", "FAIL"] == backend.states
    assert ["elsewhere", "default"] == [event["job"]["namespace"] for event in backend.events[:2]]


@pytest.mark.parametrize(("go_on", "retryable"), [(False, False), (True, True)])
def test_a_composite_is_judged_as_far_as_it_tells(backend, go_on, retryable):
    """One that stops at a failure passes it on; one that goes on says only that all failed."""
    backend.answers = [Answer(400)]
    one = {"type": "http", "url": backend.url}
    composite = {"type": "composite", "transports": [one], "continue_on_failure": go_on}

    with pytest.raises(Undelivered) as caught:
        told({"transport": composite})

    assert retryable is caught.value.retryable


def test_the_limits_are_ours_until_somebody_sets_his_own():
    """2 s and no retries in the client; what the user wrote stays."""
    ours = within_limits(HTTP)
    theirs = within_limits({**HTTP, "timeout": 9, "retry": {"total": 3}})

    assert (2.0, 0, []) == (
        ours["timeout"],
        ours["retry"]["total"],
        ours["retry"]["status_forcelist"],
    )
    assert (9, {"total": 3}) == (theirs["timeout"], theirs["retry"])
    assert ours == within_limits({**HTTP, "type": "async_http"})


@pytest.mark.parametrize("shape", [list, dict])
def test_the_limits_reach_what_is_nested(shape):
    """Wherever an HTTP transport stands in the description."""
    nested = [{"type": "transform", "transport": HTTP}, {"type": "datadog", "apiKey": "k"}]
    transports = nested if shape is list else dict(zip("ab", nested, strict=True))

    limited = within_limits({"type": "composite", "transports": transports})["transports"]

    transform, datadog = limited if shape is list else limited.values()
    assert 2.0 == transform["transport"]["timeout"]
    assert (2.0, {}) == (datadog["timeout"], datadog["async_transport_rules"])


def test_kafka_is_waited_for_and_not_believed(monkeypatch):
    """What its producer could not hand over in time is told as undelivered."""
    produced = []

    class Producer:
        """Takes messages and keeps them, as one without a broker does."""

        def __init__(self, settings):
            produced.append(settings)

        def produce(self, **message):
            produced.append(message)

        def flush(self, timeout):
            assert timeout == 2.0
            return 1

    monkeypatch.setitem(sys.modules, "confluent_kafka", SimpleNamespace(Producer=Producer))

    with pytest.raises(Undelivered, match=r"the kafka transport had no answer in 2.0 s") as caught:
        told({"transport": {"type": "kafka", "topic": "lineage", "config": {}}})

    assert caught.value.retryable is True
    assert "lineage" == produced[1]["topic"]


@pytest.mark.parametrize(
    ("transport", "message"),
    [
        ({"type": "http"}, "`url` key not passed to HttpConfig"),
        ({"type": "htpp"}, "Failed to import htpp"),
        ({"type": "http", "url": "ann:s3cr3t@host"}, "Need valid url"),
        ({"type": "http", "url": "http://h", "auth": {"type": "api_key"}}, "apiKey is required"),
    ],
)
def test_a_transport_that_cannot_be_set_up_is_told(transport, message):
    """In the client's words, without what is secret in them."""
    text = refusal({"transport": transport})

    assert text.startswith("the transport cannot be set up: ")
    assert message in text
    assert "s3cr3t" not in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mod": "enrich"}, "plugins.openlineage.mod is not a setting; did you mean plugins.openl"),
        ({"mode": "all"}, "plugins.openlineage.mode is 'all'; allowed: terminal, enrich"),
        ({"transport": "http"}, "plugins.openlineage.transport is 'http'; it must be a table"),
        ({"transport": {"url": "x"}}, "plugins.openlineage.transport.type must be a type"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(settings, message):
    """Before anything is sent."""
    with pytest.raises(ConfigError) as caught:
        OpenLineageSink(settings, SystemClock())

    assert message == str(caught.value)[: len(message)]
