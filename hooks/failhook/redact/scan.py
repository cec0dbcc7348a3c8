"""A few looks over a text find every place where a secret may begin.

Python's engine tries the branches of an alternative one after the other, so that a pattern per
kind of secret would cost a pass over the text each. Here all signs make three trees: of names, of
options, and of prefixes that stand at the start of a word; a shape is only tried where its sign is.
How many places are tried is bounded by the length of the text, so that text made to confuse takes
less than twice what plain text takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from failhook.redact.pattern import REACH, Finder, Shape, Span

FREE: Final = 65_536
"""A text is worth this much work, and once more as much as it has characters."""

PLACE: Final = 40
"""What a place costs where a secret seems to begin, and each shape that is tried there."""

READ: Final = 3
"""What each character costs of what a shape then matches."""

_MARK: Final = "[... "
_MARK_COSTS: Final = 1_024
"""At the mark of a cut much is looked at."""

_ESCAPES: Final = (r"\n", r"\r", r"\t", r"\u0022", r"\u0026", r"\u0027", r"\u003d")
_PERCENT: Final = re.compile(r"%(?:2[0267cf]|3[abdf]|5b|7c)")
"""What ends a word although a letter or a digit is the last of it."""

_DASH: Final = r"-(?<![\w-]-)"
"""A sign that begins with a dash does not stand within a word, nor behind another dash."""

_Tree = dict[str, "_Tree"]
_Signs = dict[str, dict[str, None]]
"""Signs, each with its gates."""

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
    """Finds the secrets of many shapes in three passes."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._finders: dict[str, list[Finder]] = {}
        names, dashes, prefixes, apart = _Signs(), _Signs(), _Signs(), _Signs()
        for shape in shapes:
            finder = Finder(shape)
            for sign in shape.signs:
                self._finders.setdefault(sign, []).append(finder)
                where = prefixes if shape.starts else dashes if sign[0] == "-" else names
                where = apart if sign == _MARK else where  # text may be full of brackets
                where.setdefault(sign, {})[shape.gate] = None
        self._inside = [
            re.compile(_any_of(signs), re.VERBOSE) for signs in (names, dashes, apart) if signs
        ]
        self._starting: list[re.Pattern[str]] = []
        if prefixes:
            letters = re.escape("".join({sign[0] for sign in prefixes}))
            begins = rf"(?<![a-z0-9])(?=[{letters}])"
            self._starting.append(re.compile(begins + _any_of(prefixes), re.VERBOSE))

    def suspects(self, folded: str) -> bool:
        """Return whether a secret may begin anywhere in the text, which is in lower case."""
        return any(regex.search(where) for regex, where in self._looks(folded))

    def find(self, text: str, folded: str, end: int) -> Found:
        """Find what is to be hidden.

        Args:
            text: the text.
            folded: the same in lower case, of the same length.
            end: where the part ends that is looked at.
        """
        spans: list[Span] = []
        done: dict[Finder, int] = {}
        allowed = FREE + end
        for regex, where in self._looks(folded):
            for place in regex.finditer(where, 0, end):
                start, after = place.span()
                if allowed <= 0:
                    end = start
                    break
                allowed -= _MARK_COSTS if place[0] == _MARK else PLACE
                for finder in self._finders[place[0]]:
                    # A value may end where the quoted value of a name within it begins.
                    if start < done.get(finder, 0) - REACH:
                        continue
                    if finder.follow and folded[after : after + 1] not in finder.follow:
                        continue
                    found = finder.find(folded if finder.folded else text, start, spans)
                    allowed -= PLACE + READ * (found - start if found > 0 else -found)
                    if found > 0:
                        done[finder] = found
        return Found(spans, end)

    def _looks(self, folded: str) -> Iterator[tuple[re.Pattern[str], str]]:
        for regex in self._inside:
            yield regex, folded
        for regex in self._starting:
            yield regex, _broken(folded)


def _broken(folded: str) -> str:
    """Return the text with spaces for escapes, so that a word after one starts."""
    if "\\" in folded:
        for escape in _ESCAPES:
            folded = folded.replace(escape, " " * len(escape))
    return _PERCENT.sub("   ", folded) if "%" in folded else folded


def _any_of(signs: _Signs) -> str:
    return _either(_tree(signs), signs)


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
