"""Show every attempt of a task, or what failed lately.

Each with its verdict: when, how long, what ended it, who paid, what came next.

TASK is a task's key, which means one run; its job key, all runs; workflow/name, all runs in every
namespace; or the name alone, where only one job has it. Times are UTC. An asterisk stands beside a
verdict that was amended: better evidence came after the decision, which stood.

  failhook history --since 12h
  failhook history nightly/load
  failhook history default/nightly/load/2026-03-29/1 --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import partial
from typing import Any, Final

from failhook.cli.amounts import counted
from failhook.cli.arguments import (
    UsageError,
    add_config,
    add_json,
    add_store,
    given,
    run_of,
    seconds,
    whole_number,
)
from failhook.cli.known_store import Known, known_store
from failhook.cli.table import Column, table_lines
from failhook.cli.terminal import folded, one_line
from failhook.cli.times import duration, second
from failhook.clock import to_rfc3339
from failhook.decision import Charge, Counters, Decision
from failhook.gate.ledger import Attempt, AttemptState
from failhook.outbox.port import Store
from failhook.outbox.within import within
from failhook.text import clean

SHOWN: Final = 50
_ALL: Final = 1_000_000
_A_DAY: Final = 86_400.0
_A_YEAR: Final = timedelta(days=330)
"""What is younger is told without its year."""
_AMENDED: Final = "* amended: better evidence came after the decision; who pays is as it stands now"
_LOOKED_AT: Final = 10_000
"""Tasks that are looked through for one that is spelt like the one that was asked for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the task."""
    parser.add_argument(
        "task",
        metavar="TASK",
        type=given,
        nargs="?",
        help="its key, or workflow/name; all that failed lately, unless given",
    )
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=seconds,
        help="without TASK: what failed in the last 90m, 12h, 7d; 1d unless given",
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=whole_number,
        default=SHOWN,
        help=f"the newest N attempts, 0 for all; {SHOWN} unless given",
    )
    add_config(parser)
    add_store(parser)
    add_json(parser, "they are printed")


def run(arguments: argparse.Namespace) -> int:
    """Print the attempts, oldest first."""
    limit = arguments.limit or _ALL
    if arguments.task is None:
        return _lately(arguments, limit)
    if arguments.since is not None:
        raise UsageError("--since is for what failed lately, without TASK; --limit is for a task")
    task = run_of(clean(arguments.task))
    with known_store(arguments) as known:
        attempts = known.store.history(_job_named(known.store, task), limit=limit + 1)
        if not attempts:
            raise UsageError(_unknown(known, task))
        used = _used(known.store, attempts)
    more, attempts = len(attempts) > limit, attempts[-limit:]
    if arguments.json:
        budgets = None if used is None else used.to_dict()
        shown = [_document(each) for each in attempts]
        document = {"task": task, "more": more, "budgets": budgets, "attempts": shown}
        print(json.dumps(document, indent=2))
    else:
        print("\n".join(_lines(attempts, used, known.now, more=more)))
    return 0


def _lately(arguments: argparse.Namespace, limit: int) -> int:
    with known_store(arguments) as known:
        since = known.now - timedelta(seconds=arguments.since or _A_DAY)
        attempts = known.store.failures(since, limit=limit + 1)
    more, attempts = len(attempts) > limit, attempts[-limit:]
    if arguments.json:
        shown = [_document(each) for each in attempts]
        document = {"since": to_rfc3339(since), "more": more, "attempts": shown}
        print(json.dumps(document, indent=2))
        return 0
    when = f"since {second(since)} UTC"
    if not attempts:
        print(f"No attempt failed {when}.")
        return 0
    count = f"the newest {len(attempts)} attempts" if more else counted(len(attempts), "attempt")
    lines = table_lines(
        [
            Column("task", [each.task.key for each in attempts], least=24, middle=True),
            Column("#", [str(each.task.attempt) for each in attempts], right=True),
            Column("ended (UTC)", [_moment(each.closed_at, year=False) for each in attempts]),
            Column("verdict", [_verdict(each) for each in attempts], least=20),
            Column("then", [_then(each.decision) for each in attempts]),
            Column("node", [_node(each) for each in attempts], extra=True),
            Column("pays", [_pays(each) for each in attempts], extra=True),
            Column("error", [each.error_line for each in attempts], extra=True),
        ]
    )
    print(f"Failed {when}: {count}", "", *lines, *_notes(attempts, more=more), sep="\n")
    return 0


def _lines(
    attempts: Sequence[Attempt], used: Counters | None, now: datetime, *, more: bool
) -> list[str]:
    title, runs = _runs(attempts)
    count = f"the newest {len(attempts)} attempts" if more else counted(len(attempts), "attempt")
    old = any(each.opened_at and now - each.opened_at > _A_YEAR for each in attempts)
    moment = partial(_moment, year=old)
    budgets = "" if used is None else f", {used}"
    lines = [*folded(f"{one_line(title)}: {count}{budgets}"), ""]
    lines += table_lines(
        [
            Column("run", runs, least=12, middle=True),
            Column("#", [str(each.task.attempt) for each in attempts], right=True),
            Column("started (UTC)", [moment(each.opened_at) for each in attempts]),
            Column("ended (UTC)", [moment(each.closed_at) for each in attempts], extra=True),
            Column("took", [_took(each, now) for each in attempts], right=True),
            Column("verdict", [_verdict(each) for each in attempts], least=20),
            Column("pays", [_pays(each) for each in attempts]),
            Column("then", [_then(each.decision) for each in attempts]),
            Column("node", [_node(each) for each in attempts], least=8),
            Column("error", [each.error_line for each in attempts], extra=True),
        ]
    )
    return [*lines, *_notes(attempts, more=more)]


def _notes(attempts: Sequence[Attempt], *, more: bool) -> list[str]:
    lines = ["", _AMENDED] if any(each.revision for each in attempts) else []
    return [*lines, "", "Older attempts are left out; --limit 0 shows all."] if more else lines


def _runs(attempts: Sequence[Attempt]) -> tuple[str, Sequence[str]]:
    """Return what all attempts have in common, and what is each one's own."""
    tasks = [each.task for each in attempts]
    first = tasks[0]
    if all(task.key == first.key for task in tasks):
        return first.key, [""] * len(tasks)
    if all(task.job_key == first.job_key for task in tasks):
        return first.job_key, [task.key.removeprefix(f"{first.job_key}/") for task in tasks]
    return f"{first.workflow}/{first.name}", [task.key for task in tasks]


def _used(store: Store, attempts: Sequence[Attempt]) -> Counters | None:
    """Return what the one run that these are attempts of has used of its budgets by now."""
    keys = {each.task.key for each in attempts}
    decisions = [each.decision for each in attempts if each.decision is not None]
    if len(keys) > 1 or not decisions:
        return None
    account = within(store, lambda ledger: ledger.account(*keys))
    if account is None:
        return None
    spent = {"user": account.user, "infra": account.infra, "system": account.system}
    return decisions[-1].after._replace(**spent)


def _moment(moment: datetime | None, *, year: bool) -> str:
    return "" if moment is None else second(moment, year=year)


def _seconds(attempt: Attempt) -> float | None:
    if attempt.opened_at is None or attempt.closed_at is None:
        return None
    return max(0.0, (attempt.closed_at - attempt.opened_at).total_seconds())


def _took(attempt: Attempt, now: datetime) -> str:
    seconds = _seconds(attempt)
    if seconds is not None:
        return duration(seconds)
    if attempt.state is AttemptState.OPEN and attempt.opened_at is not None:
        return duration((now - attempt.opened_at).total_seconds())
    return ""


def _verdict(attempt: Attempt) -> str:
    if attempt.state is AttemptState.OPEN:
        return "running, or lost"
    if attempt.state is AttemptState.SUCCEEDED:
        return "succeeded, suspect" if attempt.suspect else "succeeded"
    details = attempt.details
    said = "failed" if details is None else f"{details.kind} {details.reason}"
    return f"{said} *" if attempt.revision else said


def _pays(attempt: Attempt) -> str:
    decision = attempt.decision
    if decision is None:
        return ""
    if attempt.moved_to is not None:
        return f"{attempt.moved_to} *"
    after = decision.after
    paid = {
        Charge.USER: (after.user, after.user_limit),
        Charge.INFRA: (after.infra, after.infra_limit),
        Charge.SYSTEM: (after.system, after.system_limit),
    }.get(decision.charge)
    return "nobody" if paid is None else f"{decision.charge} {paid[0]}/{paid[1]}"


def _then(decision: Decision | None) -> str:
    return "" if decision is None else decision.action.value


def _node(attempt: Attempt) -> str:
    details = attempt.details
    return (details.node if details is not None else None) or ""


def _document(attempt: Attempt) -> dict[str, Any]:
    return {
        "task": attempt.task.key,
        "attempt": attempt.task.attempt,
        "state": attempt.state.value,
        "started_at": None if attempt.opened_at is None else to_rfc3339(attempt.opened_at),
        "ended_at": None if attempt.closed_at is None else to_rfc3339(attempt.closed_at),
        "seconds": _seconds(attempt),
        "failure_details": None if attempt.details is None else attempt.details.to_dict(),
        "decision": None if attempt.decision is None else attempt.decision.to_dict(),
        "charge": attempt.charge,
        "amended": attempt.revision > 0,
        "suspect": attempt.suspect,
        "error": attempt.error_line,
        "owner": None if attempt.owner is None else attempt.owner.to_dict(),
    }


def _unknown(known: Known, task: str) -> str:
    """Say that there is no such task, and which ones are spelt like it."""
    alike = near(known.store, task)
    guess = (
        f"did you mean {' or '.join(alike)}?" if alike else "a task is workflow/name, or its key"
    )
    return f"{task}: nothing is known of such a task in {known.where}; {guess}"


def _job_named(store: Store, task: str) -> str:
    """Return the key of the only job with that name; the task as it is where that is not one."""
    if "/" in task:
        return task
    named = [job for job in store.jobs(limit=_LOOKED_AT) if job.rpartition("/")[2] == task]
    return named[0] if len(named) == 1 else task


def near(store: Store, task: str) -> list[str]:
    """Return up to three tasks whose names are spelt like one that is not known."""
    names: dict[str, str] = {}
    for job in store.jobs(limit=_LOOKED_AT):
        _, workflow, name = job.split("/", 2)
        names.update({job: job, f"{workflow}/{name}": f"{workflow}/{name}", name: job})
    found = get_close_matches(task, names, n=3, cutoff=0.7)
    return list(dict.fromkeys(names[each] for each in found))
