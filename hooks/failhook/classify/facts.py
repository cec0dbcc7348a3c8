"""The flat view of one piece of evidence that rules are matched against: a value for each path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from failhook.details import JsonScalar
from failhook.text import cut

Value = JsonScalar | tuple[str, ...]
"""One fact. A tuple is a set of texts: a condition holds when it holds for one of them."""

Derive = Callable[["Facts"], Value]


@dataclass(frozen=True, slots=True)
class Derived:
    """A fact that takes some work, computed when a rule first asks for it.

    Attributes:
        derive: computes it; None when there is no such fact.
        made_from: facts of which one must be there, or this one is not; empty makes no promise.
    """

    derive: Derive
    made_from: tuple[str, ...] = ()


HEAD: Final = 4_096
TAIL: Final = 12_288
"""Characters of a long text that rules see: its head and its tail."""


QUOTED: Final = frozenset({"log", "words", "text"})
"""Paths that always hold text which the task could have written itself."""


class Facts(dict[str, Value]):
    """Facts by path, read by the readers; what a source derives is computed when first asked for.

    A path that nobody knows is None, and None is the same as absent. Readers leave out what they
    did not see; they never store None.

    Attributes:
        derived: how to compute the paths that are not read up front.
        origins: the place in the evidence document, for paths that are named otherwise.
        quoted: paths whose text the task could have written itself: a log, and what was found in
            one. A reader adds the path where it read it from such a place (`QUOTED` always is). A
            rule for infra that rests on nothing else gives way to the task's own report.
        sources: the live objects that derivations read, by a name of their source's choice.
        views: the same evidence seen from each error further down a chain of exceptions, where
            there is one.
        last_resort: the same evidence with an error that was only read out of a log.
    """

    __slots__ = ("derived", "last_resort", "origins", "quoted", "sources", "views")

    def __init__(self, derived: Mapping[str, Derived]) -> None:
        self.derived = derived
        self.origins: dict[str, str] = {}
        self.quoted: frozenset[str] = QUOTED
        self.sources: dict[str, Any] = {}
        self.last_resort: Callable[[], Facts | None] | None = None
        self.views: Callable[[], Iterator[Facts]] | None = None

    def __missing__(self, path: str) -> Value:
        derived = self.derived.get(path)
        if derived is None:
            return None
        value = derived.derive(self)
        if value == ():
            value = None
        self[path] = value
        return value

    def quote(self, *paths: str) -> None:
        """Say that the facts at these paths were read from text the task could have written."""
        self.quoted |= frozenset(paths)

    def read(self, path: str, value: object, origin: str | None = None) -> None:
        """Store one fact if it is there and a scalar; long text is windowed.

        Args:
            path: the name that rules use.
            value: as it stands in the document; None, lists and objects are left out.
            origin: the place in the evidence document, where it is not `path` itself.
        """
        if isinstance(value, str):
            self[path] = window(value)
        elif isinstance(value, int | float):
            self[path] = value
        else:
            return
        if origin is not None:
            self.origins[path] = origin

    def read_texts(self, path: str, values: object, origin: str | None = None) -> None:
        """Store a set of texts: the strings of a list, at most 64 of them."""
        if isinstance(values, str):
            values = (values,)
        if isinstance(values, list | tuple):
            members = cast("Sequence[object]", values)[:64]
            texts = tuple(window(text) for text in members if isinstance(text, str))
            if texts:
                self[path] = texts
                if origin is not None:
                    self.origins[path] = origin


def window(text: str) -> str:
    """Return a text short enough to be matched: its head and its tail, with a mark between."""
    if len(text) <= HEAD + TAIL:
        return text
    return cut(text, HEAD + TAIL, head=HEAD / (HEAD + TAIL))


def lines(value: object) -> str:
    """Return a log as one windowed text, whether it came as a text or as a list of lines."""
    if isinstance(value, str):
        return window(value)
    if isinstance(value, list | tuple):
        every = cast("Sequence[object]", value)
        ends = (*every[:100], *every[100:][-400:])
        return window("\n".join(window(line) for line in ends if isinstance(line, str)))
    return ""
