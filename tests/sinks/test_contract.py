"""Every bundled sink and receiver passes the contract that plugin authors are handed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from failhook.manager.provisions import VolatileState
from failhook.testing import Answer, PluginContract
from failhook_sinks.alerts import AlertSink
from failhook_sinks.openlineage import OpenLineageSink
from failhook_sinks.otel import OtelSink

SIGNING = "c2VjcmV0LW9mLXRoZS1jb250cmFjdC13aXRoLXNpbmtz"
KEY = "s3cr3t-key-of-the-contract"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch, tmp_path):
    """Keep what this machine says of clients and proxies out."""
    for name in list(os.environ):
        if name.startswith(("OPENLINEAGE", "OTEL")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


class TestOpenLineage(PluginContract):
    """Through the HTTP transport of the client."""

    secrets = (KEY,)

    def make(self, url, clock):
        auth = {"type": "api_key", "apiKey": KEY}
        return OpenLineageSink({"transport": {"type": "http", "url": url, "auth": auth}}, clock)


class TestOtel(PluginContract):
    """Through the OTLP exporter over HTTP."""

    secrets = (KEY,)

    def taken(self, request):
        return Answer(200, "", {"Content-Type": "application/x-protobuf"})

    def make(self, url, clock):
        os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf"
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = url
        os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = f"authorization={KEY}"
        return OtelSink({}, VolatileState(), clock)


class Receiver(PluginContract):
    """One receiver behind the alerts."""

    secrets = (KEY,)
    settings: Mapping[str, object] = MappingProxyType({})
    path = ""

    def make(self, url, clock):
        receiver = {"url": f"{url}{self.path}", "timeout": 0.5, **self.settings}
        settings = {
            "route": {"receiver": "it", "notify_manual": True},
            "receivers": {"it": receiver},
        }
        return AlertSink(settings, VolatileState(), clock, Path())


class TestSlack(Receiver):
    """With a bot token, through slack_sdk."""

    settings = MappingProxyType({"type": "slack", "token": KEY, "channel": "#ops"})
    path = "/api/"

    def taken(self, request):
        return Answer(body=json.dumps({"ok": True, "channel": "C1", "ts": "1.2"}))


class TestSlackWebhook(Receiver):
    """Through slack_sdk; the address is the secret."""

    settings = MappingProxyType({"type": "slack_webhook"})
    path = f"/services/T0/B0/{KEY}"

    def taken(self, request):
        return Answer(body="ok", headers={"Content-Type": "text/plain"})


class TestPagerDuty(Receiver):
    """Events API v2."""

    settings = MappingProxyType({"type": "pagerduty", "routing_key": KEY})

    def taken(self, request):
        return Answer(202, json.dumps({"status": "success", "dedup_key": "k"}))


class TestAlertmanager(Receiver):
    """API v2, with the password in the address."""

    settings = MappingProxyType({"type": "alertmanager"})

    def make(self, url, clock):
        at = url.replace("://", f"://failhook:{KEY}@")
        receiver = {"type": "alertmanager", "urls": [at], "timeout": 0.5}
        settings = {"route": {"receiver": "it"}, "receivers": {"it": receiver}}
        return AlertSink(settings, VolatileState(), clock, Path())


class TestWebhook(Receiver):
    """CloudEvents, signed; the address is a secret too."""

    settings = MappingProxyType(
        {"type": "webhook", "secrets": ["whsec_c2VjcmV0LW9mLXRoZS1jb250cmFjdC13aXRoLXNpbmtz"]}
    )
    secrets = (KEY, "c2VjcmV0LW9mLXRoZS1jb250cmFjdC13aXRoLXNpbmtz")
    path = f"/hook?token={KEY}"
