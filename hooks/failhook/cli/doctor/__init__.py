"""Look for what needs somebody: settings, store, plugins, delivery, tasks, clock.

Each finding is ok, a note, or something to act on, with what helps. Nothing is changed by it, but
plugins are loaded as any process of failhook loads them, to see whether they can be.

exit codes: 0 nothing needs anybody; 1 something does; 2 it could not look at everything, because
settings or store cannot be read. The findings are printed all the same.

  failhook doctor --store /srv/failhook.db
"""

from __future__ import annotations

import argparse
import json
from typing import Final

from failhook.cli.arguments import add_config, add_json, add_store, seconds
from failhook.cli.doctor.examination import Examination
from failhook.cli.doctor.finding import Level, finding_lines
from failhook.clock import SystemClock

_HOUR: Final = 3600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the settings, the store, and how long is long."""
    parser.add_argument(
        "--patience",
        metavar="TIME",
        type=seconds,
        default=_HOUR,
        help="how long an event may wait, or a retry not begin, before it needs somebody: 15m, 2h; "
        "1h unless given",
    )
    add_config(parser)
    add_store(parser)
    add_json(parser, "the findings")


def run(arguments: argparse.Namespace) -> int:
    """Look everywhere and print what was found."""
    examination = Examination(arguments, SystemClock().now())
    findings = examination.findings()
    acts = sum(each.level is Level.ACT for each in findings)
    if arguments.json:
        document = {
            "needs_somebody": acts > 0,
            "complete": examination.complete,
            "findings": [each.to_dict() for each in findings],
        }
        print(json.dumps(document, indent=2))
    else:
        print("\n".join([*finding_lines(findings), "", _summary(acts)]))
    return 2 if not examination.complete else 1 if acts else 0


def _summary(acts: int) -> str:
    if not acts:
        return "Nothing needs anybody."
    return "One thing needs somebody." if acts == 1 else f"{acts} things need somebody."
