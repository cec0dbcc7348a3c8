"""What one look is about: when it happens, and what counts as long."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from failhook.cli.known_store import same_store
from failhook.cli.survey import Survey
from failhook.outbox.port import HookCalls


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a store.

    Attributes:
        found: what the store holds.
        now: when, UTC.
        patience: how long an event may wait, or a retry not begin.
        arguments: of the command.
    """

    found: Survey
    now: datetime
    patience: timedelta
    arguments: argparse.Namespace

    @property
    def options(self) -> str:
        """Return what leads another command to the same store and settings."""
        return same_store(self.arguments)

    def calls(self, plugin: str) -> Sequence[HookCalls]:
        """Return the calls of one plugin."""
        return [each for each in self.found.calls if each.plugin == plugin]
