"""A JSON document as people read it: a line per value, long texts in lines of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from failhook.cli.terminal import lines_of, one_line
from failhook.details import is_list, is_object

_STEP: Final = "  "


def outline(document: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Return the values of a document that say something, each below its name.

    What is None, empty or false is left out: `--json` has it.

    Args:
        document: strings as keys, JSON values below them.
        depth: how far the lines are set in.
    """
    lines: list[str] = []
    for name, value in document.items():
        if value is None or value is False or value in ("", [], {}):
            continue
        lines += _entry(one_line(name), value, depth)
    return lines


def _entry(name: str, value: object, depth: int) -> list[str]:
    start = f"{_STEP * depth}{name}"
    if is_object(value):
        if all(type(each) is int for each in value.values()):
            return [f"{start}: {_flat(value)}"]
        return [start, *outline(value, depth + 1)]
    if is_list(value):
        return [start, *(line for each in value for line in _member(each, depth + 1))]
    if not isinstance(value, str):
        return [f"{start}: {json.dumps(value)}"]
    lines = lines_of(value)
    if len(lines) == 1:
        return [f"{start}: {lines[0]}"]
    return [start, *(f"{_STEP * (depth + 1)}{line}".rstrip() for line in lines)]


def _member(value: object, depth: int) -> list[str]:
    """Return an entry of a list: a flat object in one line, anything else as an entry."""
    if is_object(value) and not any(isinstance(each, dict | list) for each in value.values()):
        return [f"{_STEP * depth}- {_flat(value)}"]
    if is_object(value) or is_list(value):
        return _entry("-", value, depth)
    return [f"{_STEP * depth}- {one_line(str(value))}"]


def _flat(document: Mapping[str, Any]) -> str:
    return ", ".join(f"{one_line(name)} {one_line(str(each))}" for name, each in document.items())
