"""What is wrong with the database or its server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from failhook.stores.postgres.cursor import Cursor
from failhook.stores.postgres.schema import in_schema
from failhook.stores.records import to_micros
from failhook.stores.sql.database import Health

_MOST_APART: Final = 5.0
"""Seconds; clocks that are further apart differ."""

_QUESTION: Final = """
SELECT (SELECT schema FROM {schema}.version),
    (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_catalog.pg_class
        WHERE relkind = 'r' AND relnamespace = to_regnamespace('{schema}')),
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    CASE WHEN pg_is_in_recovery() THEN 'yes' ELSE 'no' END,
    current_setting('autovacuum')
"""


def examined(cursor: Cursor, schema: str, now: datetime) -> Health:
    """Ask the server how it and the schema fare.

    Args:
        cursor: where.
        schema: whose tables are ours.
        now: this machine's time, UTC.
    """
    version, size, theirs, *state = cursor.execute(in_schema(_QUESTION, schema)).fetchone()
    apart = (theirs - to_micros(now)) / 1_000_000
    return Health(version, size, list(_problems(apart, *state)))


def _problems(apart: float, recovering: str, autovacuum: str) -> Iterator[str]:
    if abs(apart) > _MOST_APART:
        yield (
            f"the server's clock is {abs(apart):,.0f} s {'ahead of' if apart > 0 else 'behind'} "
            "this machine's; leases and times depend on it: set the clocks right (NTP)"
        )
    if recovering == "yes":
        yield "the server is a standby now, which is read-only; name the primary"
    if autovacuum == "off":
        yield "the server's autovacuum is off, so the outbox only grows; switch it on"
