"""CloudEvents in structured mode, signed as Standard Webhooks says; read by their own libraries."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from failhook.plugin import ConfigError, ErrorInfo, FailureEvent, Task, Undelivered
from failhook_sinks.alerts.model import Why
from failhook_sinks.alerts.receivers import webhook
from tests.sinks.alerts.receivers.notices import HOSTILE, alert, notice, opened, resolved
from tests.sinks.log.events import BROKEN, event
from tests.sinks.openlineage.receiver import Answer, listening

OLD, NEW = (f"whsec_{base64.b64encode(key * 24).decode()}" for key in (b"o", b"n"))
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def server():
    """An endpoint on loopback."""
    with listening() as server:
        yield server


@pytest.fixture
def receiver(server):
    """The receiver that sends to it."""
    return opened(webhook, url=server.url, secrets=[NEW, OLD])


def read(server, number=-1):
    """Return what CloudEvents' own library reads in a request."""
    _, headers, size = server.requests[number]
    body = server.bodies[number]
    assert size <= 65_536
    return from_structured_event(HTTPMessage({k.lower(): v for k, v in headers.items()}, body))


def test_a_notification_is_a_cloud_event(server, receiver):
    """With the whole failure event, as failhook writes it."""
    failed = event(task=Task("nightly", "load", traceparent=TRACE), details=BROKEN)

    receiver.send(notice(alert(failed=failed)))

    read_back, data = read(server), read(server).get_data()
    assert ("1.0", "io.failhook.alert.firing.v1", "/failhook", "application/json") == (
        read_back.get_specversion(),
        read_back.get_type(),
        read_back.get_source(),
        read_back.get_datacontenttype(),
    )
    assert TRACE == read_back.get_extension("traceparent")
    assert "application/cloudevents+json" == server.requests[0][1]["Content-Type"]
    assert ("firing", "new", False) == tuple(data[key] for key in ("status", "why", "simulated"))
    assert failed == FailureEvent.from_dict(data["alerts"][0]["event"])
    assert "nightly/load failed for good" == data["title"]


def test_a_recovery_is_an_event_of_its_own_type(server, receiver):
    """A consumer filters by it."""
    receiver.send(resolved(notice()))

    assert "io.failhook.alert.resolved.v1" == read(server).get_type()
    assert "2026-01-02T03:09:05.000000Z" == read(server).get_data()["alerts"][0]["ends_at"]


@pytest.mark.parametrize("secret", [OLD, NEW])
def test_either_secret_verifies_while_one_takes_the_others_place(server, receiver, secret):
    """The library that consumers use says so; a changed body or another secret does not pass."""
    receiver.send(notice())
    (_, headers, _), (body,) = server.requests[0], server.bodies

    assert json.loads(body) == Webhook(secret).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(f"whsec_{base64.b64encode(b'x' * 24).decode()}").verify(body, headers)


def test_without_a_secret_there_is_no_signature(server):
    """And nothing that looks like one."""
    opened(webhook, url=server.url, headers={"X-Team": "data"}).send(notice())

    ((_, headers, _),) = server.requests
    assert "data" == headers["X-Team"]
    assert {"Webhook-Id", "Webhook-Timestamp"} == {
        name for name in headers if name.startswith("Webhook-")
    }


def test_what_is_sent_again_has_the_same_id_and_a_reminder_has_another(server, receiver):
    """Consumers drop what they have seen; a reminder they have not."""
    first = receiver.send(notice())
    again = receiver.send(notice())
    reminder = receiver.send(notice(why=Why.REMINDER, memory=first))
    more = receiver.send(notice(alert(count=2)))
    well = receiver.send(resolved(notice(memory=reminder)))

    assert first == again
    assert 4 == len({first, reminder, more, well})
    ids = [headers["Webhook-Id"] for _, headers, _ in server.requests]
    assert [first, again, reminder, more, well] == ids
    assert ids == [read(server, number).get_id() for number in range(5)]
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize(("count", "size"), [(1, 2_000), (15, 2_000), (1_000, 40)])
def test_however_much_there_is_to_say_it_fits(server, receiver, count, size):
    """64 KiB, which every consumer of CloudEvents takes; what is left out is counted."""
    details = replace(BROKEN, message=HOSTILE * size)
    error = ErrorInfo(type="builtins.ValueError", message=HOSTILE * size, traceback=HOSTILE * size)
    failed = event(task=Task("w" * 1_000, "é" * 1_000), details=details, error=error)

    receiver.send(notice(*[alert(failed=failed)] * count, more=9_000))

    data = read(server).get_data()
    assert 9_000 + count == len(data["alerts"]) + data["more"]
    assert "failed" in data["text"]


@pytest.mark.parametrize(("count", "least"), [(1, 1), (20, 20), (60, 20)])
def test_a_large_group_is_named_as_far_as_there_is_room(server, receiver, count, least):
    """A text that says it all takes no alert's place; the newest ones are there, others counted."""
    failed = event(details=replace(BROKEN, message="m" * 100_000 if count == 1 else "m" * 4_000))
    alerts = [alert(failed=failed, number=number) for number in range(count)]

    receiver.send(notice(*alerts))

    data = read(server).get_data()
    assert least <= len(data["alerts"])
    assert [each.fingerprint for each in alerts[: len(data["alerts"])]] == [
        each["fingerprint"] for each in data["alerts"]
    ]
    assert count == len(data["alerts"]) + data["more"]


def test_what_is_refused_goes_smaller(server, receiver):
    """Without tracebacks, then few, then the text alone; then it is for the fallback to tell."""
    server.answers = [Answer(status) for status in (413, 400, 422, 400)]
    error = ErrorInfo(type="builtins.ValueError", message="boom", traceback="boom")
    alerts = [alert(failed=event(details=BROKEN, error=error), number=n) for n in range(20)]

    with pytest.raises(Undelivered) as raised:
        receiver.send(notice(*alerts))

    sent = [read(server, number).get_data()["alerts"] for number in range(len(server.bodies))]
    assert [20, 20, 20, 0] == [len(each) for each in sent]
    groups = [read(server, number).get_data()["group_labels"] for number in range(4)]
    assert [{"cause": "KeyError/3f2a9c01"}] * 4 == groups
    assert ["error" in each[0]["event"] for each in sent[:2]] == [True, False]
    assert not raised.value.retryable


@pytest.mark.parametrize(
    "secret", ["s3cret", "whsec_", "whsec_c2hvcnQ=", "whsec_???", f"whsec_{'A' * 100}"]
)
def test_what_is_no_secret_is_refused_without_being_told(secret):
    """A short one could be guessed; another form would not verify."""
    with pytest.raises(ConfigError, match=r"x\.secrets has a wrong entry: number 2") as raised:
        opened(webhook, url="https://host", secrets=[NEW, secret])

    assert secret.removeprefix("whsec_") in {"", "???"} or secret not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"x\.url is missing"),
        ({"url": "https://host", "secret": NEW}, "did you mean .*secrets"),
        ({"url": "https://host", "source": "a b"}, r"x\.source is 'a b'"),
        ({"url": "https://host", "max_bytes": 10}, r"x\.max_bytes is 10"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=message):
        opened(webhook, **settings)


def test_no_error_and_no_repr_tells_a_secret(server, receiver):
    """The endpoint says everything back."""
    server.answers = [Answer(401, {}, f"bad secret {NEW}")]

    with pytest.raises(Undelivered, match="401") as raised:
        receiver.send(notice())

    assert NEW not in f"{raised.value} {receiver!r}"
    assert "nnnnnnnn" not in repr(receiver)
