"""What is sent: alerts, gathered into a notification for one receiver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from failhook.plugin import FailureEvent


class Status(StrEnum):
    """Where an alert stands; Alertmanager's words."""

    FIRING = "firing"
    RESOLVED = "resolved"


class Why(StrEnum):
    """Why a notification goes out."""

    NEW = "new"
    CHANGED = "changed"
    REMINDER = "reminder"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One task that fails for one cause, across its runs, until it is well again.

    Attributes:
        fingerprint: who it is: a hash of job and cause, 16 hexadecimal digits.
        labels: what it is routed and grouped by.
        status: firing or resolved.
        starts_at: when it first failed, UTC.
        ends_at: when it was well again, UTC; None while it fires.
        count: failures so far that the route wants to hear of.
        runs: how many runs they belong to.
        event: the newest failure.
        first_cause: why the first attempt of that run failed, one line; "" where that is the same.
        is_new: whether the last notification did not hold it.
    """

    fingerprint: str
    labels: Mapping[str, str]
    status: Status
    starts_at: datetime
    ends_at: datetime | None = None
    count: int = 1
    runs: int = 1
    event: FailureEvent
    first_cause: str = ""
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """Everything that one receiver is to say of one group now.

    Attributes:
        receiver: the receiver's name in the configuration.
        group_key: the same for the same group, across restarts.
        group_labels: the labels that its alerts have in common because they are grouped by them.
        why: what made it go out.
        alerts: the firing ones first, each newest first.
        more: how many more alerts the group has, which are only counted.
        failures: failures of the whole group so far.
        since: when the first of them was, UTC.
        mention: whom to call; from the configuration, never from a failure.
        memory: what the receiver returned when it last sent of this group; "" at first.
        note: one line above all else, such as why a fallback receiver gets it; "" for none.
        interval: seconds until a group that fires is told of again to a receiver that is kept alive
            by it: the route's group_interval.
        repeat_interval: seconds after which people are reminded: the route's.
        docs_url: where the pages on reasons are (see `entry.page_of`); "" for no link.
        run_url: where a run can be seen, with ``{namespace}``, ``{workflow}``, ``{task}``,
            ``{run_id}``, ``{map_index}`` and ``{attempt}`` to be filled in; "" for no link.
    """

    receiver: str
    group_key: str
    group_labels: Mapping[str, str]
    why: Why
    alerts: Sequence[Alert]
    more: int = 0
    failures: int = 1
    since: datetime
    mention: str = ""
    memory: str = ""
    note: str = ""
    interval: float = 300.0
    repeat_interval: float = 14_400.0
    docs_url: str = ""
    run_url: str = ""

    @property
    def status(self) -> Status:
        """Return firing while any alert fires."""
        firing = any(alert.status is Status.FIRING for alert in self.alerts)
        return Status.FIRING if firing else Status.RESOLVED

    @property
    def simulated(self) -> bool:
        """Return whether it is a marked test and no failure."""
        return any(alert.event.simulated for alert in self.alerts)


class Receiver(Protocol):
    """One place that notifications go to."""

    @property
    def name(self) -> str:
        """Its name in the configuration."""
        ...

    @property
    def keep_alive(self) -> bool:
        """Whether it wants every firing group again at each interval, changed or not."""
        ...

    def send(self, notification: Notification) -> str:
        """Send it, fitted to what the other side takes; return what to remember for the next one.

        Raises:
            Undelivered: it was not taken; retryable or not.
        """
        ...
