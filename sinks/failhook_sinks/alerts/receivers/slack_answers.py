"""What Slack's answers mean: may a further try help, would less be taken, and what to do about it.

Source: the tables of errors of docs.slack.dev/reference/methods/chat.postMessage and chat.update,
and docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, "Handling errors".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from failhook_sinks.alerts.receivers.http import Endpoint, Refused, retry_after

_MAY_PASS: Final = frozenset(
    {
        *("ratelimited", "rate_limited", "message_limit_exceeded", "team_added_to_org"),
        *("internal_error", "fatal_error", "service_unavailable", "request_timeout"),
        *("rollup_error", "accesslimited"),
    }
)
_CONTENT: Final = frozenset(
    {
        *("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"),
        *("invalid_payload", "invalid_arguments", "invalid_array_arg", "invalid_form_data"),
        *("no_text", "user_not_found", "invalid_post_type", "too_many_blocks"),
    }
)
_GONE: Final = frozenset(
    {
        *("message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"),
        *("cannot_reply_to_message", "invalid_thread_ts", "channel_not_found"),
    }
)
_REMEDIES: Final = {
    "channel_not_found": "correct the setting channel; a private one must have the app invited",
    "not_in_channel": "invite the app to the channel",
    "is_archived": "the channel is archived; name another",
    "channel_is_archived": "the channel is archived; make a webhook of another",
    "restricted_action": "an administrator must allow the app to post there",
    "invalid_auth": "the token is not valid, or not from this address",
    "not_authed": "the token is missing",
    "token_revoked": "install the app again, and set its new token",
    "token_expired": "install the app again, and set its new token",
    "account_inactive": "the app or its workspace is gone",
    "missing_scope": "the app needs the scope chat:write",
    "no_service": "the webhook was removed; make a new one",
    "no_active_hooks": "the webhook was removed; make a new one",
    "no_team": "the workspace is gone",
    "invalid_token": "the URL of the webhook is not right",
}
_CODE: Final = re.compile("[a-z][a-z0-9_]{1,59}")


class SlackRefused(Refused):
    """Slack has answered with an error.

    Args:
        code: Slack's word for it; "" where the answer was none of Slack's.
    """

    def __init__(
        self, message: str, *, code: str, status: int, wait: float | None, may_pass: bool
    ) -> None:
        self.code = code
        super().__init__(message, status=status, retryable=may_pass, retry_after=wait)

    @property
    def for_content(self) -> bool:
        """Return whether the same said in fewer words may be taken."""
        return not self.retryable and (
            self.code in _CONTENT or (not self.code and super().for_content)
        )

    @property
    def is_deleted(self) -> bool:
        """Return whether the message that was to be updated is not there any more."""
        return self.code == "message_not_found"

    @property
    def for_thread(self) -> bool:
        """Return whether the message that was written before is not there any more."""
        return self.code in _GONE


def refused(
    endpoint: Endpoint, status: int, headers: Mapping[str, Any], said: object, now: datetime
) -> SlackRefused:
    """Return what the outbox is told of an answer; it repeats nothing of it but a code.

    Args:
        endpoint: who answered.
        status: the HTTP status.
        headers: of the answer, their names in title case.
        said: the error that the answer names, or its whole text.
        now: the time.
    """
    code = said.strip() if isinstance(said, str) and _CODE.fullmatch(said.strip()) else ""
    told = code or f"{status}, in words that are not Slack's"
    if 300 <= status < 400:
        told = f"{status}: no redirect is followed; configure the URL that it leads to"
    remedy = f": {_REMEDIES[code]}" if code in _REMEDIES else ""
    passing = status in {408, 425, 429} or status >= 500 or (status == 200 and not code)
    return SlackRefused(
        f"{endpoint.place} answered {told}{remedy}",
        code=code,
        status=status,
        wait=retry_after(headers.get("Retry-After"), now),
        may_pass=passing or code in _MAY_PASS,
    )
