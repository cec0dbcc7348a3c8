"""One thing that the doctor found, and how it is printed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from failhook.cli.terminal import one_line, terminal_width

_LEAST: Final = 20


class Level(StrEnum):
    """Whether it needs somebody."""

    OK = "ok"
    NOTE = "note"
    ACT = "act"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        level: ok, note, or act.
        area: configuration, store, plugins, delivery, tasks or clock.
        text: what was found, one sentence.
        help: the command that helps, or what to do.
    """

    level: Level
    area: str
    text: str
    help: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "level": self.level.value}


def ok(area: str, text: str) -> Finding:
    """Return what is as it should be."""
    return Finding(Level.OK, area, text)


def note(area: str, text: str, help: str = "") -> Finding:  # noqa: A002 - as the field it fills
    """Return what somebody may want to know."""
    return Finding(Level.NOTE, area, text, help)


def act(area: str, text: str, help: str) -> Finding:  # noqa: A002 - as the field it fills
    """Return what needs somebody, and what helps."""
    return Finding(Level.ACT, area, text, help)


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """Return the findings, folded to the width of a terminal; a pipe gets one line for each."""
    width = terminal_width()
    area = max((len(each.area) for each in findings), default=0)
    lines: list[str] = []
    for each in findings:
        start = f"{each.level.value:<4}  {each.area:<{area}}  "
        room = None if width is None else max(_LEAST, width - len(start))
        lines += _folded(start, one_line(each.text), room)
        if each.help:
            lines += _folded(f"{'':<{len(start)}}-> ", one_line(each.help), room and room - 3)
    return lines


def _folded(start: str, text: str, room: int | None) -> list[str]:
    if room is None:
        return [start + text]
    # A command stays whole, so that it can be copied: words are not broken.
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return [start + part if not at else " " * len(start) + part for at, part in enumerate(parts)]
