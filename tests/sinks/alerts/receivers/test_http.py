"""POST within a time, whatever the other side does, and errors that tell no secret."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import pytest
import trustme

from failhook.plugin import ConfigError, SettingsTable, SystemClock, Undelivered
from failhook_sinks.alerts.receivers.http import (
    Refused,
    post,
    post_fitting,
    read_headers,
    read_url,
    retry_after,
    time_left,
)
from tests.sinks.openlineage.receiver import Answer, listening

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECRET = "T0P-s3cret%2Ftoken"  # noqa: S105 - of nobody
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@contextmanager
def raw_server(*pieces, wrap=lambda sock: sock, again=b""):
    """Answer one connection with bytes, then with `again` until the client goes away."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with suppress(OSError):
                plain, _ = server.accept()
                plain.settimeout(20)
                with wrap(plain) as peer:
                    read_request(peer)
                    for piece in pieces:
                        peer.sendall(piece)
                    while again and not over.wait(0.02):
                        peer.sendall(again)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            over.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def read_request(peer):
    """Read as much as the request says that it has."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += received(peer)
    head, _, body = got.partition(b"\r\n\r\n")
    (length,) = (
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if b"content-length" in line
    )
    while len(body) < length:
        body += received(peer)
    return body


def received(peer):
    """Return the next piece; the client may have gone away."""
    piece = peer.recv(65_536)
    if not piece:
        raise ConnectionResetError
    return piece


def endpoint(url, **headers):
    """Return the endpoint that settings describe."""
    table = SettingsTable({"url": url, "headers": headers}, "plugins", "alerts", "receivers", "x")
    return read_url(table, headers=read_headers(table))


def send(url, body=b"{}", seconds=5.0, **headers):
    """Send one body."""
    post(endpoint(url, **headers), body, time_left(SystemClock(), seconds), NOW)


@pytest.mark.parametrize("status", [200, 202, 204])
def test_what_is_taken_is_delivered(status):
    """Each status of success is one; the body arrives whole, as JSON."""
    with listening() as server:
        server.answers = [Answer(status)]

        send(f"{server.url}/in", b'{"a": "' + b"x" * 300_000 + b'"}')

    ((path, headers, size),) = server.requests
    assert ("/in", "application/json", 300_009) == (path, headers["Content-Type"], size)


@pytest.mark.parametrize(
    ("status", "retryable", "for_content"),
    [
        *((status, True, False) for status in (408, 425, 429, 500, 502, 503, 504, 599)),
        *((status, False, False) for status in (401, 403, 404, 410, 301, 302, 307, 308)),
        *((status, False, True) for status in (400, 413, 422)),
    ],
)
def test_a_status_says_whether_to_try_again_and_whether_to_say_less(status, retryable, for_content):
    """The outbox retries what may pass; what is too much is said in fewer words."""
    with listening() as server:
        server.answers = [Answer(status, {"Location": f"{server.url}/elsewhere"})]

        with pytest.raises(Refused, match=str(status)) as refused:
            send(server.url)

    error = refused.value
    assert (retryable, for_content) == (error.retryable, error.for_content)
    assert 1 == len(server.requests)  # no redirect was followed


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("99999999999999999999", 3_600.0),
        ("Fri, 02 Jan 2026 03:05:05 GMT", 60.0),
        ("Fri, 02 Jan 2026 03:04:00 GMT", 0.0),
        ("Fri, 02 Jan 2099 03:04:00 GMT", 3_600.0),
        *((text, None) for text in ("", "soon", "-5", "nan", "inf", "1e9", "²", None)),
    ],
)
def test_a_server_says_when_to_come_back_in_seconds_or_as_a_date(said, seconds):
    """And never so late that an alert is of no use any more."""
    assert seconds == retry_after(said, NOW)


def test_the_wait_that_a_server_asks_for_is_passed_on():
    """The outbox keeps the schedule."""
    with listening() as server:
        server.answers = [Answer(429, {"Retry-After": "7"})]

        with pytest.raises(Refused) as refused:
            send(server.url)

    assert 7.0 == refused.value.retry_after


@pytest.mark.parametrize(
    ("pieces", "again"),
    [
        ([], b"H"),
        ([b"HTTP/1.1 200 OK\r\n"], b"X"),
        ([], b""),
        ([b"HTTP/1.1 2"], b""),
        ([b"SSH-2.0-OpenSSH\r\n"], b""),
        ([b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"], b""),
        ([b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 200, b"\r\n"], b""),
    ],
    ids=["drip", "drip of a header", "closed", "cut", "not HTTP", "long line", "many lines"],
)
def test_what_is_no_answer_ends_in_time_and_may_pass(pieces, again):
    """A server that hangs, drips, breaks off or talks nonsense holds nobody for ever."""
    with raw_server(*pieces, again=again) as port:
        with pytest.raises(Undelivered, match=rf"http://127.0.0.1:{port} gave no answer") as raised:
            send(f"http://127.0.0.1:{port}/{SECRET}", seconds=0.3)

    assert raised.value.retryable
    assert SECRET not in str(raised.value)
    assert 300 > len(str(raised.value))


def test_a_server_that_says_nothing_ends_in_time_and_may_pass():
    """It has taken the connection and the request."""
    with listening() as server:
        server.answers = [Answer(silent=True)]

        with pytest.raises(Undelivered, match="it took too long") as raised:
            send(server.url, seconds=0.2)

    assert raised.value.retryable


def test_a_server_that_reads_nothing_ends_in_time_and_may_pass():
    """The bytes of the request are not taken; a connection was."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"

        with pytest.raises(Undelivered, match="it took too long"):
            send(url, b"x" * 30_000_000, seconds=0.3)


def test_nobody_there_may_pass():
    """The port is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"

    with pytest.raises(Undelivered, match="Connection refused") as raised:
        send(url)

    assert raised.value.retryable


@pytest.mark.parametrize(
    "rest",
    [b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ids=["cut", "nonsense"],
)
def test_what_was_taken_is_taken_however_the_answer_ends(rest):
    """The status has come; sending it again would be one message too many."""
    with raw_server(b"HTTP/1.1 202 Accepted\r\n", rest) as port:
        send(f"http://127.0.0.1:{port}")


def test_of_a_huge_answer_only_the_beginning_is_read():
    """An endless error page holds nobody, and one line of it is told."""
    head = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with raw_server(head, again=b"no <b>such</b> \x00\n key " * 100_000) as port:
        with pytest.raises(Refused, match="no <b>such</b> key no") as raised:
            send(f"http://127.0.0.1:{port}")

    assert 300 > len(str(raised.value))


def test_a_server_whose_certificate_nobody_vouches_for_gets_nothing(monkeypatch, tmp_path):
    """Not even the request; once its authority is known, it does."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def wrap(sock):
        return context.wrap_socket(sock, server_side=True)

    with raw_server(OK, wrap=wrap) as port:
        with pytest.raises(Undelivered, match="certificate verify failed") as raised:
            send(f"https://127.0.0.1:{port}/{SECRET}")
    assert raised.value.retryable
    assert SECRET not in str(raised.value)

    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with raw_server(OK, wrap=wrap) as port:
        send(f"https://127.0.0.1:{port}", b"x" * 100_000)


def test_no_error_tells_a_secret():
    """A server that says everything back, and a client that cannot say it, tell no key."""
    token = "Bearer abcdef-123456"  # noqa: S105 - of nobody
    with listening() as server:
        url = server.url.replace("//", "//us%40er:pa55word@")
        echo = f"{SECRET} T0P-s3cret/token {token} abcdef-123456 us@er pa55word q=query-value"
        server.answers = [Answer(400, {}, echo)]

        with pytest.raises(Refused) as raised:
            send(f"{url}/hooks/{SECRET}?key=query-value", **{"X-Key": token})

    ((path, headers, _),) = server.requests
    assert f"/hooks/{SECRET}?key=query-value" == path
    assert ("Basic dXNAZXI6cGE1NXdvcmQ=", token) == (headers["Authorization"], headers["X-Key"])
    told = f"{raised.value!r} {raised.value.__context__!r} {endpoint(url)!r}"
    for secret in ("s3cret", "abcdef", "us@er", "us%40er", "pa55", "query-value"):
        assert secret not in told


def test_a_proxy_of_the_environment_is_for_others_than_this_machine(monkeypatch):
    """As for every other client of the machine; NO_PROXY has its way, loopback needs none."""
    with listening() as proxy, listening() as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.replace("//", "//user:word@"))
        monkeypatch.setenv("NO_PROXY", "inside.example")

        send("http://outside.example/in")
        send(server.url)
        with pytest.raises(Undelivered):
            send("http://inside.example:1/", seconds=0.5)

    ((path, headers, _),) = proxy.requests
    assert "http://outside.example/in" == path
    assert "Proxy-Authorization" in headers
    assert 1 == len(server.requests)


def test_tls_goes_through_a_proxy_as_a_tunnel(monkeypatch):
    """The proxy is asked for the tunnel alone; what it refuses may pass."""
    with raw_server(b"HTTP/1.1 407 No\r\n\r\n") as port:
        monkeypatch.setattr("tests.sinks.alerts.receivers.test_http.read_request", _read_head)
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")

        with pytest.raises(Undelivered, match="Tunnel connection failed: 407"):
            send(f"https://outside.example/{SECRET}")


def _read_head(peer):
    got = peer.recv(65_536)
    assert got.startswith(b"CONNECT outside.example:443 HTTP/1.")
    assert SECRET.encode() not in got


def test_what_is_refused_for_its_content_is_said_in_fewer_words():
    """Smaller, then least; the last refusal is final."""
    at = time_left(SystemClock(), 8.0)
    with listening() as server:
        server.answers = [Answer(413), Answer(400), Answer(422), Answer(404), Answer(503)]
        to = endpoint(server.url)

        with pytest.raises(Refused, match="422"):
            post_fitting(to, [b"{}", b"[]", b"1"], at, NOW)
        for status in ("404", "503"):
            with pytest.raises(Refused, match=status):
                post_fitting(to, [b"{}", b"[]"], at, NOW)
        post_fitting(to, [b"{}", b"[]"], at, NOW)

    assert [b"{}", b"[]", b"1", b"{}", b"{}", b"{}"] == server.bodies


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://user@host:8443/in", "https://host:8443"),
        ("http://[::1]:9093/in", "http://[::1]:9093"),
    ],
)
def test_messages_name_scheme_host_and_port(url, place):
    """Nothing else of a URL is told."""
    assert place == endpoint(url).place
    assert endpoint(url).url == f"{place}/in"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/s3cret",
        "//host/s3cret",
        "https:///s3cret",
        "host/s3cret",
        "https://host:s3cret/",
        "https://host:99999/s3cret",
        "https://[::1/s3cret",
        "https://host/s3 cret",
        "https://host/s3cret\nX: y",
        "https://höst/s3cret",
    ],
)
def test_what_is_no_url_is_refused_without_being_told(url):
    """A URL may be a secret as a whole; the setting is named."""
    with pytest.raises(ConfigError, match=r"^plugins\.alerts\.receivers\.x\.url ") as raised:
        endpoint(url)

    assert "cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"), [("X-Key: a\r\nY", "s3cret"), ("X-Key", "s3cret\r\nY: z"), ("", "s3cret")]
)
def test_what_is_no_header_is_refused_without_being_told(name, value):
    """It could not be sent."""
    with pytest.raises(ConfigError, match="headers") as raised:
        endpoint("https://host", **{name: value})

    assert "s3cret" not in str(raised.value)


def test_when_the_time_is_over_nothing_more_is_sent():
    """What is said in fewer words has what is left of the same time."""
    with listening() as server:
        with pytest.raises(Undelivered, match="it took too long"):
            send(server.url, seconds=0)

    assert [] == server.requests
