"""What a supervisor sees by itself: wait status, deadlines, cancels, heartbeats, lost attempts."""

from __future__ import annotations

from typing import Final

from failhook.classify.process.engine_acts import ENGINE_ACTS
from failhook.classify.process.exits import EXITS
from failhook.classify.process.limits import LIMITS
from failhook.classify.process.losses import LOSSES
from failhook.classify.process.reader import DERIVED, read
from failhook.classify.process.signals import SIGNALS
from failhook.classify.source import Source

SOURCE: Final = Source(
    name="process",
    read=read,
    rules=(*ENGINE_ACTS, *LIMITS, *LOSSES, *SIGNALS, *EXITS),
    derived=DERIVED,
)
