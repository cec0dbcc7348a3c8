"""Rows that change, and the line of their task that goes on with the first one left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from failhook.stores.records import to_json
from failhook.stores.sql.database import Cursor, Database, Values

_PART: Final = 500
"""Rows that one transaction changes, so that nobody waits for long, and few tasks are held."""


def in_parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield rows of which there may be very many, some at a time."""
    for start in range(0, len(ids), _PART):
        yield ids[start : start + _PART]


def hold_rows(database: Database, cursor: Cursor, rows: str) -> tuple[str, str]:
    """Hold the tasks of some rows; return their keys and their events.

    Args:
        database: where.
        cursor: of the transaction.
        rows: ids, as the text of a JSON array; so is what comes back.
    """
    touched = cursor.execute(database.sql["touched"], (rows,)).fetchall()
    keys = {task_key for task_key, _ in touched}
    database.hold(cursor, keys)
    return to_json(list(keys)), to_json([event for _, event in touched])


def remove(database: Database, cursor: Cursor, ids: Sequence[int], query: str) -> int:
    """Delete rows, and the events that no row refers to any more; return how many rows."""
    rows = to_json(list(ids))
    keys, events = hold_rows(database, cursor, rows)
    removed = cursor.execute(database.sql[query], (rows,)).rowcount
    cursor.execute(database.sql["forget_events"], (events,))
    cursor.execute(database.sql["advance"], (keys,))
    return removed


def move(database: Database, cursor: Cursor, ids: Sequence[int], query: str, values: Values) -> int:
    """Change where rows stand; return how many did."""
    rows = to_json(list(ids))
    keys, _ = hold_rows(database, cursor, rows)
    moved = cursor.execute(database.sql[query], (*values, rows)).rowcount
    cursor.execute(database.sql["advance"], (keys,))
    return moved


def revive(database: Database, cursor: Cursor, ids: Sequence[int], due: int) -> int:
    """Let dead rows wait again, one for each event and plugin; return how many.

    An event that was in several groups has a row for each. Its plugin is asked anew where it is to
    wait, so that each row would become as many.
    """
    rows = to_json(list(ids))
    keys, _ = hold_rows(database, cursor, rows)
    cursor.execute(database.sql["merge"], (keys, rows))
    revived = cursor.execute(database.sql["revive"], (due, rows)).rowcount
    cursor.execute(database.sql["advance"], (keys,))
    return revived
