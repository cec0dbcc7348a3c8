"""Tasks that wait for somebody, and clocks that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from failhook import host
from failhook.cli.amounts import counted
from failhook.cli.doctor.finding import Finding, act, note, ok
from failhook.cli.doctor.look import Look
from failhook.cli.refusals import resolve_command
from failhook.cli.survey import Granted
from failhook.cli.times import ago, duration
from failhook.gate.ledger import Attempt
from failhook.host import Fate
from failhook.outbox.port import Store

_AREA: Final = "tasks"
_NAMED: Final = 5
_TOLERANCE: Final = timedelta(seconds=5)


def task_findings(store: Store, look: Look) -> Iterator[Finding]:
    """Yield what waits for somebody: holds, lost attempts, retries that do not begin."""
    found = look.found
    for attempt in found.held[:_NAMED]:
        key = attempt.task.key
        yield act(_AREA, f"{key} is on hold", resolve_command(key, look.arguments))
    yield from _more(look, found.held, "on hold")
    yield from _running(look)
    stale = _stale(store, look)
    for granted, due in stale[:_NAMED]:
        yield act(
            _AREA,
            f"attempt {granted.attempt} of {granted.key} was granted and has not begun; it was due "
            f"{ago(due, look.now)}",
            "see whether its scheduler lives, and start the task again",
        )
    yield from _more(look, stale, "granted a retry that has not begun")
    if len(found.granted) > len(stale):
        count = counted(len(found.granted) - len(stale), "task")
        yield ok(_AREA, f"{count} between two attempts")
    if not (found.held or found.running or found.granted):
        yield ok(_AREA, "nothing is on hold, open or waiting for a retry")


def clock_findings(look: Look) -> Iterator[Finding]:
    """Yield whether anything in the store is from the future."""
    seen = [(each.host, each.called_at) for each in look.found.calls]
    seen += [
        (each.owner.host, each.opened_at)
        for each in look.found.running
        if each.owner is not None and each.opened_at is not None
    ]
    ahead: dict[str, timedelta] = {}
    for where, moment in seen:
        if moment - look.now > _TOLERANCE:
            ahead[where] = max(moment - look.now, ahead.get(where, _TOLERANCE))
    for where, much in sorted(ahead.items()):
        yield act(
            "clock",
            f"the clock of host {where} is {duration(much.total_seconds())} ahead of this one, or "
            "was when it wrote",
            "see on both hosts whether time is synchronised (NTP)",
        )
    if not ahead:
        yield ok("clock", "nothing in the store is from the future")


def _running(look: Look) -> Iterator[Finding]:
    fates: dict[Fate, list[Attempt]] = {}
    for attempt in look.found.running:
        fate: Fate = "process_gone" if attempt.owner is None else host.owner_fate(attempt.owner)
        fates.setdefault(fate, []).append(attempt)
    gone = [(each, "is gone") for each in fates.get("process_gone", ())]
    gone += [(each, "went with a reboot") for each in fates.get("rebooted", ())]
    for attempt, what in gone[:_NAMED]:
        owner, since = attempt.owner, attempt.opened_at
        who = "its supervisor" if owner is None else f"its supervisor, process {owner.pid},"
        when = "" if since is None else f" (opened {ago(since, look.now)})"
        yield act(
            _AREA,
            f"attempt {attempt.task.attempt} of {attempt.task.key} is open, and {who} {what}{when}",
            "start the task again, or its executor, and the lost attempt is counted first; else "
            f"{resolve_command(attempt.task.key, look.arguments)}",
        )
    yield from _more(look, gone, "open without a supervisor")
    if "alive" in fates:
        yield ok(_AREA, f"{counted(len(fates['alive']), 'attempt')} running here")
    if "elsewhere" in fates:
        count = counted(len(fates["elsewhere"]), "attempt")
        yield note(
            _AREA,
            f"{count} open on other hosts, of which nothing can be said from here",
            f"failhook status{look.options} names them; where the host is gone: failhook resolve",
        )


def _stale(store: Store, look: Look) -> list[tuple[Granted, datetime]]:
    """Return the retries that are due for longer than patience lasts, the oldest first."""
    now, patience = look.now, look.patience
    stale: list[tuple[Granted, datetime]] = []
    for each in look.found.granted:
        if each.since is None or now - each.since <= patience:
            continue
        with store.transaction() as ledger:
            last = ledger.attempts(each.key)[-1:]
        for attempt in last:
            if attempt.closed_at is not None and attempt.decision is not None:
                due = attempt.closed_at + timedelta(seconds=attempt.decision.delay)
                stale += [(each, due)] if now - due > patience else []
    return sorted(stale, key=lambda pair: pair[1])


def _more(look: Look, found: Sequence[object], what: str) -> Iterator[Finding]:
    more = len(found) - _NAMED
    if more > 0:
        yield act(_AREA, f"{more:,} more {what}", f"failhook status --json{look.options}")
