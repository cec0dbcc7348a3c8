"""The text of a Python traceback, or of one log line about an error, read back into an error."""

from __future__ import annotations

import re
from typing import Final

from failhook.error_info import ErrorInfo
from failhook.evidence import Evidence

START: Final = "Traceback (most recent call last):"
_CAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n"
_CONTEXT: Final = "\nDuring handling of the above exception, another exception occurred:\n"
_LINKS: Final = re.compile(f"({re.escape(_CAUSE)}|{re.escape(_CONTEXT)})")
_HEAD: Final = re.compile(
    r"(?P<type>[A-Za-z_][\w.<>]{0,200}(?:\([A-Za-z_]\w{0,100}\))?)(?::[ ]?(?P<message>.*))?",
    re.DOTALL,
)
_ENDINGS: Final = (
    *("Error", "Exception", "Timeout", "Exit", "Interrupt", "Warning", "Failure", "Expired"),
    *("Lost", "Exceeded", "Terminated", "Killed", "KilledWorker", "Pool", "Group", "Denied"),
    *("Unavailable", "NotFound", "Forbidden", "Unauthorized", "Conflict", "Aborted", "Cancelled"),
    *("BadRequest", "Refused", "Closed", "Full", "Empty", "Signal"),
)
"""How names of exceptions end; other words before a colon are no classes, if no module is there."""
_LOWER_CASE: Final = ("socket.error", "socket.gaierror", "socket.timeout", "select.error")

_IN_LINE: Final = re.compile(
    r"(?:^|[\s\]:-])(?P<type>(?:[a-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{2,80}): (?P<message>\S.{0,800})"
)
_UNPARSED: Final = re.compile(r'(?m)^[ ]*File "[^"\n]{1,500}", line [0-9]{1,9}$')
"""How a `SyntaxError` of the main script begins: there is no traceback above it."""
_GROUP: Final = re.compile(
    r"^([ ]*)\+ Exception Group Traceback \(most recent call last\):", re.MULTILINE
)
_FIRST_MEMBER: Final = re.compile(r"^([ ]*)\+-\+-{3,} 1 -{3,}$", re.MULTILINE)
_MARGIN: Final = re.compile(r"([ ]*)(\+-\+|[|+])(.*)")
_RULER: Final = re.compile(r"-{3,}(?: (?:[0-9]+|\.\.\.) -{3,})?")
_FRAME_MARGIN: Final = (" ", "\t", "|", "+")
_MAX_CHAIN: Final = 32
_MAX_NESTED: Final = 8


def from_text(text: str) -> Evidence:
    """Return the evidence that a text holds: a traceback with its chain, else plain text."""
    error = read_error(text)
    if error.type == "builtins.str":
        return Evidence.exception(text)
    return Evidence.exception(error)


def read_error(text: str) -> ErrorInfo:
    """Return the error that a text describes; plain text stays an error of type ``str``."""
    if START in text or _FIRST_MEMBER.search(text) is not None:
        return _read_traceback(text)
    unparsed = _UNPARSED.search(text)
    if unparsed is not None:
        name, message = _last_line(text[unparsed.start() :])
        if name.endswith(("SyntaxError", "IndentationError", "TabError")):
            return ErrorInfo(type=name, message=message, traceback=text)
    line = text.strip()
    head = _HEAD.fullmatch(line)
    if head and "\n" not in head["type"] and _is_a_class(head["type"]):
        return ErrorInfo(type=_qualified(head["type"]), message=head["message"] or "")
    return ErrorInfo(type="builtins.str", message=text)


def last_error(log: str) -> ErrorInfo | None:
    """Return the error that a log shows last: a traceback's, or a line that begins with a class."""
    if START in log:
        error = _read_traceback(log[log.rindex(START) :])
        return None if error.type == "builtins.Exception" else error
    for row in reversed(log.splitlines()[-200:]):
        found = _IN_LINE.search(row[:1_000])
        if found is not None and _is_a_class(found["type"]):
            return ErrorInfo(type=_qualified(found["type"]), message=found["message"])
    return None


def _read_traceback(text: str, depth: int = 0) -> ErrorInfo:
    """Read the errors from the innermost, which is printed first, to the outermost."""
    parts = _LINKS.split(text)[-2 * _MAX_CHAIN + 1 :]
    error: ErrorInfo | None = None
    link = ""
    for part in parts:
        if part in (_CAUSE, _CONTEXT):
            link = part
            continue
        own, members = _parted(part) if depth < _MAX_NESTED else (part, ())
        name, message = _last_line(own)
        error = ErrorInfo(
            type=name,
            message=message,
            traceback=text if part is parts[-1] and not depth else "",
            cause=error if link == _CAUSE else None,
            context=error if link == _CONTEXT else None,
            exceptions=tuple(_read_traceback(member, depth + 1) for member in members),
        )
    return error or ErrorInfo(type="builtins.str", message=text)


def _parted(text: str) -> tuple[str, tuple[str, ...]]:
    """Part the printed form of a group into its own text and that of each member.

    The members stand to the right of their group's margin, between rulers.
    """
    found = _FIRST_MEMBER.search(text)
    if found is None:
        return text, ()
    begins = _GROUP.search(text)
    rows = text[begins.start() if begins else 0 :].splitlines()
    margin = len(found[1])
    own: list[str] = []
    members: list[list[str]] = []
    inside = False
    for row in rows:
        shape = _MARGIN.fullmatch(row)
        if shape is None:
            own.append(row)
        elif _opens(row, margin):
            inside = True
            members.append([])
        elif inside and len(shape[1]) > margin:
            if len(shape[1]) == margin + 2 and shape[2] == "+" and _RULER.fullmatch(shape[3]):
                members.append([])
            else:
                members[-1].append(_without_bar(row[margin + 2 :]))
        else:
            inside = False
            own.append(shape[3].removeprefix(" "))
    return "\n".join(own), tuple("\n".join(member) for member in members if member)


def _without_bar(row: str) -> str:
    return row[1:].removeprefix(" ") if row.startswith("|") else row


def _opens(row: str, margin: int) -> bool:
    """Return whether a row opens the first member of the group with this margin."""
    shape = _MARGIN.fullmatch(row)
    return shape is not None and len(shape[1]) == margin and shape[2] == "+-+"


def _last_line(part: str) -> tuple[str, str]:
    """Return type and message of the error that one traceback ends with."""
    _, found, after = part.rpartition(START)
    rows = (after if found else part).splitlines()
    for number, row in enumerate(rows):
        if not row or row.startswith(_FRAME_MARGIN):
            continue
        head = _HEAD.fullmatch(row)
        if head is not None:
            rest = "\n".join(rows[number + 1 :]).rstrip()
            message = head["message"] or ""
            return _qualified(head["type"]), f"{message}\n{rest}" if rest else message
    return "builtins.Exception", (after if found else part).strip()


def _is_a_class(name: str) -> bool:
    path, _, last = name.split("(", 1)[0].rpartition(".")
    if not last.lstrip("_")[:1].isupper():
        return name in _LOWER_CASE
    return bool(path) or last.endswith(_ENDINGS)


def _qualified(name: str) -> str:
    return name if "." in name else f"builtins.{name}"
