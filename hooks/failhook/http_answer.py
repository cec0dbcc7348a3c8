"""What an HTTP answer means to whoever has an event to deliver, and what of it may be told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_MAY_PASS: Final = frozenset({408, 425, 429})
_LOGIN: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?([^/?#]*)@", re.IGNORECASE)
_SHORTEST: Final = 4


class Secrets:
    """What no message may repeat: takes it out of texts.

    Args:
        texts: the secrets, in every form in which they may be repeated; what has fewer than four
            characters is left alone, since it stands in every other text.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        found = {text for text in texts if len(text) >= _SHORTEST}
        self._found = sorted(found, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return the text with stars where a secret was."""
        for secret in self._found:
            text = text.replace(secret, "***")
        return text


def secrets_in_url(url: str) -> Iterator[str]:
    """Yield user, password and the values of the query of a URL, as written and as read."""
    login = _LOGIN.match(url)
    for part in (login[1], *login[1].split(":")) if login else ():
        yield from (part, unquote(part))
    for _, value in parse_qsl(url.partition("?")[2]):
        yield from (value, quote(value), quote(value, safe=""))


def origin_of(url: str | None, otherwise: str) -> str:
    """Return scheme, host and port of a URL: no user, no password, no path, no query.

    Args:
        url: as it was asked.
        otherwise: what to say where there is none that can be read.
    """
    if not url:
        return otherwise
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return otherwise
    return f"{parts.scheme}://{parts.hostname}{port}"


def may_pass(status: int) -> bool:
    """Return whether a later try may be answered otherwise: 408, 425, 429 and 5xx."""
    return status in _MAY_PASS or status >= 500


def status_line(status: int) -> str:
    """Return a status with its name: ``429 Too Many Requests``."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def read_retry_after(said: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After asks for (RFC 9110, section 10.2.3).

    Args:
        said: seconds, or a date; None where there was none.
        now: UTC, for a date.

    Returns:
        Seconds, 0 or more; None where there is none, or nobody can read it.
    """
    text = (said or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
