"""HTCondor: ClassAds, hold and vacate codes, and events of the job's log."""

from __future__ import annotations

from typing import Final

from failhook.classify.condor.events import EVENTS
from failhook.classify.condor.holds import HOLDS, VACATES
from failhook.classify.condor.reader import FIELDS, SYSTEMS, read, shape
from failhook.classify.source import Source

SOURCE: Final = Source(
    name="condor",
    systems=SYSTEMS,
    fields=frozenset(FIELDS),
    read=read,
    rules=(*HOLDS, *VACATES, *EVENTS),
    shapes=(shape,),
)
