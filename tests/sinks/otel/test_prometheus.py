"""What Debian's Prometheus makes of the numbers: scraped from failhook, asked in PromQL."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from urllib.parse import quote
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.postgres import WATCH
from tests.sinks.otel.conftest import BROKEN, TASK, an_event, tell

DIRECT = build_opener(ProxyHandler({}))
TRIES = 600


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def prometheus(folder, target):
    """Run a Prometheus that scrapes one target each 100 ms; it ends with the block."""
    config = {
        "global": {"scrape_interval": "100ms", "scrape_timeout": "100ms"},
        "scrape_configs": [{"job_name": "failhook", "static_configs": [{"targets": [target]}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *("sh", "-c", WATCH, "sh", shutil.which("prometheus")),
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.communicate()  # its input ends, so the watcher ends it and removes the folder


def ask(url, query):
    """Return the series that a query finds, once it finds some: labels and value."""
    for _ in range(TRIES):
        try:
            with DIRECT.open(f"{url}/api/v1/query?query={quote(query)}", timeout=10) as answer:
                found = json.load(answer)["data"]["result"]
        except OSError:  # it is not up yet
            found = []
        if found:
            return [(each["metric"], float(each["value"][1])) for each in found]
        time.sleep(0.05)
    return []


@pytest.mark.requires_service("prometheus")
def test_prometheus_scrapes_the_failures(make_sink, monkeypatch, tmp_path):
    """With OTEL_METRICS_EXPORTER=prometheus, by kind, and durations in buckets of seconds."""
    port = free_port()
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "prometheus")
    monkeypatch.setenv("OTEL_EXPORTER_PROMETHEUS_HOST", "127.0.0.1")
    monkeypatch.setenv("OTEL_EXPORTER_PROMETHEUS_PORT", str(port))
    lost = [an_event(task=TASK.at_attempt(number)) for number in (1, 2, 3)]
    sink = make_sink(signals=["metrics"])
    tell(sink, *lost, an_event(task=TASK.at_attempt(4), details=BROKEN))
    folder = tmp_path / "prometheus"
    folder.mkdir()

    with prometheus(folder, f"127.0.0.1:{port}") as url:
        by_kind = ask(url, "sum by (failhook_failure_kind) (failhook_task_failures_total)")
        slow = ask(url, 'sum(failhook_task_attempt_duration_seconds_bucket{le="300"})')
        names = ask(url, 'failhook_task_failures_total{error_type="WorkerLost"}')

    assert {"infra": 3.0, "application": 1.0} == {
        labels["failhook_failure_kind"]: value for labels, value in by_kind
    }
    assert [4.0] == [value for _, value in slow]
    ((labels, _),) = names
    assert ("nightly", "load", "error", "retry") == tuple(
        labels[name]
        for name in (
            "cicd_pipeline_name",
            "cicd_pipeline_task_name",
            "cicd_pipeline_task_run_result",
            "failhook_retry_decision",
        )
    )
