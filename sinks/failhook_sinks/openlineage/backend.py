"""The client of one process: opened on first use, within our limits, and told apart by errors."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from failhook.plugin import Secrets
from failhook_sinks.openlineage.refusal import Refusal, refusal
from failhook_sinks.openlineage.transport import TIMEOUT, from_url, secrets_of, within_limits

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import RunEvent
    from openlineage.client.transport import Transport
    from requests import Response

_REDIRECTS_WITHOUT_BODY = frozenset({301, 302, 303})


class Refused(Exception):  # noqa: N818 - what a backend says, not what is wrong with us
    """The event is not delivered; `refusal` says why."""

    def __init__(self, why: Refusal) -> None:
        self.refusal = why
        super().__init__(why.message)


class Backend:
    """One client with its transport.

    Args:
        client: the client, its transport set.
        secrets: what no message may repeat.
    """

    def __init__(self, client: OpenLineageClient, secrets: Secrets) -> None:
        self.pid = os.getpid()
        self._client = client
        self._secrets = secrets

    @classmethod
    def open(cls, transport: Mapping[str, Any] | None, now: datetime) -> Self:
        """Open the client as the settings say, else as its own configuration does.

        Args:
            transport: from our own settings; it takes the place of the client's, none of which
                is mixed in, so that no key meant for one address goes to another.
            now: the time, for errors.

        Raises:
            Refused: there is no transport, or the client cannot work with it.
        """
        from openlineage.client import OpenLineageClient
        from openlineage.client.transport import get_default_factory
        from openlineage.client.transport.noop import NoopConfig, NoopTransport

        secrets = secrets_of(transport or {})
        try:
            with _environment_kept():
                client = OpenLineageClient(transport=NoopTransport(NoopConfig()))
            described = transport or client.config.transport or {}
            if not described.get("type"):
                described = from_url(os.environ)
            secrets = secrets_of(described)
            if described:
                client.transport = get_default_factory().create(within_limits(described))
                _refuse_redirects(client.transport)
        except Exception as error:  # noqa: BLE001 - the client checks its settings as they are used
            why = refusal(error, secrets, now)
            message = f"the transport cannot be set up: {why.message}"
            raise Refused(Refusal(message, retryable=False)) from None
        if not described and not _client_is_disabled():
            raise Refused(
                Refusal(
                    "no lineage backend is configured: write [plugins.openlineage.transport] with "
                    "type and url, or set OPENLINEAGE_URL, or provide openlineage.yml",
                    retryable=False,
                )
            )
        return cls(client, secrets)

    def send(self, event: RunEvent, *, whole: bool, now: datetime) -> None:
        """Hand over one event and wait for the answer.

        Args:
            event: what to send.
            whole: the run is ours, so the client may add what its configuration says of runs; else
                facets of the orchestrator's would be replaced by that.
            now: the time, for a Retry-After that is a date.

        Raises:
            Refused: it did not get through.
        """
        try:
            if whole:
                self._client.emit(event)
            elif self._client.filter_event(event) is not None:
                self._client.transport.emit(event)
            settled = _settled(self._client.transport)
        except Exception as error:  # noqa: BLE001 - each transport has errors of its own
            raise Refused(refusal(error, self._secrets, now)) from None
        if not settled:
            message = f"the {self._client.transport.kind} transport had no answer in {TIMEOUT} s"
            raise Refused(Refusal(message, retryable=True))

    def close(self, timeout: float) -> bool:
        """Close the client; return whether all that it took went out.

        Args:
            timeout: seconds.
        """
        return self._client.close(timeout)


@contextmanager
def _environment_kept() -> Generator[None, None, None]:
    """Take away what the client adds to the environment, which tasks started from here inherit."""
    before = set(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - before:
            if name.startswith("OPENLINEAGE__"):
                del os.environ[name]


def _client_is_disabled() -> bool:
    """Return whether the client's own switch is off: then it takes events and drops them."""
    return os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true"


def _transports(transport: Transport) -> Iterator[Any]:
    """Yield a transport and those that it hands events on to."""
    from openlineage.client.transport import Transport

    yield transport
    below = [getattr(transport, name, None) for name in ("transport", "http")]
    for each in (*getattr(transport, "transports", ()), *below):
        if isinstance(each, Transport):
            yield from _transports(each)


def _refuse_redirects(transport: Transport) -> None:
    from openlineage.client.transport import HttpTransport

    for each in _transports(transport):
        if isinstance(each, HttpTransport):
            each.session.hooks["response"].append(_refuse_redirect)


def _refuse_redirect(response: Response, *_: object, **__: object) -> None:
    """Refuse a redirect that requests would follow with a GET: a login page would answer "done"."""
    if response.status_code in _REDIRECTS_WITHOUT_BODY:
        from requests import HTTPError

        raise HTTPError("redirected", response=response)


def _settled(transport: Transport) -> bool:
    """Wait for transports that queue; return whether all that they took went out."""
    return all(
        each.wait_for_completion(TIMEOUT)
        for each in _transports(transport)
        if hasattr(each, "wait_for_completion")
    )
