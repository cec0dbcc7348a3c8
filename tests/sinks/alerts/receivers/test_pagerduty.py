"""One incident for one group: triggered, and resolved only if it was."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from failhook.plugin import ConfigError, ErrorInfo, Task, Undelivered
from failhook_sinks.alerts.model import Why
from failhook_sinks.alerts.receivers import pagerduty
from tests.sinks.alerts.receivers.notices import HOSTILE, alert, notice, opened, resolved
from tests.sinks.log.events import BROKEN, event
from tests.sinks.openlineage.receiver import Answer, listening

KEY = "0123456789abcdef0123456789abcdef"
TOP = {"routing_key", "event_action", "dedup_key", "payload", "client", "links"}
PAYLOAD = {"summary", "severity", "source", "timestamp", "component", "group", "class"}


@pytest.fixture
def server():
    """A stand-in for PagerDuty on loopback."""
    with listening() as server:
        yield server


@pytest.fixture
def receiver(server):
    """The receiver that sends to it."""
    return opened(pagerduty, routing_key=KEY, url=f"{server.url}/v2/enqueue")


def check(body):
    """Return the event in a body, which PagerDuty's documented schema and limits allow."""
    assert 512_000 >= len(body)
    sent = json.loads(body)
    assert {"routing_key", "event_action", "dedup_key"} <= sent.keys() <= TOP
    assert KEY == sent["routing_key"]
    assert 255 >= len(sent["dedup_key"])
    if "trigger" == sent["event_action"]:
        payload = sent["payload"]
        assert {"summary", "severity", "source"} <= payload.keys() <= PAYLOAD | {"custom_details"}
        assert 0 < len(payload["summary"]) <= 1_024
        assert payload["severity"] in {"critical", "error", "warning", "info"}
        assert payload["source"]
        assert all({"href", "text"} == link.keys() for link in sent.get("links", []))
    return sent


def test_an_incident_says_what_failed_where_and_why(server, receiver):
    """The summary alone wakes the right person; the details say the rest."""
    memory = receiver.send(notice(note="slack did not take it"))

    sent = check(server.bodies[0])
    payload = sent["payload"]
    assert payload["summary"].startswith("slack did not take it; ")
    assert "slack did not take it" == payload["custom_details"]["Note"]
    assert ("trigger", memory) == (sent["event_action"], sent["dedup_key"])
    assert "nightly/load-0 failed for good" in payload["summary"]
    assert "application UserException (confirmed)" in payload["summary"]
    expected = ("critical", "default", "load-0", "nightly")
    assert expected == tuple(payload[name] for name in ("severity", "source", "component", "group"))
    assert {"Attempt", "Verdict", "Next"} <= payload["custom_details"].keys()
    assert ["https://docs.example/reasons/userexception.md"] == [
        link["href"] for link in sent["links"]
    ]


def test_a_group_is_one_incident_until_it_is_well(server, receiver):
    """Changes and reminders go to the same one; another group has another."""
    memory = receiver.send(notice())
    memory = receiver.send(notice(why=Why.REMINDER, memory=memory))
    memory = receiver.send(resolved(notice(memory=memory)))
    receiver.send(notice(group_key="another"))

    sent = [check(body) for body in server.bodies]
    assert ["trigger", "trigger", "resolve", "trigger"] == [each["event_action"] for each in sent]
    assert 1 == len({each["dedup_key"] for each in sent[:3]})
    assert sent[0]["dedup_key"] != sent[3]["dedup_key"]
    assert "" == memory


@pytest.mark.parametrize("memory", ["", "of-another-receiver"])
def test_what_was_never_triggered_is_not_resolved(server, receiver, memory):
    """PagerDuty would answer 202, and somebody would wonder."""
    assert "" == receiver.send(resolved(notice(memory=memory)))

    assert [] == server.bodies


@pytest.mark.parametrize(
    ("labels", "severity"),
    [
        ([{"severity": "info"}, {"severity": "warning"}], "warning"),
        ([{"severity": "info"}, {"severity": "page"}], "error"),
        ([{}], "error"),
        ([{"severity": "critical"}, {}], "critical"),
    ],
)
def test_the_worst_alert_says_how_severe_it_is(server, receiver, labels, severity):
    """A word that PagerDuty does not know would be refused."""
    alerts = [alert(number=n, labels={"task": "t", **each}) for n, each in enumerate(labels)]

    receiver.send(notice(*alerts))

    assert severity == check(server.bodies[0])["payload"]["severity"]


def test_however_many_and_hostile_alerts_fit(server, receiver):
    """1,000 of them with long texts: as many as fit are told, the rest are counted."""
    details = replace(BROKEN, reason="X" * 300, message=HOSTILE * 40)
    error = ErrorInfo(type="builtins.ValueError", message=HOSTILE * 40, traceback=HOSTILE * 40)
    task = Task("w" * 1_000, "é" * 1_000)
    failed = event(task=task, details=details, error=error)
    one = alert(failed=failed, first_cause=HOSTILE * 50)

    receiver.send(notice(one))
    receiver.send(notice(*[one] * 1_000, more=9_000))

    for body in server.bodies:
        check(body)
        assert "\\u202e" not in body.decode().replace("\\\\u202e", "")
    details = json.loads(server.bodies[1])["payload"]["custom_details"]
    assert 10_000 == len(details["Alerts"]) + details["More alerts"]
    assert 100 <= len(details["Alerts"])


def test_what_is_refused_goes_smaller_and_then_plain(server, receiver):
    """Ten alerts, then the summary alone, then it is for the fallback to tell."""
    server.answers = [Answer(400)] * 4
    alerts = [alert(number=n) for n in range(200)]

    with pytest.raises(Undelivered) as raised:
        receiver.send(notice(*alerts))

    sizes = [
        len(check(body)["payload"].get("custom_details", {}).get("Alerts", []))
        for body in server.bodies
    ]
    assert [200, 100, 10, 0] == sizes
    assert not raised.value.retryable


def test_no_error_tells_the_routing_key(server, receiver):
    """PagerDuty says it back."""
    server.answers = [Answer(403, {}, f"no such key {KEY}")]

    with pytest.raises(Undelivered, match="403 Forbidden: no such key") as raised:
        receiver.send(notice())

    assert KEY not in f"{raised.value} {raised.value.__context__!r} {receiver!r}"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"plugins\.alerts\.receivers\.x\.routing_key is missing"),
        ({"routing_key": KEY, "severty": "x"}, "severty is not a setting"),
        ({"routing_key": KEY, "url": "pagerduty"}, r"x\.url is not such a URL"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=message):
        opened(pagerduty, **settings)


def test_it_goes_to_pagerduty_itself_unless_told_otherwise():
    """The service region of the EU has another URL."""
    assert "https://events.pagerduty.com/v2/enqueue" == pagerduty.URL
    assert pagerduty.URL == opened(pagerduty, routing_key=KEY).endpoint.url
