"""Let a handful of tasks die for real, and show the verdicts, who pays and what comes next.

It needs no network, no account and no configuration, and leaves nothing behind.

  failhook demo --json
  failhook demo --events FILE
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from failhook.cli.arguments import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take nothing but the form of the output."""
    add_json(parser, "the events")
    parser.add_argument(
        "--events",
        metavar="FILE",
        type=Path,
        help="write the events there too, a line of JSON each",
    )


def run(arguments: argparse.Namespace) -> int:
    """Play the scenes and print what was heard of them."""
    from failhook.cli.demo.scene import play
    from failhook.cli.demo.table import render

    shown = play()
    if arguments.events is not None:
        lines = (json.dumps(event.to_dict()) for event in shown.events)
        arguments.events.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if arguments.json:
        print(json.dumps([event.to_dict() for event in shown.events], indent=2))
    else:
        print(render(shown))
    return 0
