"""How much these tests do: little by default, the full figures where the environment asks for them.

``FAILHOOK_TEST_SCALE=full pytest tests/delivery`` runs the numbers that docs/guarantees.md states.
"""

from __future__ import annotations

import os

FULL = os.environ.get("FAILHOOK_TEST_SCALE") == "full"


def times(quick: int, full: int) -> int:
    """Return how often to do something."""
    return full if FULL else quick
