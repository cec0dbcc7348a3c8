"""What a `TaskError`, found anywhere in the chain, says by itself."""

from __future__ import annotations

from typing import Final

from failhook.classify.rule import Rule

MARKS: Final[tuple[Rule, ...]] = ()
