"""Why a task is not started, and what its owner can do now."""

from __future__ import annotations

import argparse
from typing import Final

from failhook.cli.known_store import same_store
from failhook.cli.terminal import quoted
from failhook.decision import Action, Decision
from failhook.errors import StartRefused

_NEXT: Final = ("; clear it to begin a new generation", "; somebody must say what to do")
"""What the gate says to any host; the command knows better what its user can do."""
_RUNNING: Final = "gate.duplicate"


def refusal_lines(refusal: StartRefused, key: str, arguments: argparse.Namespace) -> list[str]:
    """Return why, what to do now, and every attempt so far."""
    decision = refusal.decision
    why = decision.because.text
    for advice in _NEXT:
        why = why.removesuffix(advice)
    state = "on hold: " if decision.action is Action.HOLD else ""
    first = f"not started: {state}{why}; {next_step(decision, key, arguments)}"
    return [first, *(f"  {line}" for line in refusal.story)]


def next_step(decision: Decision, key: str, arguments: argparse.Namespace) -> str:
    """Return what to do about a refusal."""
    if decision.action is Action.HOLD:
        return f"say what to do with: {resolve_command(key, arguments)}"
    again = "to run it again use another --run-id"
    return f"wait for it, or {again}" if decision.because.rule == _RUNNING else again


def resolve_command(key: str, arguments: argparse.Namespace) -> str:
    """Return the command that releases a hold, or closes what was left open, on what is at hand."""
    return f"failhook resolve{same_store(arguments)} {quoted(key)} retry|fail|succeeded"
