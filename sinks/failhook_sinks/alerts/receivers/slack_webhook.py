"""Slack through an incoming webhook: each notification is a message of its own.

A webhook tells nothing of what it posted, so there are no threads and no updates. Source:
docs.slack.dev/messaging/sending-messages-using-incoming-webhooks.
"""

from __future__ import annotations

from dataclasses import dataclass

from failhook.plugin import Clock, SettingsTable
from failhook_sinks.alerts.model import Notification
from failhook_sinks.alerts.receivers.http import (
    NO_ANSWER,
    Endpoint,
    read_url,
    time_left,
    unanswered,
)
from failhook_sinks.alerts.receivers.slack_answers import refused
from failhook_sinks.alerts.receivers.slack_layout import Payload, first_taken
from failhook_sinks.alerts.text import message_of


def open_receiver(name: str, table: SettingsTable, clock: Clock) -> SlackWebhook:
    """Return the receiver that a table describes; nothing is sent yet.

    Raises:
        ConfigError: a setting is missing, wrong or unknown, or slack_sdk is not installed.
    """
    endpoint = read_url(table)
    table.done()
    return SlackWebhook(name, endpoint, clock)


@dataclass(frozen=True, slots=True)
class SlackWebhook:
    """Posts; it remembers nothing."""

    name: str
    endpoint: Endpoint
    clock: Clock
    keep_alive: bool = False

    def send(self, notification: Notification) -> str:
        from failhook_sinks.alerts.receivers.slack_client import HookClient

        endpoint, left = self.endpoint, time_left(self.clock, self.endpoint.timeout)
        client = HookClient(endpoint.url, left, proxied=endpoint.proxied)

        def post(payload: Payload) -> None:
            body = {**payload, "unfurl_links": False, "unfurl_media": False}
            try:
                answer = client.send_dict(body)
            except NO_ANSWER as error:
                raise unanswered(endpoint, error) from None
            if answer.status_code != 200 or answer.body.strip() != "ok":
                now = self.clock.now()
                raise refused(endpoint, answer.status_code, answer.headers, answer.body, now)

        first_taken(post, message_of(notification))
        return ""
