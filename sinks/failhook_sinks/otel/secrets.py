"""What the variables of an exporter say that no message may repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

_LOGIN: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?([^/?#]*)@", re.IGNORECASE)
_SHORTEST: Final = 4


class Secrets:
    """The values of headers, and users, passwords and queries of addresses.

    Args:
        environ: the environment; what begins with ``OTEL_EXPORTER_`` is read.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        found = {text for text in _secrets(environ) if len(text) >= _SHORTEST}
        self._found = sorted(found, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return the text with stars where a secret was."""
        for secret in self._found:
            text = text.replace(secret, "***")
        return text


def _secrets(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if not name.startswith("OTEL_EXPORTER_"):
            continue
        if name.endswith("_HEADERS"):
            yield from _in_headers(value)
        elif name.endswith("_ENDPOINT"):
            yield from _in_url(value)


def _in_headers(value: str) -> Iterator[str]:
    """Yield the values of ``name=value,name=value``, as written and as read, and their words."""
    for header in value.split(","):
        said = header.partition("=")[2].strip()
        for text in (said, unquote(said)):
            yield text
            yield from (word for word in text.split() if word.casefold() not in {"basic", "bearer"})


def _in_url(text: str) -> Iterator[str]:
    login = _LOGIN.match(text)
    for part in (login[1], *login[1].split(":")) if login else ():
        yield from (part, unquote(part))
    for _, value in parse_qsl(text.partition("?")[2]):
        yield from (value, quote(value))
