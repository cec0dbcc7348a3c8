"""A Slack message as text: what was sent, for terminals and for the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_BAR: Final = "\u2503 "
_CODE: Final = "\u2502 "


def in_terminal(payload: Mapping[str, Any], width: int = 96) -> str:
    """Return what people see of a payload that was sent to Slack, at most so many columns wide.

    Args:
        payload: the body of chat.postMessage, chat.update or a webhook, as `slack_layout` makes it.
        width: columns; words that are longer are not broken.
    """
    lines: list[str] = []
    for block in payload.get("blocks") or ():
        for part in block["elements"]:
            lines += _part(part, width - len(_BAR))
    if not lines:
        said = payload["text"].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        lines = list(_wrapped(said, width - len(_BAR)))
    return "\n".join(f"{_BAR}{line}".rstrip() for line in lines)


def _part(part: Mapping[str, Any], width: int) -> Iterator[str]:
    kind, elements = part["type"], part["elements"]
    if kind == "rich_text_preformatted":
        for line in _said(elements).split("\n"):
            yield f"{_CODE}{line}"
    elif kind == "rich_text_list":
        for element in elements:
            yield from _wrapped(_said(element["elements"]), width, "\u2022 ", "  ")
    else:
        yield from _wrapped(_said(elements), width)


def _wrapped(text: str, width: int, first: str = "", then: str = "  ") -> Iterator[str]:
    for line in text.strip("\n").split("\n"):
        yield from textwrap.wrap(
            line,
            width,
            initial_indent=first,
            subsequent_indent=then,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _said(elements: Sequence[Mapping[str, Any]]) -> str:
    return "".join(map(_element, elements))


def _element(element: Mapping[str, Any]) -> str:
    kind = element["type"]
    if kind == "link":
        return f"{element['text']} <{element['url']}>"
    if kind == "text":
        return str(element["text"])
    return f"@{element.get('user_id') or element.get('usergroup_id') or element['range']}"
