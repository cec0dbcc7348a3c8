"""Rows of the outbox as the tests of the contract put, claim and name them."""

from __future__ import annotations

from datetime import timedelta

from tests.stores.samples import NOW


def put(store, *events, plugins=("log",), now=NOW):
    """Enqueue events in one transaction."""
    with store.transaction() as transaction:
        for event in events:
            transaction.enqueue(event, plugins, now)


def claim(store, plugin="log", *, now=NOW, lease=60, limit=100, owner="me"):
    """Claim with what most tests want."""
    return store.claim(plugin, now=now, lease=lease, limit=limit, owner=owner)


def claim_group(store, plugin="log", *, now=NOW, lease=60, limit=100, owner="me"):
    """Claim a group with what most tests want."""
    return store.claim_group(plugin, now=now, lease=lease, limit=limit, owner=owner)


def retry(store, ids, *, at=NOW, error="down", owner="me"):
    """Give rows back for another try."""
    store.retry(ids, not_before=at, error=error, owner=owner)


def bury(store, ids, *, error="no", now=NOW, owner="me"):
    """Turn rows into dead letters."""
    store.bury(ids, error=error, now=now, owner=owner)


def events(deliveries):
    """The events of a batch."""
    return [delivery.event for delivery in deliveries]


def names(deliveries):
    """The tasks of a batch."""
    return [delivery.event.task.name for delivery in deliveries]


def ids(deliveries):
    """The rows of a batch."""
    return [delivery.id for delivery in deliveries]


def after(seconds):
    """A time so many seconds later."""
    return NOW + timedelta(seconds=seconds)
