"""Prints what the design promises of speed, each figure beside its counterpart: ``make bench``.

Figures are medians of calls that alternate with their counterpart in one process, so that only the
ratios mean something. Nothing is asserted.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.drain import events_per_second
from tests.benchmarks.hot_path import (
    beside_bad_plugins,
    importing,
    on_sqlite,
    reports,
    verdicts,
)
from tests.benchmarks.measure import table
from tests.benchmarks.postgres import draining, on_postgres
from tests.benchmarks.redaction import worst
from tests.benchmarks.storm import storm
from tests.postgres import programs, running


def main() -> int:
    """Measure and print."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        ratios = [importing(), *reports(), *verdicts(), on_sqlite(path), beside_bad_plugins()]
        ratios.append(worst())
        rate = events_per_second(path / "drain.db")
    drained = None
    if programs() is None:
        print("no PostgreSQL server is installed here: its lines are left out")
    else:
        with running() as server:
            ratios.append(on_postgres(server))
            drained = draining(server)
    print(table(ratios))
    print(f"drain, SQLite, no-op plugin: {rate:,.0f} events/s (at least 5,000)")
    if drained is not None:
        ours, theirs = drained
        print(
            f"drain, PostgreSQL, no-op plugin: {ours:,.0f} events/s "
            f"(a bare claim and delete: {theirs:,.0f})"
        )
    print(storm())
    return 0


if __name__ == "__main__":
    sys.exit(main())
