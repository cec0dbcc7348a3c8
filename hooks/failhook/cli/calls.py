"""Who calls a plugin, as far as the store knows: which hooks ran where, and when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from failhook.cli.times import ago
from failhook.outbox.port import HookCalls


def last_call(calls: Iterable[HookCalls]) -> HookCalls | None:
    """Return the newest of some calls; None where there is none."""
    return max(calls, key=lambda each: each.called_at, default=None)


def caller(call: HookCalls, now: datetime) -> str:
    """Return who called, and when: ``last called by process 812 on web-1, 3m ago``."""
    return f"last called by process {call.pid} on {call.host}, {ago(call.called_at, now)}"
