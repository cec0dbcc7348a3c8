"""Where events go, as the client's own configuration says it, within our limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from failhook.plugin import Secrets, secrets_in_url

TIMEOUT: Final = 2.0
"""Seconds for a connection, and for an answer."""
NO_RETRIES: Final[Mapping[str, Any]] = {
    "total": 0,
    "connect": 0,
    "read": False,  # else a time limit is told as a broken connection
    "status_forcelist": [],  # else the client hides the status that it gave up on
}
"""The outbox tries again, with a schedule that outlives the process."""

_SECRET: Final = re.compile("auth|key|token|secret|pass|credential|header|sasl", re.IGNORECASE)


def within_limits(transport: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a transport, with our limits where it says none.

    What hands events to a queue of its own and says "done" is made to wait for an answer:
    ``async_http`` becomes ``http``, and Kafka is flushed by us, for no longer than `TIMEOUT`.
    """
    plain: dict[str, Any] = _plain(transport)
    kind = plain.get("type")
    if kind == "async_http":
        plain["type"] = kind = "http"
    if kind in {"http", "datadog"}:
        plain.setdefault("timeout", TIMEOUT)
        plain.setdefault("retry", dict(NO_RETRIES))
    if kind == "datadog":
        plain["async_transport_rules"] = {}
    elif kind in {"kafka", "msk-iam"}:
        plain["flush"] = False
    elif kind == "transform" and isinstance(plain.get("transport"), dict):
        plain["transport"] = within_limits(plain["transport"])
    elif kind == "composite":
        plain["transports"] = _each_within_limits(plain.get("transports"))
    return plain


def from_url(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the transport that ``OPENLINEAGE_URL`` and its kin describe; empty where unset."""
    url = environ.get("OPENLINEAGE_URL")
    if not url:
        return {}
    described: dict[str, Any] = {"type": "http", "url": url}
    if endpoint := environ.get("OPENLINEAGE_ENDPOINT"):
        described["endpoint"] = endpoint
    if api_key := environ.get("OPENLINEAGE_API_KEY"):
        described["auth"] = {"type": "api_key", "apiKey": api_key}
    return described


def secrets_of(transport: Mapping[str, Any]) -> Secrets:
    """Return what a transport's description says that no message may repeat."""
    return Secrets(_secrets(transport))


def _plain(value: object) -> Any:
    """Return a copy that the client may change, as it does."""
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {name: _plain(entry) for name, entry in table.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in cast("list[object]", value)]
    return value


def _each_within_limits(transports: object) -> object:
    if isinstance(transports, dict):
        named = cast("dict[str, Any]", transports)
        return {name: within_limits(each) for name, each in named.items() if each}
    if isinstance(transports, list):
        return [within_limits(each) for each in cast("list[Mapping[str, Any]]", transports)]
    return transports


def _secrets(value: object, *, told: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, entry in cast("Mapping[str, object]", value).items():
            if name != "type":
                yield from _secrets(entry, told=told or bool(_SECRET.search(name)))
    elif isinstance(value, list):
        for entry in cast("list[object]", value):
            yield from _secrets(entry, told=told)
    elif isinstance(value, str):
        yield from [value] if told else secrets_in_url(value)
