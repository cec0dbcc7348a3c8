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

_STATUS: Final = re.compile(
    r"\b(?:https?(?:/[\d.]+)?|status|code|error|said|answered|returned|got)[\s:=(]{1,3}[1-5]\d\d\b",
    re.IGNORECASE,
)
_LETTERS: Final = str.maketrans("0123456789", "zyxwvutsrq")
_URL: Final = re.compile(
    r"([a-z][a-z0-9+.-]{1,15}://[^\s/?#'\"<>]{1,200})([^\s'\"<>]*)", re.IGNORECASE
)
_PATH: Final = re.compile(r"(?<!:)(?<!:/)(?:/[^\s/'\"<>:,;()]{1,200}){2,40}")
_VARYING: Final = re.compile(
    r"""
    [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}      # UUID
  | [\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}           # e-mail address
  | \d{4}-\d\d-\d\d (?: [T\x20_] \d\d [:.]? \d\d (?: [:.]? \d\d (?:[.,]\d{1,9})? )?
        (?: Z | [+-]\d\d:?\d\d )? )?                                   # date and time
  | (?:\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},?\s)?
        (?: \d{1,2}\s (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b
          | \b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\s{1,2}\d{1,2}\b )
        (?: ,?\s\d{4}\b )?                                             # date in words
  | \d\d:\d\d(?: :\d\d (?:[.,]\d{1,9})? )?                             # time of day
  | \b0x[0-9a-f]{1,16}\b                                               # address
  | \b(?= [0-9a-f]{0,39} \d ) (?= [0-9a-f]{0,39} [a-f] ) [0-9a-f]{7,64}\b   # hash, part of an id
  | \b(?= [a-z0-9]{0,64}? \d [a-z0-9]{0,64}? [a-z] ) [a-z0-9]{8,64}\b    # id with digits within
  | (?<=\btmp) \w{6,12}\b                                              # of a temporary file
  | (?: (?<=-) [bcdfghjklmnpqrstvwxz2456789]{8,10}- )?
        (?<=-) [bcdfghjklmnpqrstvwxz2456789]{5} (?![\w-])               # suffix of a pod
  | (?<![A-Za-z]) [-+]? \d[\d_,]{0,30} (?: \.\d{1,30} )? (?: e[-+]?\d{1,3} )? \w{0,3}\b   # number
  | \d{1,30}
    """,
    re.IGNORECASE | re.VERBOSE,
)


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
    # An exit code alone says nothing of the cause: another task's is another one.
    whose = event.task.job_key if error is None else ""
    signature = "\n".join((details.reason, name, _place(error), whose, fold(text)))
    return f"{name}/{sha256(signature.encode('utf-8', 'replace')).hexdigest()[:8]}"


def fold(text: str) -> str:
    """Return a message with ids, dates, numbers, addresses and the folders of paths taken out.

    Words stay, quoted or not: a missing column ``'amount'`` is another cause than a missing column
    ``'customer'``; and so does the status of an HTTP answer.
    """
    folded = _STATUS.sub(_spelt, text.strip()[:_MOST])
    folded = _URL.sub(_short, folded)
    folded = _PATH.sub(_path, folded)
    return " ".join(_VARYING.sub("#", folded).split())


def _spelt(found: re.Match[str]) -> str:
    """Write a status in letters, which stay."""
    return found[0][:-3] + found[0][-3:].translate(_LETTERS)


def _short(found: re.Match[str]) -> str:
    """Keep of a URL where it leads to and the last part of its path; queries differ."""
    path = found[2].partition("?")[0].partition("#")[0]
    return f"{found[1]}/{path.rstrip('/').rpartition('/')[2]}"


def _path(found: re.Match[str]) -> str:
    """Keep the last part of a path: folders differ from run to run, file names less so."""
    return f"#/{found[0].rpartition('/')[2]}"


def _place(error: ErrorInfo | None) -> str:
    """Return file and function in which the error arose; line numbers change with every edit."""
    if error is None:
        return ""
    for line in reversed(error.traceback.splitlines()):
        text = line.strip()
        if text.startswith('File "'):
            file, _, rest = text[6:].partition('"')
            return f"{file.rpartition('/')[2]}:{rest.rpartition(', in ')[2]}"
    return ""
