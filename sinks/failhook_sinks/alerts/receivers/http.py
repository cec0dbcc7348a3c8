"""JSON by HTTP POST: within a time, no redirects, and errors that tell no secret."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from http.client import HTTPException, HTTPResponse
from typing import Any, Final, cast
from urllib.error import URLError
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from urllib.request import Request

from failhook.plugin import (
    Clock,
    SettingsTable,
    Undelivered,
    may_pass,
    read_retry_after,
    status_line,
)
from failhook_sinks.alerts.receivers.connection import TimeLeft, is_loopback, opener

CONNECT: Final = 2.0
"""Seconds for a connection."""
TOTAL: Final = 8.0
"""Seconds for all that one notification takes, unless set; a plugin has ten."""
MAX_RETRY_AFTER: Final = 3_600.0
"""Seconds that a server may ask to wait."""
NO_ANSWER: Final = (OSError, HTTPException)
"""What is raised where there was no answer, or none in time."""

_CONTENT: Final = frozenset({400, 413, 422})
_MOST_READ: Final = 4_096
_EXCERPT: Final = 200
_SHORTEST_SECRET: Final = 4
_SHORTEST_SEGMENT: Final = 8
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MUST: Final = "it must be a URL: https://host/path, or http://"


class Refused(Undelivered):
    """The other side has answered, and not with success.

    Args:
        status: the HTTP status.
    """

    def __init__(
        self, message: str, *, status: int, retryable: bool, retry_after: float | None = None
    ) -> None:
        self.status = status
        super().__init__(message, retryable=retryable, retry_after=retry_after)

    @property
    def for_content(self) -> bool:
        """Return whether the same said in fewer words may be taken."""
        return self.status in _CONTENT


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A URL that takes JSON, and what it takes to be let in.

    Attributes:
        url: without user and password.
        headers: for every request.
        secrets: what no message may repeat.
        place: scheme, host and port, for messages.
        timeout: seconds for all that one notification takes.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    place: str
    timeout: float = TOTAL

    @property
    def proxied(self) -> bool:
        """Return whether the proxies of the environment are for it."""
        return not is_loopback(urlsplit(self.url).hostname or "")

    def hide(self, text: str) -> str:
        """Return the text on one line, with stars where a secret was."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        printable = "".join(each if each.isprintable() else " " for each in text)
        return " ".join(printable.split())


def split_url(url: str, wrong: Callable[[str], Exception]) -> tuple[SplitResult, str]:
    """Return the parts of a URL of http or https, and its place; raises what `wrong` makes."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise wrong(f"is not a URL; {_MUST}") from None
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise wrong(f"is not such a URL; {_MUST}")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise wrong("has characters that no URL has; write them with %")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parts, f"{host}:{port}" if port else host


def read_endpoint(
    url: str, wrong: Callable[[str], Exception], headers: Mapping[str, str], *secrets: str
) -> Endpoint:
    """Return the endpoint at a URL; its user and password become an Authorization header.

    Args:
        url: as it is configured.
        wrong: makes the error on it; the URL, which may be secret, is not repeated.
        headers: for every request.
        secrets: what else no message may repeat.
    """
    parts, place = split_url(url, wrong)
    sent = dict(headers)
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        sent["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
    found = {*_secrets_in(parts), *secrets}
    for value in sent.values():
        found |= {value, *value.split()}
    hidden = sorted((each for each in found if len(each) >= _SHORTEST_SECRET), key=len)
    plain = parts._replace(netloc=place, fragment="").geturl()
    return Endpoint(plain, sent, tuple(reversed(hidden)), f"{parts.scheme}://{place}")


def read_url(
    table: SettingsTable,
    default: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
) -> Endpoint:
    """Read the settings ``url`` and ``timeout``; the rest is as for `read_endpoint`.

    Raises:
        ConfigError: the URL is missing, or none of http or https, or the time is none.
    """
    url, timeout = table.text("url", default), read_timeout(table)
    read = read_endpoint(url, lambda problem: table.error("url", problem), headers or {}, *secrets)
    return replace(read, timeout=timeout)


def read_timeout(table: SettingsTable) -> float:
    """Read the setting ``timeout``: seconds for all that one notification takes.

    Raises:
        ConfigError: it is no time above 0.
    """
    return table.seconds("timeout", TOTAL, above=0)


def read_headers(table: SettingsTable) -> Mapping[str, str]:
    """Read the table ``headers``: names and values of HTTP headers to send.

    Raises:
        ConfigError: one of them cannot be sent.
    """
    inner = table.table("headers")
    if inner is None:
        return {}
    found: dict[str, str] = {}
    for name in cast("Iterable[str]", table.value("headers")):
        value = inner.text(name)
        if not _HEADER_NAME.fullmatch(name):
            raise inner.error(name, "is not the name of an HTTP header")
        if not value.isascii() or not value.isprintable():
            raise inner.error(name, "has characters that no HTTP header may have")
        found[name] = value
    return found


def time_left(clock: Clock, seconds: float) -> TimeLeft:
    """Return what tells how many of so many seconds from now are left."""
    end = clock.monotonic() + seconds

    def left() -> float:
        seconds = end - clock.monotonic()
        if seconds <= 0:
            raise TimeoutError("no answer in time")
        return seconds

    return left


def post(
    endpoint: Endpoint,
    body: bytes,
    left: TimeLeft,
    now: datetime,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send one body, and return once it was taken with a status of 2xx.

    Args:
        endpoint: where to.
        body: JSON.
        left: what is left of the time.
        now: the time, for a Retry-After that is a date.
        headers: of this request; Content-Type is ``application/json`` unless given.

    Raises:
        Refused: it was answered with another status. 408, 425, 429 and 5xx may pass, all others,
            redirects among them, stay.
        Undelivered: there was no answer in time, or none at all; that may pass.
    """
    all_headers = {
        "Content-Type": "application/json",
        "User-Agent": "failhook",
        **endpoint.headers,
        **(headers or {}),
    }
    request = Request(endpoint.url, body, all_headers, method="POST")  # noqa: S310 - checked
    try:
        director = opener(left, proxied=endpoint.proxied)
        answer = cast("HTTPResponse", director.open(request, timeout=min(CONNECT, left())))
        with answer:
            said = b""
            with suppress(OSError, HTTPException):  # what counts is the status, and that is here
                said = answer.read(_MOST_READ)
    except NO_ANSWER as error:
        raise unanswered(endpoint, error) from None
    if not 200 <= answer.status < 300:
        raise _refused(endpoint, answer, said, now)


def post_fitting(
    endpoint: Endpoint,
    bodies: Iterable[bytes],
    left: TimeLeft,
    now: datetime,
    headers: Callable[[bytes], Mapping[str, str]] = lambda _: {},
) -> None:
    """Send the first body that is taken; one refused for its content makes way for the next.

    Args:
        endpoint: where to.
        bodies: the same message, ever smaller; at least one.
        left: what is left of the time for all of them.
        now: the time.
        headers: of a body, such as its signature.

    Raises:
        Refused: the last one was refused too, or one was for another reason.
        Undelivered: as `post` says.
    """
    refused = Undelivered("there is nothing to send", retryable=False)
    for body in bodies:
        try:
            return post(endpoint, body, left, now, headers(body))
        except Refused as error:
            if not error.for_content:
                raise
            refused = error
    raise refused


def unanswered(endpoint: Endpoint, error: Exception) -> Undelivered:
    """Return what the outbox is told where there was no answer (`NO_ANSWER`); that may pass."""
    return Undelivered(f"{endpoint.place} gave no answer: {endpoint.hide(_why(error))}")


def retry_after(said: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After asks for, at most an hour; None where it asks none."""
    seconds = read_retry_after(said, now)
    return None if seconds is None else min(seconds, MAX_RETRY_AFTER)


def _refused(endpoint: Endpoint, answer: HTTPResponse, said: bytes, now: datetime) -> Refused:
    status = answer.status
    message = f"{endpoint.place} answered {status_line(status)}"
    if 300 <= status < 400:
        message = f"{message}: no redirect is followed; configure the URL that it leads to"
    elif excerpt := endpoint.hide(said.decode("utf-8", "replace"))[:_EXCERPT]:
        message = f"{message}: {excerpt}"
    return Refused(
        message,
        status=status,
        retryable=may_pass(status),
        retry_after=retry_after(answer.headers.get("Retry-After"), now),
    )


def _why(error: Exception) -> str:
    """Describe it; what http.client says holds what the server sent, of any size."""
    reason: Any = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return "it took too long"
    if isinstance(reason, OSError) and (reason.strerror or reason.args):
        return str(reason.strerror or reason.args[0])[:_EXCERPT]
    return type(reason).__name__ if isinstance(reason, Exception) else str(reason)[:_EXCERPT]


def _secrets_in(parts: SplitResult) -> Iterable[str]:
    """Yield what may be secret in a URL: user, password, the parts of its path, its query."""
    segments = [each for each in parts.path.split("/") if len(each) >= _SHORTEST_SEGMENT]
    values = [value for _, value in parse_qsl(parts.query)]
    for each in (parts.username, parts.password, parts.path, parts.query, *segments, *values):
        if each:
            yield from (each, unquote(each))
