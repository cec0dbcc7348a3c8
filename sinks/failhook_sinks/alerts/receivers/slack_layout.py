"""A message as Slack shows it: rich text, in which no text of a failure is ever parsed.

Text elements of rich text blocks are literal: no markup, no mentions, no links
(docs.slack.dev/reference/block-kit/blocks/rich-text-block). Only `text`, which stands in where
blocks cannot be shown, is parsed by Slack; it is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from failhook_sinks.alerts.entry import Entry, Link
from failhook_sinks.alerts.inert import shortened
from failhook_sinks.alerts.model import Status
from failhook_sinks.alerts.receivers.slack_answers import SlackRefused
from failhook_sinks.alerts.receivers.slack_mentions import (
    escaped,
    mention_elements,
    mention_text,
)
from failhook_sinks.alerts.text import Message, plain

MAX_TEXT: Final = 3_500
"""Slack recommends at most 4,000 characters (docs.slack.dev/reference/methods/chat.postMessage)."""
MAX_STAND_IN: Final = 1_500

Payload = dict[str, Any]
Answer = TypeVar("Answer")

_MARKS: Final = {Status.FIRING: "\U0001f534 ", Status.RESOLVED: "\U0001f7e2 "}


@dataclass(frozen=True, slots=True)
class Size:
    """How much to say.

    Attributes:
        characters: of all blocks together.
        lines: alerts that are told of, in a message on several.
        traceback: characters of a traceback.
    """

    characters: int
    lines: int
    traceback: int


FULL: Final = Size(characters=8_000, lines=40, traceback=2_500)
"""Beyond about 10,000 characters of blocks Slack says msg_blocks_too_long, which no page of its
documentation tells (github.com/slackapi/bolt-js/issues/2509 and 2867)."""
SMALLER: Final = Size(characters=2_500, lines=10, traceback=0)


def layouts(message: Message) -> Iterator[Payload]:
    """Yield ``text`` and ``blocks`` for a message, ever smaller; the last one is text alone."""
    text = _parsed(lambda limit: plain(message, limit), MAX_STAND_IN)
    for size in (FULL, SMALLER):
        yield {"text": text, "blocks": [_block(message, size)]}
    mention = mention_text(message.mention)
    calls = f"{mention} " if mention else ""
    whole = _parsed(lambda limit: plain(message, limit), MAX_TEXT - len(calls))
    # An update without blocks keeps those that the message had.
    yield {"text": f"{calls}{whole}", "blocks": [], "mrkdwn": False}


def first_taken(send: Callable[[Payload], Answer], message: Message) -> Answer:
    """Send a message; what is refused for its content makes way for less of it.

    Raises:
        Undelivered: what `send` raised last.
    """
    refusal: SlackRefused | None = None
    for payload in layouts(message):
        try:
            return send(payload)
        except SlackRefused as error:
            if not error.for_content:
                raise
            refusal = error
    if refusal is None:
        raise ValueError("a message has no layout")
    raise refusal


def cost(text: str) -> int:
    """Return how many characters Slack counts: escaped, and in UTF-16."""
    return len(escaped(text).encode("utf-16-le", "replace")) // 2


class _Room:
    """What is left of a size."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def take(self, text: str, most: int = 3_000) -> str:
        """Return as much of a text as there is room for."""
        cut = _fitted(lambda limit: _short(text, limit), min(most, self._left))
        self._left -= cost(cut)
        return cut

    def code(self, text: str, most: int) -> str:
        """Return a traceback's beginning and end, as there is room for."""
        cut = _fitted(lambda limit: shortened(text, limit), min(most, self._left))
        self._left -= cost(cut)
        return cut


def _block(message: Message, size: Size) -> Payload:
    """Return the one block of a message."""
    room = _Room(size.characters)
    parts = [_section(_head(message, room))]
    several = len(message.entries) + message.more > 1
    if several:
        parts += _digest(message, room, size)
    elif message.entries:
        parts += _single(message.entries[0], room, size)
    return {"type": "rich_text", "elements": [part for part in parts if part["elements"]]}


def _head(message: Message, room: _Room) -> Iterator[Payload]:
    if message.mention:
        yield from mention_elements(message.mention)
        yield from _text("\n")
    if message.note:
        yield from _text(f"{room.take(message.note)}\n", "italic")
    yield from _text(f"{_MARKS[message.status]}{room.take(message.title)}", "bold")
    if message.summary:
        yield from _text(f"\n{room.take(message.summary)}")


def _single(entry: Entry, room: _Room, size: Size) -> Iterator[Payload]:
    links = list(_links(entry.links, room))
    lines: list[Payload] = []
    for number, (name, value) in enumerate(entry.facts):
        lines += _text(f"{chr(10) if number else ''}{room.take(name)}: ", "bold")
        lines += _text(room.take(value), "code" if name == "Root cause" else "")
    yield _section(iter(lines))
    code = room.code(entry.traceback, size.traceback)
    if code.strip() and entry.status is Status.FIRING:
        yield {"type": "rich_text_preformatted", "elements": list(_text(code))}
    yield _section(iter(links))


def _digest(message: Message, room: _Room, size: Size) -> Iterator[Payload]:
    items: list[Payload] = []
    mixed = len({entry.is_new for entry in message.entries}) > 1
    for entry in message.entries[: size.lines]:
        mark = _MARKS[entry.status] if message.status is Status.FIRING else ""
        line = room.take(entry.line, most=500)
        if not line:
            break
        new = list(_text("new: ", "bold")) if mixed and entry.is_new else []
        items.append(_section(iter([*_text(mark), *new, *_text(line)])))
    yield {"type": "rich_text_list", "style": "bullet", "elements": items}
    if more := len(message.entries) - len(items) + message.more:
        yield _section(_text(f"and {more:,} more"))
    shared = [
        link
        for link in message.entries[0].links
        if all(link in entry.links for entry in message.entries)
    ]
    yield _section(_links(shared, room))


def _links(links: Sequence[Link], room: _Room) -> Iterator[Payload]:
    for number, link in enumerate(links):
        if cost(link.url) != cost(room.take(link.url)):
            return
        if number:
            yield from _text("  ·  ")
        yield {"type": "link", "url": link.url, "text": room.take(link.name)}


def _section(elements: Iterator[Payload]) -> Payload:
    return {"type": "rich_text_section", "elements": list(elements)}


def _text(text: str, style: str = "") -> Iterator[Payload]:
    """Yield the text as an element; Slack takes no empty one."""
    if text:
        styled: Payload = {"style": {style: True}} if style else {}
        yield {"type": "text", "text": text, **styled}


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"[:limit]


def _parsed(shorten: Callable[[int], str], limit: int) -> str:
    return escaped(_fitted(shorten, limit))


def _fitted(shorten: Callable[[int], str], limit: int) -> str:
    """Return the text that `shorten` makes for a limit, such that Slack counts no more than it.

    Text is cut before it is escaped: no half of an entity is left. Escaped it has at most five
    times as many characters.
    """
    for share in (1, 2, 5):
        text = shorten(limit // share)
        if cost(text) <= limit:
            return text
    return ""
