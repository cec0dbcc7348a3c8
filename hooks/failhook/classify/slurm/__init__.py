"""Slurm: sacct, scontrol, squeue and seff in text and JSON, and the lines of its daemons."""

from __future__ import annotations

from typing import Final

from failhook.classify.slurm.messages import MESSAGES
from failhook.classify.slurm.reader import FORMS, OWN, SYSTEMS, read, shape, text_shape
from failhook.classify.slurm.reasons import REASONS
from failhook.classify.slurm.states import STATES
from failhook.classify.source import Source

LOGS: Final = ("log_tail", "stderr_tail", "stdout_tail", "stderr", "stdout", "log")

SOURCE: Final = Source(
    name="slurm",
    systems=SYSTEMS,
    fields=frozenset({*FORMS, *OWN, *LOGS}),
    read=read,
    rules=(*STATES, *REASONS, *MESSAGES),
    shapes=(shape,),
    texts=(text_shape,),
)
