"""Why a plugin gave no answer that can be used, where it did not raise."""

from __future__ import annotations


class NoAnswer(Exception):  # noqa: N818 - a state, judged by whoever asked; it needs no traceback
    """The plugin gave no answer that can be used; the message says why."""


class StillRunning(NoAnswer):
    """An earlier call has not come back; nothing was begun."""

    def __str__(self) -> str:
        return "it is still in an earlier call"


class OutOfTime(NoAnswer):
    """The call did not come back within `limit` seconds; it may still run."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"it ran for longer than {limit:.3g} s")


class Nonsense(NoAnswer):
    """What a plugin answered is no answer to what it was asked."""
