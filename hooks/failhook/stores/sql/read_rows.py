"""Rows as the ports show them; one that cannot be read says so."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from failhook.errors import StoreError
from failhook.event import FailureEvent
from failhook.outbox.port import Delivery
from failhook.stores.records import read_event
from failhook.text import clean, cut

_LINE = 300


def delivery(plugin: str, row: Any) -> Delivery:
    """Read a row of ``due``: id, tries, event id, body, deaths, failures; or of ``group_rows``."""
    identity, tries, event_id, body, *counts = row
    event, unreadable = readable(body)
    return Delivery(identity, plugin, event, tries, event_id or "", unreadable, *counts)


def together(rows: list[Any]) -> list[Any]:
    """Return those of the rows of ``due`` that may be claimed at once: one with deaths is alone."""
    if rows and rows[0][4]:
        return rows[:1]
    return list(takewhile(lambda row: not row[4], rows))


def readable(body: str | bytes | None) -> tuple[FailureEvent | None, str]:
    """Return the event that a body holds, or None and why there is none, in one line."""
    if body is None:
        return None, "its event is no longer in the store"
    try:
        return read_event(body), ""
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one row blocks no other
        return None, f"its event cannot be read: {_line(error)}"


def unreadable(where: str, key: str, error: Exception) -> StoreError:
    """Return the error for a row of the ledger that cannot be read.

    Args:
        where: the store.
        key: the task, or what is known of it.
        error: what came of reading it.
    """
    whose = cut(clean(key), _LINE)
    return StoreError(
        f"store {where}: what it knows of {whose} cannot be read ({_line(error)}); it is damaged: "
        "move it away and restore a copy, or begin anew"
    )


def _line(error: Exception) -> str:
    return cut(clean(" ".join(f"{type(error).__name__}: {error}".split())), _LINE)
