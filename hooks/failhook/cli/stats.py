"""Count failures: what infrastructure ended, how long that had run, what was refunded.

Hours are those of attempts that infrastructure ended, as far as their start was seen. Nodes come
with their share of all deaths by infrastructure, those that kill most first.

  failhook stats --by node --since 7d
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final, get_args

from failhook.cli.amounts import counted
from failhook.cli.arguments import add_config, add_json, add_store, seconds, whole_number
from failhook.cli.known_store import known_store
from failhook.cli.table import Column, table_lines
from failhook.cli.times import duration, second
from failhook.clock import to_rfc3339
from failhook.outbox.reading import Side, Tally

SHOWN: Final = 30
_WEEK: Final = 7 * 86_400.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the side and the time."""
    parser.add_argument(
        "--by", choices=get_args(Side), default="kind", help="what to count by; kind unless given"
    )
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=seconds,
        default=_WEEK,
        help="failures of the last 90m, 12h, 7d; 7d unless given",
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=whole_number,
        default=SHOWN,
        help=f"show N rows at most, 0 for all; {SHOWN} unless given, with --json all",
    )
    add_config(parser)
    add_store(parser)
    add_json(parser, "they are printed")


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    with known_store(arguments) as known:
        since = known.now - timedelta(seconds=arguments.since)
        tallies = known.store.tally(arguments.by, since)
    if arguments.by == "node":
        tallies = sorted(tallies, key=lambda each: (-each.infra, -each.failures, each.value))
    deaths = sum(each.infra for each in tallies)
    if arguments.json:
        rows = [{**asdict(each), "infra_share": _share(each, deaths)} for each in tallies]
        document = {"by": arguments.by, "since": to_rfc3339(since), "rows": rows}
        print(json.dumps(document, indent=2))
        return 0
    print("\n".join(_lines(arguments.by, tallies, since, limit=arguments.limit)))
    return 0


def _lines(by: str, tallies: Sequence[Tally], since: datetime, *, limit: int) -> list[str]:
    when = f"since {second(since)} UTC"
    if not tallies:
        return [f"No attempt failed {when}."]
    deaths = sum(each.infra for each in tallies)
    lost = duration(sum(each.infra_seconds for each in tallies))
    refunds = sum(each.refunds for each in tallies)
    failures = sum(each.failures for each in tallies)
    lines = [
        f"{counted(failures, 'attempt')} failed {when}.",
        f"Infrastructure ended {deaths:,} of them, after {lost} of work; {refunds:,} refunded.",
        "",
    ]
    shown = tallies[:limit] if limit else tallies
    columns = [
        Column(by, [each.value or "(not known)" for each in shown], least=16, middle=True),
        Column("failures", [f"{each.failures:,}" for each in shown], right=True),
        Column("tasks", [f"{each.tasks:,}" for each in shown], right=True),
        Column("by infra", [f"{each.infra:,}" for each in shown], right=True),
        Column("hours", [f"{each.infra_seconds / 3600:,.1f}" for each in shown], right=True),
        Column("refunds", [f"{each.refunds:,}" for each in shown], right=True),
    ]
    if by == "node":
        share = Column("share", [f"{_share(each, deaths):.0%}" for each in shown], right=True)
        columns = [columns[0], columns[3], share, columns[4], columns[1], columns[2], columns[5]]
    lines += table_lines(columns)
    if len(shown) < len(tallies):
        lines += ["", f"{len(shown)} of {len(tallies):,} rows; --limit 0 shows all"]
    return lines


def _share(tally: Tally, deaths: int) -> float:
    return tally.infra / deaths if deaths else 0.0
