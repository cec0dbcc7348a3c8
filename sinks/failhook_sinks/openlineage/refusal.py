"""What an error of the client means: may a further try help, when, and in which words to say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from failhook.plugin import (
    Secrets,
    Undelivered,
    may_pass,
    origin_of,
    read_retry_after,
    status_line,
)

if TYPE_CHECKING:
    from requests import RequestException, Response

TOO_LARGE: Final = 413
_BACKEND: Final = "the lineage backend"
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
    message = f"{origin_of(response.url, _BACKEND)} answered {status_line(status)}"
    if 300 <= status < 400:
        message = f"{message}: a redirect would lose the event; name the URL that it leads to"
    elif said:
        message = f"{message}: {said}"
    return Refusal(
        message,
        retryable=may_pass(status),
        retry_after=read_retry_after(response.headers.get("Retry-After"), now),
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
    return Refusal(
        secrets.hide(f"{origin_of(url, _BACKEND)} gave no answer: {name}{why}"), retryable=True
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
