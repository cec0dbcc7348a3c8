"""Attempts in words: one line each, as a refusal tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from failhook.error_info import ErrorInfo
from failhook.gate.ledger import Attempt, AttemptState
from failhook.text import cut_redacted

_MAX_LINE: Final = 1_000
"""Characters: every attempt keeps such a line in the ledger."""


def root_line(error: ErrorInfo | None) -> str:
    """Return the root cause in one line of bounded length: type and the first line of its text."""
    if error is None:
        return ""
    root = error.root
    if not root.message.strip():
        return root.name
    return cut_redacted(f"{root.name}: {root.message.splitlines()[0]}", _MAX_LINE, head=0.8)


def story(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Tell every attempt in one line each: the whole story behind a refusal."""
    lines: list[str] = []
    for attempt in attempts:
        details, decision = attempt.details, attempt.decision
        if details is None or decision is None:
            lines.append(f"attempt {attempt.task.attempt}: {attempt.state.value}")
            continue
        cause = attempt.error_line or details.message
        text = f": {cause}" if cause else ""
        after_all = attempt.state is AttemptState.SUCCEEDED
        lines.append(
            f"attempt {attempt.task.attempt}: {details.kind.value} {details.reason}{text} "
            f"-> {decision.message}{'; succeeded after all' if after_all else ''}"
        )
    return tuple(lines)
