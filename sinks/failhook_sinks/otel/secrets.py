"""What the variables of an exporter say that no message may repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from failhook.plugin import Secrets, secrets_in_url


def secrets_of(environ: Mapping[str, str]) -> Secrets:
    """Return the values of headers, and users, passwords and queries of addresses.

    Args:
        environ: the environment; what begins with ``OTEL_EXPORTER_`` is read.
    """
    return Secrets(_secrets(environ))


def _secrets(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if not name.startswith("OTEL_EXPORTER_"):
            continue
        if name.endswith("_HEADERS"):
            yield from _in_headers(value)
        elif name.endswith("_ENDPOINT"):
            yield from secrets_in_url(value)


def _in_headers(value: str) -> Iterator[str]:
    """Yield the values of ``name=value,name=value``, as written and as read, and their words."""
    for header in value.split(","):
        said = header.partition("=")[2].strip()
        for text in (said, unquote(said)):
            yield text
            yield from (word for word in text.split() if word.casefold() not in {"basic", "bearer"})
