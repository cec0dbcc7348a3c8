"""A backend that refuses: what is tried again, when, and what is told without a secret."""

from __future__ import annotations

import socket
from datetime import UTC, datetime

import pytest

from failhook.error_info import ErrorInfo
from failhook.errors import Undelivered
from tests.sinks.openlineage.conftest import BROKEN, an_event, tell
from tests.sinks.openlineage.receiver import Answer

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
def test_what_may_pass_is_tried_again_and_asked_once(make_sink, backend, status):
    """The outbox tries again; the client does not."""
    backend.answers = [Answer(status)]

    answer = refused(make_sink())

    assert answer.retryable is True
    assert f"{backend.url} answered {status}" in str(answer)
    assert 1 == len(backend.requests)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
def test_what_stays_is_told_at_once(make_sink, backend, status):
    """A wrong key or address is a dead letter with the backend's own words."""
    backend.answers = [Answer(status, body='{"message": "no such namespace"}')]

    answer = refused(make_sink())

    assert answer.retryable is False
    assert str(answer).endswith(': {"message": "no such namespace"}')
    assert 1 == len(backend.requests)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("30", 30.0),
        ("Fri, 02 Jan 2026 12:02:00 GMT", 120.0),
        ("Fri, 02 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
    ],
)
def test_a_backend_that_says_when_is_heard(make_sink, backend, said, seconds):
    """Retry-After in both of its forms."""
    backend.answers = [Answer(429, {"Retry-After": said})]

    assert seconds == refused(make_sink(clock=Noon())).retry_after


def test_a_second_try_is_the_same_run(make_sink, backend):
    """START went through and FAIL did not: both are told again, under the same id and times."""
    sink = make_sink()
    backend.answers = [Answer(), Answer(503)]
    refused(sink)

    tell(sink, an_event())

    assert ["START", "START", "FAIL"] == backend.states
    first, again, end = backend.events
    assert first == again
    assert 1 == len({event["run"]["runId"] for event in (first, again, end)})


def test_a_backend_that_is_not_there_may_come_back(make_sink, backend):
    """A refused connection names the place and the reason."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    answer = refused(make_sink(url=f"http://ann:{KEY}@127.0.0.1:{port}"))

    assert answer.retryable is True
    assert f"http://127.0.0.1:{port} gave no answer: ConnectionError: Connection refused" == str(
        answer
    )


def test_a_backend_that_hangs_is_left_in_time(make_sink, backend):
    """The time limit that somebody set is kept, and the event waits for another try."""
    backend.answers = [Answer(silent=True)]

    answer = refused(make_sink(timeout=0.2))

    assert answer.retryable is True
    assert f"{backend.url} gave no answer: ReadTimeout" == str(answer)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_to_a_login_page_is_no_delivery(make_sink, backend, status):
    """The client would follow it with a GET, and the page would answer 200."""
    backend.answers = [Answer(status, {"Location": "/login"})]

    answer = refused(make_sink())

    assert answer.retryable is False
    assert "a redirect would lose the event" in str(answer)
    assert 1 == len(backend.requests)


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_event_is_followed(make_sink, backend, status):
    """The same request goes to the other place."""
    backend.answers = [Answer(status, {"Location": "/elsewhere"})]

    tell(make_sink(), an_event())

    assert ["START", "FAIL"] == backend.states
    assert "/elsewhere" == backend.requests[1][0]


def test_what_is_too_large_goes_out_smaller_once(make_sink, backend):
    """Without traceback, phases and labels; the verdict gets through."""
    error = ErrorInfo(type="builtins.ValueError", message="x" * 9_000, traceback="y" * 20_000)
    backend.answers = [Answer(), Answer(413)]

    tell(make_sink(), an_event(details=BROKEN, error=error))

    assert ["START", "FAIL"] == backend.states
    _, whole, small = (size for _, _, size in backend.requests)
    assert small < 6_000
    assert whole > 29_000
    facets = backend.events[-1]["run"]["facets"]
    assert "UserException" == facets["failhook_failure"]["reason"]
    assert "left out: the backend found the event too large" == facets["errorMessage"]["stackTrace"]


def test_what_is_still_too_large_is_told(make_sink, backend):
    """One smaller try, no more."""
    backend.answers = [Answer(), Answer(413), Answer(413)]

    answer = refused(make_sink())

    assert answer.retryable is False
    assert 3 == len(backend.requests)


@pytest.mark.parametrize(
    "transport",
    [
        {"auth": {"type": "api_key", "apiKey": KEY}},
        {"custom_headers": {"X-Token": KEY}},
        {"endpoint": f"api/v1/lineage?api_key={KEY}"},
    ],
    ids=["key", "header", "query"],
)
@pytest.mark.parametrize("status", [302, 401, 503])
def test_no_secret_is_in_an_error(make_sink, backend, transport, status):
    """Not even one that the backend repeats."""
    backend.answers = [Answer(status, body=f"not allowed with {KEY}")]

    answer = refused(make_sink(**transport))

    assert KEY not in str(answer)


def test_a_key_that_is_no_header_is_not_shown(make_sink):
    """The client would quote the whole header."""
    answer = refused(make_sink(auth={"type": "api_key", "apiKey": f"{KEY}\nX: y"}))

    assert answer.retryable is False
    assert KEY not in str(answer)
    assert "InvalidHeader" in str(answer)
