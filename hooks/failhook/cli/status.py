"""Show what is on hold, what runs, what was not delivered yet, and what never will be.

It only looks at the store; nothing is changed, and no plugin is loaded. Whether any of it is amiss,
`failhook doctor` judges.

  failhook status --store /srv/failhook.db
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from failhook.cli.amounts import counted
from failhook.cli.arguments import add_config, add_json, add_store
from failhook.cli.known_store import Known, known_store, same_store
from failhook.cli.refusals import resolve_command
from failhook.cli.survey import Granted, Survey, survey
from failhook.cli.terminal import one_line
from failhook.cli.times import ago
from failhook.clock import to_rfc3339
from failhook.gate.ledger import Attempt
from failhook.groups import DroppedEvents
from failhook.outbox.port import Waiting

_MOST: Final = 20
"""Tasks that are listed by name; the others are counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the store."""
    add_config(parser)
    add_store(parser)
    add_json(parser, "it")


def run(arguments: argparse.Namespace) -> int:
    """Look and print."""
    with known_store(arguments) as known:
        found = survey(known.store)
    if arguments.json:
        print(json.dumps(_document(known, found), indent=2))
    else:
        print("\n".join(_lines(known, found, arguments)))
    return 0


def _lines(known: Known, found: Survey, arguments: argparse.Namespace) -> list[str]:
    now, options = known.now, same_store(arguments)
    held = [_held(each, arguments) for each in found.held[:_MOST]]
    groups = [
        ("On hold", [line for pair in held for line in pair], found.held),
        (
            "Running, or lost with its supervisor",
            [_running(each, now) for each in found.running[:_MOST]],
            found.running,
        ),
        (
            "Granted another attempt, which has not begun",
            [_granted(each, now) for each in found.granted[:_MOST]],
            found.granted,
        ),
        (
            "Not delivered yet",
            [
                f"plugin {one_line(each.plugin)}  {how_many_wait(each, now)}"
                for each in found.waiting
            ],
            (),
        ),
        (
            f"Given up: failhook dead-letters list{options}",
            [_dead(each) for each in found.dead],
            (),
        ),
        (
            "Dropped, since more than the bounds allow were waiting",
            [dropped_line(each) for each in found.drops],
            (),
        ),
    ]
    lines = [f"store {known.where}"]
    for title, members, whole in groups:
        if members:
            lines += ["", title, *(f"  {member}" for member in members)]
        if len(whole) > _MOST:
            lines.append(f"  and {len(whole) - _MOST:,} more, which --json has")
    return lines if len(lines) > 1 else [*lines, "", "Nothing is on hold, open or undelivered."]


def _held(attempt: Attempt, arguments: argparse.Namespace) -> tuple[str, str]:
    details = attempt.details
    verdict = f": {details.kind} {details.reason}" if details is not None else ""
    return (
        one_line(f"{attempt.task.key}  attempt {attempt.task.attempt}{verdict}"),
        f"  {resolve_command(attempt.task.key, arguments)}",
    )


def _running(attempt: Attempt, now: datetime) -> str:
    owner, since = attempt.owner, attempt.opened_at
    where = f", process {owner.pid} on {owner.host}" if owner is not None else ""
    when = f", for {ago(since, now).removesuffix(' ago')}" if since is not None else ""
    return one_line(f"{attempt.task.key}  attempt {attempt.task.attempt}{where}{when}")


def _granted(granted: Granted, now: datetime) -> str:
    when = f", granted {ago(granted.since, now)}" if granted.since is not None else ""
    return one_line(f"{granted.key}  attempt {granted.attempt}{when}")


def how_many_wait(waiting: Waiting, now: datetime) -> str:
    """Return what waits for a plugin, since when, until when, and why."""
    why = f": {waiting.error}" if waiting.error else ""
    grouped = f", {waiting.grouped:,} of them in groups" if waiting.grouped else ""
    oldest = f", the oldest from {ago(waiting.since, now)}"
    due = _next(waiting, now)
    return one_line(f"{waiting.count:,} waiting{grouped}{oldest}{due}{_ended(waiting)}{why}")


def _ended(waiting: Waiting) -> str:
    """Return how many processes did not outlive the call, where it was no chance."""
    return f", {waiting.deaths} processes ended in a row" if waiting.deaths > 1 else ""


def _next(waiting: Waiting, now: datetime) -> str:
    if waiting.due_at is None:
        return ""
    return f", the next due {ago(waiting.due_at, now)}" if waiting.due_at > now else ", due now"


def _dead(dead: Waiting) -> str:
    return one_line(f"plugin {dead.plugin}  {counted(dead.count, 'event')}, the last: {dead.error}")


def dropped_line(dropped: DroppedEvents) -> str:
    """Return what a plugin will never get."""
    final = f", {dropped.final:,} of them final" if dropped.final else ""
    return one_line(f"plugin {dropped.plugin}  {counted(dropped.events, 'event')}{final}")


def _document(known: Known, found: Survey) -> dict[str, Any]:
    return {
        "store": known.where,
        "held": [
            {
                "task": each.task.key,
                "attempt": each.task.attempt,
                "failure_details": None if each.details is None else each.details.to_dict(),
            }
            for each in found.held
        ],
        "open": [
            {
                "task": each.task.key,
                "attempt": each.task.attempt,
                "owner": None if each.owner is None else each.owner.to_dict(),
                "opened_at": None if each.opened_at is None else to_rfc3339(each.opened_at),
            }
            for each in found.running
        ],
        "granted": [
            {
                "task": each.key,
                "attempt": each.attempt,
                "since": None if each.since is None else to_rfc3339(each.since),
            }
            for each in found.granted
        ],
        "undelivered": _by_plugin(found.waiting),
        "dead_letters": _by_plugin(found.dead),
        "dropped": [
            {"plugin": each.plugin, "events": each.events, "final": each.final}
            for each in found.drops
        ],
    }


def _by_plugin(counts: Sequence[Waiting]) -> list[dict[str, Any]]:
    return [
        {
            "plugin": each.plugin,
            "count": each.count,
            "error": each.error,
            "since": to_rfc3339(each.since),
            "due_at": None if each.due_at is None else to_rfc3339(each.due_at),
            "deaths": each.deaths,
        }
        for each in counts
    ]
