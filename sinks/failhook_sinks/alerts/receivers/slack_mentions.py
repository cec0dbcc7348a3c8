"""Whom a Slack message calls: read from the configuration, and from nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from failhook_sinks.alerts.inert import one_line

MAX_MENTION: Final = 200

_MENTION: Final = re.compile(
    r"<?@(?P<user>[UW][A-Z0-9]{5,20})>?"
    r"|<!subteam\^(?P<group>S[A-Z0-9]{5,20})(?:\|[^<>]{0,80})?>"
    r"|(?:<!|@)(?P<range>here|channel|everyone)\b>?"
)
"""Source: docs.slack.dev/messaging/formatting-message-text, "Mentioning users" and below."""


def mention_elements(mention: str) -> Iterator[dict[str, Any]]:
    """Yield the mention as elements of rich text; what Slack does not know is plain text."""
    for text, found in _parts(mention):
        if found is None:
            yield {"type": "text", "text": text}
        elif found["user"]:
            yield {"type": "user", "user_id": found["user"]}
        elif found["group"]:
            yield {"type": "usergroup", "usergroup_id": found["group"]}
        else:
            yield {"type": "broadcast", "range": found["range"]}


def mention_text(mention: str) -> str:
    """Return the mention as it is written in a text that Slack parses."""
    return "".join(map(_written, _parts(mention)))


def escaped(text: str) -> str:
    """Escape the three characters that begin something in a text that Slack parses.

    Source: docs.slack.dev/messaging/formatting-message-text, "Escaping text".
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parts(mention: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    line, end = one_line(mention, MAX_MENTION), 0
    for found in _MENTION.finditer(line):
        if before := line[end : found.start()]:
            yield before, None
        yield found[0], found
        end = found.end()
    if end < len(line):
        yield line[end:], None


def _written(part: tuple[str, re.Match[str] | None]) -> str:
    text, found = part
    if found is None:
        return escaped(text)
    if found["user"]:
        return f"<@{found['user']}>"
    return f"<!subteam^{found['group']}>" if found["group"] else f"<!{found['range']}>"
