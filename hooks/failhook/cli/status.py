"""Show what is on hold, what runs, what was not delivered yet, and what never will be.

It only looks at the store; nothing is changed, and no plugin is loaded.

  failhook status --store /srv/failhook.db
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from failhook.cli.arguments import add_config, add_json, add_store
from failhook.cli.refusals import resolve_command
from failhook.cli.settings import settings_of_a_known_store
from failhook.clock import to_rfc3339
from failhook.gate.ledger import Attempt
from failhook.outbox.port import DeadLetter, Waiting
from failhook.stores import open_store


@dataclass(frozen=True, slots=True)
class Status:
    """What a store holds that somebody may have to act on.

    Attributes:
        store: where it is.
        held: the last attempt of each task that is on hold.
        running: the attempts that nobody has closed.
        waiting: what is not delivered yet, per plugin.
        dead: what a plugin could not take for good.
    """

    store: str
    held: Sequence[Attempt]
    running: Sequence[Attempt]
    waiting: Sequence[Waiting]
    dead: Sequence[DeadLetter]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the store."""
    add_config(parser)
    add_store(parser)
    add_json(parser, "it")


def run(arguments: argparse.Namespace) -> int:
    """Look and print."""
    status = look(settings_of_a_known_store(arguments).store or "")
    if arguments.json:
        print(json.dumps(_document(status), indent=2))
    else:
        print("\n".join(_lines(status, arguments)))
    return 0


def look(where: str) -> Status:
    """Read a store.

    Raises:
        StoreError: it cannot be read.
    """
    store = open_store(where)
    try:
        with store.transaction() as ledger:
            held = [ledger.attempts(account.key)[-1:] for account in ledger.held_accounts()]
            running = ledger.open_attempts()
        return Status(
            store=where,
            held=[attempt for last in held for attempt in last],
            running=running,
            waiting=store.waiting(),
            dead=store.dead_letters(),
        )
    finally:
        store.close()


def _lines(status: Status, arguments: argparse.Namespace) -> list[str]:
    groups = [
        ("On hold", [line for each in status.held for line in _held(each, arguments)]),
        ("Running, or lost with its supervisor", [_running(each) for each in status.running]),
        ("Not delivered yet", [_waiting(each) for each in status.waiting]),
        ("Dead letters: these were given up", [_dead(each) for each in status.dead]),
    ]
    lines = [f"store {status.store}"]
    for title, members in groups:
        if members:
            lines += ["", title, *(f"  {member}" for member in members)]
    return lines if len(lines) > 1 else [*lines, "", "Nothing is on hold, open or undelivered."]


def _held(attempt: Attempt, arguments: argparse.Namespace) -> list[str]:
    details = attempt.details
    verdict = f": {details.kind} {details.reason}" if details is not None else ""
    return [
        f"{attempt.task.key}  attempt {attempt.task.attempt}{verdict}",
        f"  {resolve_command(attempt.task.key, arguments)}",
    ]


def _running(attempt: Attempt) -> str:
    owner, since = attempt.owner, attempt.opened_at
    where = f", process {owner.pid} on {owner.host}" if owner is not None else ""
    when = f", since {to_rfc3339(since)}" if since is not None else ""
    return f"{attempt.task.key}  attempt {attempt.task.attempt}{where}{when}"


def _waiting(waiting: Waiting) -> str:
    why = f": {waiting.error}" if waiting.error else ""
    return f"plugin {waiting.plugin}  {waiting.count} waiting{why}"


def _dead(letter: DeadLetter) -> str:
    of = f"{letter.event.type} of {letter.event.task.attempt_key}"
    tries = "1 try" if letter.tries == 1 else f"{letter.tries} tries"
    return f"plugin {letter.plugin}  {of}, after {tries}: {letter.error}"


def _document(status: Status) -> dict[str, Any]:
    return {
        "store": status.store,
        "held": [
            {
                "task": each.task.key,
                "attempt": each.task.attempt,
                "failure_details": None if each.details is None else each.details.to_dict(),
            }
            for each in status.held
        ],
        "open": [
            {
                "task": each.task.key,
                "attempt": each.task.attempt,
                "owner": None if each.owner is None else each.owner.to_dict(),
                "opened_at": None if each.opened_at is None else to_rfc3339(each.opened_at),
            }
            for each in status.running
        ],
        "undelivered": [
            {"plugin": each.plugin, "count": each.count, "error": each.error}
            for each in status.waiting
        ],
        "dead_letters": [
            {
                "plugin": each.plugin,
                "event_id": each.event.event_id,
                "task": each.event.task.key,
                "type": each.event.type,
                "tries": each.tries,
                "error": each.error,
                "died_at": to_rfc3339(each.died_at),
            }
            for each in status.dead
        ],
    }
