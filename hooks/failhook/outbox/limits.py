"""How hard the outbox tries, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from failhook.policy import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLimits:
    """How deliveries are tried.

    Attributes:
        max_failures: a plugin that raised this often on one event gets it no more.
        max_refusals: the same for one that says ``Undelivered(retryable=True)``.
        max_deaths: the same for one in whose call so many processes in a row have ended; more than
            `max_failures`, since a process may be killed at any moment for any reason.
        backoff: the wait between two tries.
        lease: seconds that what is claimed belongs to one drainer, unless that prolongs it.
        mark: seconds after which deliveries of a batch under way are marked, counts are written
            and drops are looked for.
        batch: rows claimed at once.
        turn: seconds after which what is left of a batch is given back, so that groups and other
            drainers have their turn.
        group: events of a group that are handed over at once.
        gather: seconds that a drainer waits after it was woken, so that a burst is one batch, and
            between two batches, so that it does not slow down who reports.
        watch: seconds between two looks at calls that may have run past their time limit.
        at_exit: seconds that the end of the interpreter waits for what is due.
        poll: seconds after which a drainer looks again although nobody woke it: other processes
            on the same store write too.
    """

    max_failures: int = 5
    max_refusals: int = 50
    max_deaths: int = 10
    backoff: Backoff = Backoff(initial=1.0, factor=2.0, maximum=300.0)
    lease: float = 60.0
    mark: float = 1.0
    batch: int = 100
    turn: float = 5.0
    group: int = 500
    gather: float = 0.01
    watch: float = 0.5
    at_exit: float = 3.0
    poll: float = 5.0
