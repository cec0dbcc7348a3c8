"""Catalogues of secrets that others keep up to date, asked beside the built-in shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import count
from typing import Any, Final

from failhook.errors import ConfigError
from failhook.redact.pattern import Span
from failhook.redact.redactor import Redactor

KINGFISHER: Final = "kingfisher"
_MODULES: Final = {KINGFISHER: "kingfisher_sdk"}

_WINDOW: Final = 16_384
_OVERLAP: Final = 2_048
"""Characters: its time grows faster than the text where findings are many, so it gets windows."""
_SECONDS: Final = 2.0


def why_missing(name: str) -> str:
    """Return why there is no such source, as the end of a sentence, or ""."""
    if name not in _MODULES:
        alike = get_close_matches(name, _MODULES, n=1)
        guess = f"did you mean {alike[0]!r}? " if alike else ""
        return f"is {name!r}; {guess}sources of secrets are: {', '.join(_MODULES)}"
    if find_spec(_MODULES[name]) is None:
        return f"is {name!r}, which is not installed: pip install 'failhook[{name}]'"
    return ""


def open_redactor(patterns: Iterable[str], sources: Iterable[str]) -> Redactor:
    """Return a redactor as ``[redact]`` says.

    Args:
        patterns: the user's own expressions.
        sources: names of catalogues; one is loaded here, which takes up to some seconds.

    Raises:
        ConfigError: an expression is refused, or a source is unknown or not installed.
    """
    for name in sources:
        problem = why_missing(name)
        if problem:
            msg = f"redaction source {problem}"
            raise ConfigError(msg)
    return Redactor(extra=(*patterns, *(Kingfisher() for _ in sources)))


class Kingfisher:
    """The rules of MongoDB's Kingfisher, run in this process; it asks no network.

    What it calls visible is hidden, secrets in base64 too. A text on which it takes longer than two
    seconds a window is withheld.
    """

    def __init__(self) -> None:
        import kingfisher_sdk

        policy = kingfisher_sdk.DetectionPolicy(inline_ignores=False, markup_context=False)
        self._scanner: Any = kingfisher_sdk.Scanner(policy=policy)
        self._scanner.scan(b"")  # what it makes on first use, it makes now

    def spans(self, text: str) -> Iterator[Span]:
        """Yield where there is something to hide.

        Raises:
            TimeoutError: a window took too long.
        """
        for start in count(0, _WINDOW - _OVERLAP):
            window = text[start : start + _WINDOW]
            data = window.encode("utf-8", "surrogatepass")
            for finding in self._scanner.scan(data, timeout=_SECONDS):
                if finding.visible:
                    where = finding.location
                    first = _characters(data[: where["start_offset"]])
                    last = _characters(data[: where["end_offset"]])
                    yield start + first, start + last
            if start + _WINDOW >= len(text):
                return


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))
