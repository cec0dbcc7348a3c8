"""What an error of the client means: may a further try help, when, and in which words to say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from failhook.plugin import Undelivered
from failhook_sinks.openlineage.transport import Secrets

if TYPE_CHECKING:
    from requests import RequestException, Response

TOO_LARGE: Final = 413
_MAY_PASS: Final = frozenset({408, 425, 429})
_HOPELESS: Final = (ValueError, TypeError, LookupError, AttributeError, ImportError)
"""The client cannot work with a setting or an event; InvalidURL and InvalidHeader of requests are
ValueErrors."""
_EXCERPT: Final = 200


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event did not get through.

    Attributes:
        message: one line without secrets.
        retryable: whether a further try may help.
        retry_after: seconds that the other side asked to wait.
        status: the HTTP status, where there was an answer.
    """

    message: str
    retryable: bool
    retry_after: float | None = None
    status: int | None = None

    def undelivered(self) -> Undelivered:
        """Return what the outbox is told."""
        return Undelivered(self.message, retryable=self.retryable, retry_after=self.retry_after)


def refusal(error: Exception, secrets: Secrets, now: datetime) -> Refusal:
    """Judge what the client raised.

    Network errors and the statuses 408, 425, 429 and 5xx may pass; other answers, and what the
    client cannot work with, stay.
    """
    from requests import RequestException

    for each in _chain(error):
        if isinstance(each, RequestException):
            if each.response is not None:
                return _answered(each.response, secrets, now)
            return _unanswered(each, secrets)
    message = secrets.hide(f"{type(error).__name__}: {error}"[:1_000])
    return Refusal(message, retryable=not isinstance(error, _HOPELESS))


def _answered(response: Response, secrets: Secrets, now: datetime) -> Refusal:
    status = response.status_code
    said = secrets.hide(response.content[:_EXCERPT].decode("utf-8", "replace")).strip()
    message = f"{_host(response.url)} answered {status} {_phrase(status)}"
    if 300 <= status < 400:
        message = f"{message}: a redirect would lose the event; name the URL that it leads to"
    elif said:
        message = f"{message}: {said}"
    return Refusal(
        message,
        retryable=status in _MAY_PASS or status >= 500,
        retry_after=_seconds(response.headers.get("Retry-After"), now),
        status=status,
    )


def _unanswered(error: RequestException, secrets: Secrets) -> Refusal:
    """Describe it without the text of the error, which has the whole URL."""
    name = type(error).__name__
    if isinstance(error, _HOPELESS):
        return Refusal(f"the request cannot be made as the transport says: {name}", retryable=False)
    url = None if error.request is None else str(error.request.url)
    reasons = (each.strerror for each in _chain(error) if isinstance(each, OSError))
    why = next((f": {reason}" for reason in reasons if reason), "")
    return Refusal(secrets.hide(f"{_host(url)} gave no answer: {name}{why}"), retryable=True)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _host(url: str | None) -> str:
    """Return scheme, host and port: no user, no password, no path, no query."""
    if not url:
        return "the lineage backend"
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}"
    except ValueError:
        return "the lineage backend"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _seconds(said: str | None, now: datetime) -> float | None:
    """Read Retry-After, in seconds or as a date (RFC 9110, section 10.2.3)."""
    if not said:
        return None
    try:
        return float(said)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
