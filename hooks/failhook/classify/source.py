"""A source of evidence: how its documents are read, its rules, and the shapes it knows by sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from failhook.classify.facts import Derived, Facts
from failhook.classify.rule import Rule
from failhook.evidence import Evidence

Read = Callable[[Evidence, Facts], None]
Shape = Callable[[Mapping[str, Any]], Evidence | None]
"""Make evidence of a bare native record, or None when the record is of another kind."""
TextShape = Callable[[str], Evidence | None]
"""Make evidence of what a command printed, or None when it is of another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One folder of `failhook.classify`.

    Attributes:
        name: the folder's name.
        systems: the values of `Evidence.system` that it reads; empty reads all of them.
        fields: fields of the evidence that make it read also what names no system of its own:
            many hosts report a job's record under a name that says nothing.
        read: puts what it finds into the facts, by path.
        rules: its table.
        derived: facts that cost something, computed when a rule first asks for them.
        shapes: how to know bare records of this source by sight.
        texts: how to know the output of its commands by sight.
    """

    name: str
    read: Read
    rules: tuple[Rule, ...]
    systems: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    derived: Mapping[str, Derived] = field(default_factory=dict[str, Derived])
    shapes: tuple[Shape, ...] = ()
    texts: tuple[TextShape, ...] = ()

    def reads(self, system: str) -> bool:
        """Return whether evidence of this system is for this source."""
        return not self.systems or system in self.systems
