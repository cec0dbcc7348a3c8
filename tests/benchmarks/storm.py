"""What a storm with every plugin dead costs, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

FAILURES = 100_000


def storm(failures: int = FAILURES) -> str:
    """Return in one line what was seen of so many failures."""
    command = [sys.executable, "-m", "tests.delivery.storm", "memory", str(failures)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    seen: dict[str, Any] = json.loads(ended.stdout)
    heard = list(seen["heard"].values())
    delivered, dropped, final = (
        sum(each[name] for each in heard) for name in ("delivered", "dropped", "dropped_final")
    )
    return (
        f"storm, memory, {failures:,} failures, every plugin dead: "
        f"{seen['growth']:.0f} MiB of growth (at most 64), {_range(seen['threads'])} threads; "
        f"they come back: {delivered:,} events delivered, {dropped:,} dropped and told "
        f"({final:,} of them final), {failures * len(heard) - delivered - dropped:,} lost"
    )


def _range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
