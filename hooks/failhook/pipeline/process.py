"""What belongs to one process alone: who it is, its threads, the exceptions that live in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import uuid4

from failhook import host
from failhook.clock import Clock
from failhook.evidence import Evidence
from failhook.gate.ledger import Owner
from failhook.manager import Manager
from failhook.outbox.drainer import Drainer
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Store
from failhook.pipeline.adoption import Adoption
from failhook.pipeline.live import LiveErrors
from failhook.pipeline.notices import Notices
from failhook.pipeline.records import Failure, Records
from failhook.task import Task


@dataclass(frozen=True, slots=True)
class Process:
    """The parts of a pipeline that a fork must not share.

    Attributes:
        me: this process.
        records: writes the ledger in its name.
        adoption: judges starts.
        live: the exceptions that were raised here.
        drainer: delivers, in threads of this process.
    """

    me: Owner
    records: Records
    adoption: Adoption
    live: LiveErrors
    drainer: Drainer


def begin(
    *,
    store: Store,
    manager: Manager,
    clock: Clock,
    limits: DeliveryLimits,
    records: Records,
    judge: Callable[[Task, Evidence], Failure],
) -> Process:
    """Return the parts for this process."""
    me = host.this_process()
    records = replace(records, observer=f"{me.host}:{me.pid}")
    live = LiveErrors()
    drainer = Drainer(
        store,
        manager,
        clock,
        attach=live.attach,
        limits=limits,
        random=records.random,
        buried=Notices(manager),
        gone=_is_gone,
        owner=f"{json.dumps(me.to_dict())}#{uuid4().hex}",
    )
    return Process(me, records, Adoption(records, me, host.owner_fate, judge), live, drainer)


def _is_gone(owner: str) -> bool:
    """Return whether the process that took a lease under this name is known to be gone."""
    try:
        return host.owner_fate(Owner.from_dict(json.loads(owner.partition("#")[0]))) in (
            "process_gone",
            "rebooted",
        )
    except (TypeError, ValueError):  # not a name of this version's; its lease will expire
        return False
