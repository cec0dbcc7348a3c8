"""Slack's own client within our limits: 2 s to connect, one deadline, no retries, no redirects.

What it logs by itself it logs nowhere: its errors are told by ours, and its debug lines hold URLs
that are secrets.
"""

from __future__ import annotations

import json
import logging
from http.client import HTTPResponse
from typing import Any, Final, cast
from urllib.request import Request

from slack_sdk.web import WebClient
from slack_sdk.webhook import WebhookClient, WebhookResponse

from failhook_sinks.alerts.receivers.connection import TimeLeft, opener
from failhook_sinks.alerts.receivers.http import CONNECT

_MOST_READ: Final = 1_000_000
_USED: Final = ("ok", "error", "channel", "ts")
_FLAT: Final = (str, bool)
_NOWHERE: Final = logging.Logger("failhook.slack", logging.CRITICAL + 1)  # noqa: LOG001 - of no tree


class BotClient(WebClient):
    """The Web API with a bot token."""

    def __init__(self, token: str, base_url: str, left: TimeLeft, *, proxied: bool) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - not typed strictly there
            token, base_url, logger=_NOWHERE, retry_handlers=[]
        )
        self._open = _Opening(left, proxied=proxied)

    def _perform_urllib_http_request_internal(
        self,
        url: str,  # noqa: ARG002 - it is in the request; the name is the client's
        req: Request,
    ) -> dict[str, Any]:
        status, headers, body = self._open(req)
        return {"status": status, "headers": headers, "body": _said(body)}


class HookClient(WebhookClient):
    """An incoming webhook."""

    def __init__(self, url: str, left: TimeLeft, *, proxied: bool) -> None:
        super().__init__(url, logger=_NOWHERE, retry_handlers=[])
        self._open = _Opening(left, proxied=proxied)

    def _perform_http_request_internal(self, url: str, req: Request) -> WebhookResponse:
        status, headers, body = self._open(req)
        return WebhookResponse(url=url, status_code=status, body=body, headers=headers)


def _said(body: str) -> str:
    """Return what is used of an answer, as a JSON object; none of it where it is no such thing.

    The client raises anything for what it cannot read, and repeats it.
    """
    try:
        document: object = json.loads(body)
    except (ValueError, RecursionError):
        return "{}"
    if not isinstance(document, dict):
        return "{}"
    answer = cast("dict[str, object]", document)
    return json.dumps({name: answer[name] for name in _USED if isinstance(answer.get(name), _FLAT)})


class _Opening:
    """Sends one request and reads the whole answer, whatever its status."""

    def __init__(self, left: TimeLeft, *, proxied: bool) -> None:
        self._left = left
        self._director = opener(left, proxied=proxied)

    def __call__(self, request: Request) -> tuple[int, dict[str, str], str]:
        answer = cast(
            "HTTPResponse", self._director.open(request, timeout=min(CONNECT, self._left()))
        )
        with answer:
            body = answer.read(_MOST_READ).decode("utf-8", "replace")
            headers = {name.title(): value for name, value in answer.headers.items()}
            return answer.status, headers, body
