"""Dead letters, shown: a table of many, or the whole of some."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from failhook.cli.amounts import counted, listed
from failhook.cli.dead_letters.selection import Selection
from failhook.cli.known_store import Known
from failhook.cli.outline import outline
from failhook.cli.table import Column, table_lines
from failhook.cli.times import ago, second
from failhook.clock import to_rfc3339
from failhook.outbox.port import DeadLetter

SHOWN: Final = 100
"""Rows of a table, unless more are asked for."""


def list_letters(known: Known, arguments: argparse.Namespace) -> int:
    """Print a table, or one object a line."""
    default = None if arguments.json else SHOWN
    limit = default if arguments.limit is None else arguments.limit or None
    selection = Selection(known.store, arguments.plugin, after=arguments.after, limit=limit)
    if arguments.json:
        for page in selection.pages():
            for letter in page:
                print(json.dumps(_row(letter)))
        return selection.told()
    counts = {
        each.plugin: each.count
        for each in known.store.given_up()
        if arguments.plugin in (None, each.plugin)
    }
    total = sum(counts.values())
    if not total:
        whose = f" of plugin {arguments.plugin}" if arguments.plugin else ""
        print(f"There are no dead letters{whose} in {known.where}.")
        return selection.told()
    rows = [
        (*_cells(letter), ago(letter.died_at, known.now))
        for page in selection.pages()
        for letter in page
    ]
    print(f"{counted(total, 'dead letter')} in {known.where}: {listed(counts)}")
    if rows:
        print("", *_table(rows), sep="\n")
    if len(rows) < total and limit is not None and len(rows) == limit:
        print(f"\n{limit} shown; --after {rows[-1][0]} goes on, --limit 0 shows all")
    return selection.told()


def show_letters(known: Known, selection: Selection, *, as_json: bool) -> None:
    """Print each with its whole event."""
    between = False
    for page in selection.pages():
        for letter in page:
            event = None if letter.event is None else letter.event.to_dict()
            if as_json:
                print(json.dumps({**_row(letter), "event": event}))
                continue
            head: dict[str, Any] = {
                "plugin": letter.plugin,
                "why": letter.error,
                "tries": letter.tries,
                "given up": f"{second(letter.died_at)} UTC, {ago(letter.died_at, known.now)}",
            }
            body = event or {
                "event_id": letter.event_id,
                "task": letter.task_key,
                "": "It cannot be read by this version, or is damaged.",
            }
            lines = [f"dead letter {letter.id}", *outline(head, 1), "event", *outline(body, 1)]
            print(*([""] if between else []), *lines, sep="\n")
            between = True


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    ids, plugins, types, tasks, tries, reasons, ages = zip(*rows, strict=True)
    return table_lines(
        [
            Column("id", ids, right=True),
            Column("plugin", plugins, least=8),
            Column("given up", ages),
            Column("tries", tries, right=True, extra=True),
            Column("event", types, extra=True),
            Column("task and attempt", tasks, least=24, middle=True),
            Column("why", reasons, least=20),
        ]
    )


def _cells(letter: DeadLetter) -> tuple[str, ...]:
    event = letter.event
    kind, task = ("unreadable", letter.task_key)
    if event is not None:
        kind, task = event.type.value, event.task.attempt_key
    return str(letter.id), letter.plugin, kind, task, str(letter.tries), letter.error


def _row(letter: DeadLetter) -> dict[str, Any]:
    event = letter.event
    return {
        "id": letter.id,
        "plugin": letter.plugin,
        "event_id": letter.event_id,
        "task": letter.task_key,
        "attempt": None if event is None else event.task.attempt,
        "type": None if event is None else event.type.value,
        "tries": letter.tries,
        "error": letter.error,
        "died_at": to_rfc3339(letter.died_at),
    }
