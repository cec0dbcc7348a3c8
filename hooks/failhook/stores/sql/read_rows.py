"""Rows of the outbox as the port shows them; one that cannot be read says so."""

from __future__ import annotations

from typing import Any

from failhook.event import FailureEvent
from failhook.outbox.port import Delivery
from failhook.stores.records import read_event
from failhook.text import clean, cut

_LINE = 300


def delivery(plugin: str, row: Any) -> Delivery:
    """Read a row of ``due`` or ``group_rows``: id, tries, event id, body."""
    identity, tries, event_id, body = row
    event, unreadable = readable(body)
    return Delivery(identity, plugin, event, tries, event_id or "", unreadable)


def readable(body: str | bytes | None) -> tuple[FailureEvent | None, str]:
    """Return the event that a body holds, or None and why there is none, in one line."""
    if body is None:
        return None, "its event is no longer in the store"
    try:
        return read_event(body), ""
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one row blocks no other
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return None, f"its event cannot be read: {cut(clean(why), _LINE)}"
