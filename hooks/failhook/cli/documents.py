"""Documents that a user hands to the command: files and standard input, JSON and tracebacks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from failhook.cli.arguments import UsageError
from failhook.errors import EvidenceError


def read_document(name: str | None) -> Any:
    """Read one document: a JSON value, or the text of something else.

    Args:
        name: the file; ``-`` is standard input, and so is None where it is no terminal.

    Raises:
        UsageError: it cannot be read, or is not what it looks like.
    """
    text = b"".join(read_lines(name))
    try:
        return parse_document(decoded(text))
    except EvidenceError as error:
        raise UsageError(f"{called(name)}: {error}") from None


def read_lines(name: str | None) -> Iterator[bytes]:
    """Yield the lines of a file as they come; ``-`` or None is standard input.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with _opened(name) as stream:
            yield from stream
    except OSError as error:
        raise UsageError(f"{called(name)}: {error.strerror or error}") from None


def decoded(raw: bytes) -> str:
    """Return the text.

    Raises:
        EvidenceError: it is not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EvidenceError(f"not UTF-8 (byte {error.start})") from None


def parse_document(text: str) -> Any:
    """Return the JSON value that a text is, or the text itself where it does not look like JSON.

    Raises:
        EvidenceError: it begins like a JSON object and is none, or it is empty.
    """
    start = text.lstrip()[:1]
    if not start:
        raise EvidenceError("there is nothing in it")
    if start == "{":
        return parse_json(text)
    try:
        value = parse_json(text)
    except EvidenceError:
        return text
    return value if isinstance(value, list | str) else text  # pyright: ignore[reportUnknownVariableType] - foreign JSON


def parse_json(text: str) -> Any:
    """Return the JSON value.

    Raises:
        EvidenceError: it is not valid JSON; the message has the place.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise EvidenceError(f"not valid JSON: {error.msg} ({place})") from None
    except ValueError as error:  # a number with thousands of digits
        raise EvidenceError(f"not valid JSON: {error}") from None
    except RecursionError:
        raise EvidenceError("not valid JSON: nested too deeply") from None


def called(name: str | None) -> str:
    """Return what to call a file in a message."""
    return "standard input" if name in (None, "-") else str(name)


def _opened(name: str | None) -> AbstractContextManager[BinaryIO]:
    if name is not None and name != "-":
        return Path(name).open("rb")
    if name is None and sys.stdin is not None and sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] - as below
        raise UsageError("which document? Give FILE, or pipe one in")
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it is None where descriptor 0 is closed
        raise UsageError("there is no standard input to read")
    return nullcontext(sys.stdin.buffer)
