"""How one call to one plugin ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from failhook.capture import headline
from failhook.errors import FailhookError, Undelivered
from failhook.groups import Group, Handled
from failhook.manager.no_answer import NoAnswer
from failhook.text import cut_redacted

MAX_RETRY_AFTER: Final = 86_400.0
"""Seconds; no plugin puts an event off for more than a day."""

_MAX_LINE: Final = 500


class Status(StrEnum):
    """What became of the event."""

    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one call to one plugin ended.

    Attributes:
        status: delivered; undelivered, which the plugin said itself; or failed: it raised, ran
            out of time, or could not be called.
        error: why it was not delivered, in one line; empty when it was.
        retryable: whether trying again can help; False sends the event to the dead letters.
        retry_after: seconds that the other side asked to wait, within a day.
        groups: where the event is to wait for others; none where it was delivered by itself.
        handled: what the plugin says of the group that it was handed.
    """

    status: Status
    error: str = ""
    retryable: bool = True
    retry_after: float | None = None
    groups: tuple[Group, ...] = ()
    handled: Handled = Handled()

    @property
    def delivered(self) -> bool:
        """Return whether the event needs no further try."""
        return self.status is Status.DELIVERED


DELIVERED: Final = Outcome(status=Status.DELIVERED)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that came to an end, or ran past its time limit, for whoever keeps count.

    Attributes:
        plugin: the plugin's name.
        hook: what was called.
        status: as in `Outcome`.
        at: when it ended, UTC.
        seconds: how long it took; None where it has not come back.
        slow: whether it ran past the time limit.
        error: why it failed, in one line; empty when it did not.
    """

    plugin: str
    hook: str
    status: Status
    at: datetime
    seconds: float | None
    slow: bool = False
    error: str = ""


def failed(error: str) -> Outcome:
    """Return the outcome of a call that raised, ran out of time or could not be made."""
    return Outcome(status=Status.FAILED, error=error)


def undelivered(error: Undelivered, line: str) -> Outcome:
    """Return what a plugin said; a number of seconds that makes no sense counts as not said."""
    return Outcome(
        status=Status.UNDELIVERED,
        error=line,
        retryable=error.retryable is not False,
        retry_after=_seconds(error.retry_after),
    )


def error_line(error: BaseException, redact: Callable[[str], str]) -> str:
    """Describe an exception in one line without secrets, whatever it does when it is looked at."""
    known = issubclass(type(error), FailhookError | NoAnswer)
    return cut_redacted(redact(headline(error, named=not known)), _MAX_LINE, head=0.8)


def _seconds(said: object) -> float | None:
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    seconds = min(said, MAX_RETRY_AFTER)
    return float(seconds) if seconds >= 0 else None  # NaN is not
