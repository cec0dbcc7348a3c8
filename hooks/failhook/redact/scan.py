"""Two looks over a text find every place where a secret may begin.

Python's engine tries the branches of an alternative one after the other, so that a pattern per
kind of secret would cost a pass over the text each. Here all signs make two trees, one of names and
one of prefixes that stand at the start of a word, and a shape is only tried where its sign stands.
How many places are tried is bounded by the length of the text, so that text made to confuse takes
less than twice what plain text takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from failhook.redact.pattern import REACH, Finder, Shape, Span

FREE: Final = 256
PER_PLACE: Final = 128
"""A text may have this many places where a secret seems to begin, and one more for so many of its
characters. Logs and tracebacks have one in some thousand."""

_BREAKS: Final = ("\\n", "\\r", "\\t", "%20", "%22", "%26", "%27", "%2c", "%2f", "%3a", "%3d")
"""What ends a word although a letter or a digit is the last of it: escapes in quoted text."""

_DASH: Final = r"-(?<![\w-]-)"
"""A sign that begins with a dash does not stand within a word, nor behind another dash."""

_Tree = dict[str, "_Tree"]
_END: Final = ""


class Found(NamedTuple):
    """What a scan found.

    Attributes:
        spans: what is to be hidden.
        end: the characters that were looked at; the rest has too much that looks secret.
    """

    spans: list[Span]
    end: int


class Scan:
    """Finds the secrets of many shapes in two passes."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._finders: dict[str, list[Finder]] = {}
        inside: list[Shape] = []
        starting: list[Shape] = []
        for shape in shapes:
            finder = Finder(shape)
            (starting if shape.starts else inside).append(shape)
            for sign in shape.signs:
                self._finders.setdefault(sign, []).append(finder)
        self._names = re.compile(_any_sign(inside), re.VERBOSE)
        letters = "".join({sign[0] for shape in starting for sign in shape.signs})
        begins = rf"(?<![a-z0-9])(?=[{re.escape(letters)}])"
        self._prefixes = re.compile(begins + _any_sign(starting), re.VERBOSE)

    def suspects(self, folded: str) -> bool:
        """Return whether a secret may begin anywhere in the text, which is in lower case."""
        return bool(self._names.search(folded) or self._prefixes.search(_broken(folded)))

    def find(self, text: str, folded: str) -> Found:
        """Find what is to be hidden.

        Args:
            text: the text.
            folded: the same in lower case, of the same length.
        """
        spans: list[Span] = []
        done: dict[Finder, int] = {}
        end = len(text)
        allowed = FREE + end // PER_PLACE
        for regex, where in ((self._prefixes, _broken(folded)), (self._names, folded)):
            for place in regex.finditer(where, 0, end):
                start, after = place.span()
                if not allowed:
                    end = start
                    break
                allowed -= 1
                for finder in self._finders[place[0]]:
                    # A value may end where the quoted value of a name within it begins.
                    if start < done.get(finder, 0) - REACH:
                        continue
                    if finder.follow and folded[after : after + 1] not in finder.follow:
                        continue
                    found = finder.find(folded if finder.folded else text, start, spans)
                    if found:
                        done[finder] = found
        return Found(spans, end)


def _broken(folded: str) -> str:
    """Return the text with spaces for escapes, so that a word after one starts."""
    for escape in _BREAKS:
        if escape in folded:
            folded = folded.replace(escape, " " * len(escape))
    return folded


def _any_sign(shapes: Iterable[Shape]) -> str:
    gates: dict[str, dict[str, None]] = {}
    for shape in shapes:
        for sign in shape.signs:
            gates.setdefault(sign, {})[shape.gate] = None
    return _either(_tree(gates), gates)


def _tree(words: Iterable[str]) -> _Tree:
    root: _Tree = {}
    for word in words:
        node = root
        for letter in word:
            node = node.setdefault(letter, {})
        node[_END] = {}
    return root


def _either(tree: _Tree, gates: Mapping[str, Iterable[str]], word: str = "") -> str:
    """Return an expression for all words below; one that goes on is tried before one that ends."""
    letters: dict[str, list[str]] = {}
    for letter, below in tree.items():
        if letter != _END:
            letters.setdefault(_either(below, gates, word + letter), []).append(letter)
    branches = [_one_of(alike, word) + rest for rest, alike in letters.items()]
    if _END in tree:
        gate = "|".join(gates[word])
        branches.append(f"(?={gate})" if gate else "")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _one_of(letters: Sequence[str], word: str) -> str:
    escaped = "".join(map(re.escape, letters))
    if escaped == r"\-" and not word:
        return _DASH
    return escaped if len(letters) == 1 else f"[{escaped}]"
