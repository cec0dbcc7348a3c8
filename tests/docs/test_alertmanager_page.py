"""What the page on Alertmanager shows works with a real one."""

from __future__ import annotations

import json
import re
import time
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from failhook.plugin import FailureDetails, Kind, SettingsTable, SystemClock, Task, to_rfc3339
from failhook_sinks.alerts.receivers import open_receivers
from failhook_sinks.alerts.settings import read_settings
from tests.alertmanager import running
from tests.sinks.alerts.receivers.notices import alert, notice
from tests.sinks.openlineage.receiver import listening

PAGE = (Path(__file__).parents[2] / "docs" / "alertmanager.md").read_text("utf-8")
(YAML,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
(TOML,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
ALWAYS = 'times: [{start_time: "00:00", end_time: "24:00"}]'


def failed(workflow, name, reason, kind, message="", **labels):
    """Return an alert on a failure for good."""
    details = FailureDetails(kind=kind, reason=reason, message=message)
    task = Task(workflow, name, owner="data", labels=labels)
    # Alertmanager does not wait for the rest of a group whose alert is older than group_wait.
    return replace(alert(task, details=details), starts_at=datetime.now(UTC))


def settings(url):
    """Return what the page's settings say, with the URL of a server of ours."""
    table = tomllib.loads(TOML)["plugins"]["alerts"]
    read_settings(table)
    table["receivers"]["alertmanager"]["urls"] = [url]
    return SettingsTable(table, "plugins", "alerts")


def wait_for(bodies, count):
    """Wait until so many requests have come."""
    for _ in range(1_000):
        if len(bodies) >= count:
            return
        time.sleep(0.02)
    pytest.fail(f"only {bodies} have come")


@pytest.mark.requires_service("alertmanager")
def test_alertmanager_groups_inhibits_silences_and_keeps_windows_as_the_page_says():
    """The page's files as they stand, but for URLs, short waits, and a window that is open now."""
    with listening() as chat, listening() as pager:
        config = (
            YAML.replace("https://hooks.slack.com/services/T000/B000/XXXX", chat.url)
            .replace("https://events.pagerduty.com/v2/enqueue", pager.url)
            .replace("group_wait: 30s", "group_wait: 500ms")
            .replace('"sunday"', '"sunday:saturday"')
            .replace('"monday:friday"', '"sunday:saturday"')
        )
        config = re.sub(r"times: \[.*\]", ALWAYS, config)
        with running(config) as server:
            now = datetime.now(UTC)
            server.post(
                "/api/v2/silences",
                {
                    "matchers": [{"name": "workflow", "value": "quiet", "isRegex": False}],
                    "startsAt": to_rfc3339(now),
                    "endsAt": to_rfc3339(now + timedelta(hours=1)),
                    "createdBy": "test",
                    "comment": "new disks",
                },
            )
            (receiver,) = open_receivers(
                settings(server.url).named("receivers"), SystemClock()
            ).values()
            app, infra = Kind.APPLICATION, Kind.INFRA
            receiver.send(
                notice(
                    failed("etl", "load", "UserException", app, "boom & <!channel>"),
                    failed("etl", "report", "UpstreamFailed", app),
                    failed("quiet", "load", "UserException", app),
                    failed("etl", "dev-load", "UserException", app, env="dev"),
                    *[failed("etl", f"t{n}", "NodeLost", infra) for n in range(3)],
                    failed("etl", "slow", "ExecutionTimeout", Kind.TIMEOUT),
                )
            )

            wait_for(chat.bodies, 2)
            held = {
                (each["labels"]["workflow"], each["labels"]["task"]): each
                for each in server.get("/api/v2/alerts")
            }

    receivers = {name: each["receivers"][0]["name"] for name, each in held.items()}
    assert {
        ("etl", "load"): "owners-chat",
        ("etl", "report"): "owners-chat",
        ("quiet", "load"): "owners-chat",
        ("etl", "dev-load"): "nobody",
        ("etl", "t0"): "platform-pager",
        ("etl", "t1"): "platform-pager",
        ("etl", "t2"): "platform-pager",
        ("etl", "slow"): "platform-chat",
    } == receivers
    assert {("etl", "report")} == {n for n, each in held.items() if each["status"]["inhibitedBy"]}
    assert {("quiet", "load")} == {n for n, each in held.items() if each["status"]["silencedBy"]}
    assert [] == pager.bodies
    said = sorted(
        (sent["channel"], sent["attachments"][0]["title"], sent["attachments"][0]["text"])
        for sent in map(json.loads, chat.bodies)
    )
    assert ["#data", "#platform"] == [channel for channel, _, _ in said]
    assert "firing: application UserException, 1 tasks" == said[0][1]
    assert "boom &amp; &lt;!channel>" in said[0][2]
    assert "prod-eu" == held["etl", "load"]["labels"]["cluster"]


@pytest.mark.requires_service("alertmanager")
def test_alertmanager_reads_the_page_s_file_as_it_stands():
    """Nothing of it was changed for this one."""
    with running(YAML) as server:
        assert "office-hours" in server.get("/api/v2/status")["config"]["original"]
