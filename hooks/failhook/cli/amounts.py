"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from failhook.cli.terminal import one_line


def counted(count: int, thing: str) -> str:
    """Write a number and its noun: ``1 event``, ``12,345 events``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def listed(counts: Mapping[str, int]) -> str:
    """Write numbers by name, the largest first: ``pager 12, chat 3``."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{one_line(name)} {count:,}" for name, count in ordered)
