"""The cause of a failure as one label: what changes from run to run is folded away.

One cause is one incident: 3,000 tasks that a lost node took with it, or one bug that shows itself
in every run with other ids, dates and numbers.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from failhook.plugin import ErrorInfo, FailureEvent, Kind

_MOST: Final = 2_000
"""Characters of a message that are looked at: what tells two causes apart stands in front."""

_VARYING: Final = re.compile(
    r"""
    [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}      # UUID
  | \d{4}-\d\d-\d\d (?: [T\x20_] \d\d [:.]? \d\d (?: [:.]? \d\d (?:[.,]\d{1,9})? )?
        (?: Z | [+-]\d\d:?\d\d )? )?                                   # date and time
  | \d\d:\d\d(?: :\d\d (?:[.,]\d{1,9})? )?                             # time of day
  | \b0x[0-9a-f]{1,16}\b                                               # address
  | \b(?= [0-9a-f]{0,39} \d ) (?= [0-9a-f]{0,39} [a-f] ) [0-9a-f]{7,64}\b   # hash, part of an id
  | (?<![A-Za-z]) [-+]? \d[\d_,]{0,30} (?: \.\d{1,30} )? (?: e[-+]?\d{1,3} )? \w{0,3}\b   # number
  | \d{1,30}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""'[^'\n]{1,200}' | "[^"\n]{1,200}" | `[^`\n]{1,200}`""", re.VERBOSE)
_PATH: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,15}:/)?(?:/[^\s/'\"<>:,;()]{1,200}){2,40}", re.IGNORECASE
)
_FRAME: Final = re.compile(r'^\s*File "[^"\n]*?([^"/\n]*)", line \d+, in (\S+)', re.MULTILINE)
_WORDLIKE: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*")


def cause_of(event: FailureEvent) -> str:
    """Return the label ``cause``: ``NodeLost/node-7``, ``KeyError/3f2a9c01``."""
    details = event.failure_details
    if details.kind is Kind.INFRA:
        return f"{details.reason}/{details.node}" if details.node else details.reason
    if details.kind is Kind.MANUAL:
        return f"{details.reason}/{details.actor}" if details.actor else details.reason
    error = None if event.error is None else event.error.root
    name = details.reason if error is None or error.type == "builtins.str" else error.name
    text = details.message if error is None else error.message
    signature = "\n".join((details.reason, name, _place(error), fold(text)))
    return f"{name}/{sha256(signature.encode('utf-8', 'replace')).hexdigest()[:8]}"


def fold(text: str) -> str:
    """Return a message with ids, dates, numbers, paths and quoted values taken out.

    A quoted word without digits stays: a missing column ``'amount'`` is another cause than a
    missing column ``'customer'``.
    """
    first = text.strip()[:_MOST]
    folded = _QUOTED.sub(_quoted, first)
    folded = _PATH.sub(_path, folded)
    return " ".join(_VARYING.sub("#", folded).split())


def _quoted(found: re.Match[str]) -> str:
    text = found[0]
    return text if _WORDLIKE.fullmatch(text[1:-1]) else f"{text[0]}#{text[0]}"


def _path(found: re.Match[str]) -> str:
    """Keep the last part of a path, folded: folders differ from run to run, file names less so."""
    return f"#/{found[0].rpartition('/')[2]}"


def _place(error: ErrorInfo | None) -> str:
    """Return the function in which the error arose; line numbers change with every edit."""
    if error is None:
        return ""
    frames = re.findall(
        r'^\s*File "[^"\n]*?([^"/\n]*)", line \d+, in (\S+)', error.traceback, re.MULTILINE
    )
    return ":".join(frames[-1]) if frames else ""
