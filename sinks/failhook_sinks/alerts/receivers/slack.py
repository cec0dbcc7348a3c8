"""Slack with a bot token: one message for a group, kept up to date, later news in its thread.

Source: docs.slack.dev/reference/methods/chat.postMessage and chat.update; the token needs the scope
``chat:write``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from logging import getLogger
from typing import Any, Final, cast

from failhook.plugin import Clock, SettingsTable
from failhook_sinks.alerts.model import Notification, Status, Why
from failhook_sinks.alerts.receivers.http import (
    NO_ANSWER,
    Endpoint,
    read_url,
    time_left,
    unanswered,
)
from failhook_sinks.alerts.receivers.slack_answers import SlackRefused, refused
from failhook_sinks.alerts.receivers.slack_layout import Payload, first_taken
from failhook_sinks.alerts.text import Message, message_of

URL: Final = "https://slack.com/api/"

_logger = getLogger("failhook.alerts")


def open_receiver(name: str, table: SettingsTable, clock: Clock) -> Slack:
    """Return the receiver that a table describes; nothing is sent yet.

    Raises:
        ConfigError: a setting is missing, wrong or unknown, or slack_sdk is not installed.
    """
    token = table.text("token")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise table.error("token", "has characters that no token has")
    channel = table.text("channel")
    broadcast = table.flag("broadcast", default=False)
    endpoint = read_url(table, URL, secrets=(token,))
    table.done()
    return Slack(name, endpoint, token, channel, clock, broadcast=broadcast)


@dataclass(frozen=True, slots=True)
class Slack:
    """Posts, replies and updates.

    What it remembers of a group is where its message is. Reminders and the end are shown in the
    channel too where `broadcast` is set.
    """

    name: str
    endpoint: Endpoint
    token: str = field(repr=False)
    channel: str
    clock: Clock
    broadcast: bool = False
    keep_alive: bool = False

    def send(self, notification: Notification) -> str:
        message = message_of(notification)
        first = _remembered(notification.memory, self.channel)
        call = _Call(self)
        if first is None:
            return self._memory(call.post(message, self.channel))
        # First what may be done twice: if the reply fails, all is done again.
        try:
            call.update(message, first)
        except SlackRefused as error:
            if error.retryable:
                raise
            if error.is_deleted:  # its thread would take the news, and nobody would see it
                return self._memory(call.post(message, self.channel))
            _logger.info("receiver %s: the first message stays as it is: %s", self.name, error)
        shown = self.broadcast and notification.why in {Why.REMINDER, Why.RESOLVED}
        try:
            call.post(_news(message), first.channel, thread_ts=first.ts, reply_broadcast=shown)
        except SlackRefused as error:
            if not error.for_thread:
                raise
            return self._memory(call.post(message, self.channel))
        return notification.memory

    def _memory(self, answer: Mapping[str, Any]) -> str:
        channel, ts = answer.get("channel"), answer.get("ts")
        if not isinstance(channel, str) or not isinstance(ts, str):
            return ""
        return json.dumps({"to": self.channel, "channel": channel, "ts": ts})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message is: the id of its channel, and its timestamp, which is its id there."""

    channel: str
    ts: str


class _Call:
    """The calls that one notification takes, within one deadline."""

    def __init__(self, receiver: Slack) -> None:
        from failhook_sinks.alerts.receivers.slack_client import BotClient

        endpoint = receiver.endpoint
        left = time_left(receiver.clock, receiver.endpoint.timeout)
        self._client: Any = BotClient(  # its methods are not typed strictly
            receiver.token, endpoint.url, left, proxied=endpoint.proxied
        )
        self._receiver = receiver

    def post(self, message: Message, channel: str, **more: Any) -> Mapping[str, Any]:
        """Post a message.

        Raises:
            Undelivered: it was not taken.
        """

        def post(payload: Payload) -> Mapping[str, Any]:
            return self._ask(
                self._client.chat_postMessage,
                {
                    "channel": channel,
                    **payload,
                    **more,
                    "unfurl_links": False,
                    "unfurl_media": False,
                },
            )

        return first_taken(post, message)

    def update(self, message: Message, place: _Place) -> None:
        """Put what a message says now in the place of what it said.

        Raises:
            Undelivered: it was not taken.
        """

        def update(payload: Payload) -> Mapping[str, Any]:
            at = {"channel": place.channel, "ts": place.ts}
            return self._ask(self._client.chat_update, {**at, **payload})

        first_taken(update, message)

    def _ask(self, method: Callable[..., Any], arguments: Payload) -> Mapping[str, Any]:
        from slack_sdk.errors import SlackApiError

        endpoint = self._receiver.endpoint
        try:
            answer = method(**arguments, parse="none", link_names=False)
        except SlackApiError as error:
            answer = cast("Any", error).response
            said = answer.get("error")
            now = self._receiver.clock.now()
            raise refused(endpoint, answer.status_code, answer.headers, said, now) from None
        except NO_ANSWER as error:
            raise unanswered(endpoint, error) from None
        return cast("Mapping[str, Any]", answer.data)


def _news(message: Message) -> Message:
    """Return what the thread has not told yet."""
    if message.why is Why.REMINDER:
        entries = message.entries if len(message.entries) + message.more == 1 else ()
    elif message.why is Why.RESOLVED:
        entries = message.entries
    else:
        entries = [
            entry for entry in message.entries if entry.is_new or entry.status is Status.RESOLVED
        ]
    others = len(message.entries) + message.more - len(entries) if entries else 0
    return replace(message, entries=entries, more=others)


def _remembered(memory: str, channel: str) -> _Place | None:
    """Return where the first message is; None where there is none in the channel of now."""
    try:
        document = json.loads(memory)
        if document["to"] == channel:
            return _Place(str(document["channel"]), str(document["ts"]))
    except (ValueError, KeyError, TypeError):
        return None
    return None
