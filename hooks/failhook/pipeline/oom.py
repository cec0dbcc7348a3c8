"""How far the host's OOM counter moved while an attempt ran, to judge a SIGKILL by."""

from __future__ import annotations

from dataclasses import replace

from failhook import host
from failhook.evidence import Evidence
from failhook.gate.ledger import Owner
from failhook.outbox.port import Store
from failhook.outbox.within import within
from failhook.task import Task


def with_oom(store: Store, me: Owner, task: Task, evidence: Evidence) -> Evidence:
    """Add it to the evidence, where it was read at the start and on this boot of this host.

    Raises:
        StoreError: the store cannot be read.
    """
    facts = evidence.facts
    if "oom_host" in facts or "oom_own" in facts:
        return evidence
    now = host.oom_kills()
    if now is None:
        return evidence
    attempt = within(store, lambda ledger: ledger.attempt(task.attempt_key))
    owner = None if attempt is None else attempt.owner
    before = None if attempt is None else attempt.oom_host
    if before is None or owner is None or (owner.host, owner.boot_id) != (me.host, me.boot_id):
        return evidence
    return replace(evidence, facts={**facts, "oom_host": now - before})
