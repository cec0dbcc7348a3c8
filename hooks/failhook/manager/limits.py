"""How long a plugin may take, and how often it may fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a plugin may cost.

    Attributes:
        call: seconds that one call may take. An ``async def`` implementation is cancelled then; any
            other cannot be stopped, and counts as failed.
        ask: seconds that an executor waits for one plugin's `classify_failure`.
        failures: so many failures in a row put a plugin into quarantine.
        probe: seconds until a plugin in quarantine is tried again; doubled each time that fails.
        longest_probe: seconds; the probe interval grows no further.
    """

    call: float = 30.0
    ask: float = 0.25
    failures: int = 5
    probe: float = 30.0
    longest_probe: float = 900.0
