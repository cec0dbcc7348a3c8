"""What every lane works with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from failhook.clock import Clock
from failhook.event import FailureEvent
from failhook.outbox.handover import Handover
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.outage import Outage
from failhook.outbox.port import Outbox
from failhook.outbox.probation import Probation


class Tally(Protocol):
    """Keeps count of the events that leave the outbox; none of it raises or waits."""

    def delivered(self, plugin: str, events: int) -> None:
        """Count what a plugin has taken."""
        ...

    def buried(self, plugin: str, events: int) -> None:
        """Count dead letters."""
        ...

    def dropped(self, plugin: str, events: int) -> None:
        """Count what was dropped because the bounds were reached."""
        ...

    def write(self) -> None:
        """Hand the counts on, if it is time; it may wait for the store."""
        ...


class Courier(Protocol):
    """Has some of the plugins called in another process."""

    def takes(self, plugin: str) -> bool:
        """Return whether a plugin is called there, not here."""
        ...

    def wake(self) -> None:
        """Have what is due delivered soon; it returns at once and does not raise."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What the lanes of one process share.

    Attributes:
        outbox: where events wait.
        handover: the plugins.
        clock: the time.
        limits: how hard to try.
        random: returns a number in 0..1, for the jitter of backoffs.
        attach: puts the live exception back on an event that this process reported.
        buried: told of each dead letter: plugin, event, and why. It must not block.
        gone: returns whether the process of that owner's name is known to be gone.
        owner: a name for this process's leases that no other process has.
        tally: keeps count.
        outage: says once that the outbox cannot be used, and once that it can be again.
        courier: takes over some of the plugins; None where all are called here.
        probation: who may call a plugin in whose call a process has ended.
    """

    outbox: Outbox
    handover: Handover
    clock: Clock
    limits: DeliveryLimits
    random: Callable[[], float]
    attach: Callable[[FailureEvent, str], FailureEvent]
    buried: Callable[[str, FailureEvent, str], None]
    gone: Callable[[str], bool]
    owner: str
    tally: Tally
    outage: Outage
    courier: Courier | None = None
    probation: Probation = field(default_factory=Probation)

    def names(self) -> Sequence[str]:
        """Return the plugins that are called here."""
        return [name for name in self.handover.names() if not self.elsewhere(name)]

    def elsewhere(self, plugin: str) -> bool:
        """Return whether a plugin is called in another process."""
        return self.courier is not None and self.courier.takes(plugin)
