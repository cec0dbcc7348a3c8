"""What belongs to one process alone: who it is, its threads, the exceptions that live in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import uuid4
from weakref import finalize

from failhook import host
from failhook.clock import Clock
from failhook.evidence import Evidence
from failhook.gate.ledger import Owner
from failhook.manager import Manager
from failhook.metrics import Metrics
from failhook.outbox.drainer import Drainer
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.means import Courier, Means
from failhook.outbox.outage import Outage
from failhook.outbox.port import Store
from failhook.pipeline.adoption import Adoption
from failhook.pipeline.closing import Closing
from failhook.pipeline.counts import Counts
from failhook.pipeline.live import LiveErrors
from failhook.pipeline.notices import Notices
from failhook.pipeline.records import Failure, Records
from failhook.task import Task


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Delivering:
    """What delivers in one process. Where it is forgotten, its threads end by themselves.

    Attributes:
        live: the exceptions that were raised here.
        counts: what plugins did here.
        drainer: delivers, in threads of this process.
        closing: ends it.
    """

    live: LiveErrors
    counts: Counts
    drainer: Drainer
    closing: Closing


@dataclass(frozen=True, slots=True)
class Process:
    """The parts of a pipeline that a fork must not share.

    Attributes:
        me: this process.
        records: writes the ledger in its name.
        adoption: judges starts.
        live: the exceptions that were raised here.
        drainer: delivers, in threads of this process.
        delivering: these two and what they work with.
    """

    me: Owner
    records: Records
    adoption: Adoption
    live: LiveErrors
    drainer: Drainer
    delivering: Delivering

    def close(self, timeout: float, *, deliver: bool) -> bool:
        """End it all, see `Closing.close`."""
        return self.delivering.closing.close(timeout, deliver=deliver)


def begin(
    *,
    store: Store,
    manager: Manager,
    clock: Clock,
    limits: DeliveryLimits,
    records: Records,
    judge: Callable[[Task, Evidence], Failure],
    metrics: Metrics | None = None,
    courier: Courier | None = None,
) -> Process:
    """Return the parts for this process."""
    me = host.this_process()
    records = replace(records, observer=f"{me.host}:{me.pid}")
    delivering = begin_delivering(
        store,
        manager,
        clock=clock,
        limits=limits,
        random=records.random,
        metrics=metrics,
        courier=courier,
    )
    adoption = Adoption(records, me, host.owner_fate, judge)
    return Process(me, records, adoption, delivering.live, delivering.drainer, delivering)


def begin_delivering(
    store: Store,
    manager: Manager,
    *,
    clock: Clock,
    limits: DeliveryLimits,
    random: Callable[[], float],
    metrics: Metrics | None,
    courier: Courier | None = None,
) -> Delivering:
    """Return what delivers in this process; no thread begins before there is something to do."""
    me = host.this_process()
    owner = f"{json.dumps(me.to_dict())}#{uuid4().hex}"
    live = LiveErrors()
    notices = Notices(manager, clock)
    counts = Counts(store, me.host, clock, metrics)
    manager.count_calls(counts.called)
    means = Means(
        outbox=store,
        handover=manager,
        clock=clock,
        limits=limits,
        random=random,
        attach=live.attach,
        buried=notices,
        gone=is_gone,
        owner=owner,
        tally=counts,
        outage=Outage(),
        courier=courier,
    )
    drainer = Drainer(means, [notices.duty])
    closing = Closing(store, manager, drainer, counts, clock=clock, owner=owner)
    delivering = Delivering(live, counts, drainer, closing)
    finalize(delivering, drainer.retire).atexit = False
    return delivering


def is_gone(owner: str) -> bool:
    """Return whether the process that took a lease under this name is known to be gone."""
    try:
        return host.owner_fate(Owner.from_dict(json.loads(owner.partition("#")[0]))) in (
            "process_gone",
            "rebooted",
        )
    except (TypeError, ValueError):  # not a name of this version's; its lease will expire
        return False
