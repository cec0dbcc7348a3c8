"""What Python raised: by class along the MRO, chain, message and frames; nothing is imported."""

from __future__ import annotations

from typing import Final

from failhook.classify.python.marks import MARKS
from failhook.classify.python.reader import DERIVED, read
from failhook.classify.source import Source

SOURCE: Final = Source(name="python", read=read, rules=(*MARKS,), derived=DERIVED)
