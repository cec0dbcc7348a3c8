"""What people ask a store, answered from the attempts in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from failhook.decision import Charge
from failhook.details import Kind
from failhook.gate.ledger import Attempt, AttemptState
from failhook.outbox.reading import Side, Tally
from failhook.stores.memory.queue import LONG_AGO
from failhook.stores.tallies import sorted_tallies


def began(attempt: Attempt) -> datetime:
    """Return when an attempt began, or was first heard of."""
    return attempt.opened_at or attempt.closed_at or LONG_AGO


def history_of(attempts: Iterable[Attempt], task: str, limit: int) -> Sequence[Attempt]:
    """Return the newest attempts of one run, of one job, or of a job in any namespace."""
    slashes = task.count("/")
    if slashes == 1:
        found = [each for each in attempts if each.task.job_key.endswith(f"/{task}")]
    elif slashes == 2:
        found = [each for each in attempts if each.task.job_key == task]
    else:
        found = [each for each in attempts if each.task.key == task]
    return sorted(found, key=began)[max(0, len(found) - limit) :]


def failures_of(attempts: Iterable[Attempt], since: datetime, limit: int) -> Sequence[Attempt]:
    """Return the newest attempts that failed since then."""
    failed = [each for each in attempts if each.state is AttemptState.FAILED]
    ended = [(each.closed_at, each) for each in failed if each.closed_at is not None]
    found = sorted((pair for pair in ended if pair[0] >= since), key=lambda pair: pair[0])
    return [each for _, each in found[max(0, len(found) - limit) :]]


def jobs_of(attempts: Iterable[Attempt], limit: int) -> Sequence[str]:
    """Return the jobs of these attempts, those that began last first."""
    newest: dict[str, None] = {}
    for attempt in sorted(attempts, key=began, reverse=True):
        newest.setdefault(attempt.task.job_key)
    return list(newest)[:limit]


def tally_of(attempts: Iterable[Attempt], by: Side, since: datetime) -> Sequence[Tally]:
    """Count the attempts that failed since then."""
    found: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        closed_at = attempt.closed_at
        if attempt.state is AttemptState.FAILED and closed_at is not None and closed_at >= since:
            found.setdefault(_side(attempt, by) or "", []).append(attempt)
    return sorted_tallies(_tally(value, some) for value, some in found.items())


def _side(attempt: Attempt, by: Side) -> str | None:
    if by == "workflow":
        return attempt.task.workflow
    if by == "owner":
        return attempt.task.owner
    details = attempt.details
    if details is None:
        return None
    return {"kind": str(details.kind), "reason": details.reason, "node": details.node}[by]


def _tally(value: str, attempts: Sequence[Attempt]) -> Tally:
    infra = [each for each in attempts if each.details and each.details.kind is Kind.INFRA]
    refunds = [each for each in attempts if each.charge is Charge.INFRA]
    return Tally(
        value=value,
        failures=len(attempts),
        tasks=len({each.task.key for each in attempts}),
        infra=len(infra),
        infra_seconds=sum(map(_seconds, infra)),
        refunds=len(refunds),
    )


def _seconds(attempt: Attempt) -> float:
    if attempt.opened_at is None or attempt.closed_at is None:
        return 0.0
    return max(0.0, (attempt.closed_at - attempt.opened_at).total_seconds())
