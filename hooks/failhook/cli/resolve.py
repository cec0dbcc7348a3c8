"""Release a task that is on hold.

A task that may not run twice is held when nobody knows whether it has done its work. KEY is the
task as the hold message names it: namespace/workflow/name/run/generation.
"""

from __future__ import annotations

import argparse
import getpass
import json

from failhook.cli.arguments import add_config, add_json, add_store
from failhook.cli.settings import settings
from failhook.pipeline import Pipeline
from failhook.text import clean


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the key and what is to become of the task."""
    parser.add_argument("key", metavar="KEY", help="the task")
    parser.add_argument(
        "resolution",
        choices=("retry", "fail", "succeeded"),
        help="retry: its next attempt may start; fail: it has failed for good; "
        "succeeded: its work was done after all",
    )
    parser.add_argument("--actor", metavar="NAME", help="who says so; you, unless given")
    add_config(parser)
    add_store(parser)
    add_json(parser, "the decision")


def run(arguments: argparse.Namespace) -> int:
    """Resolve it and print the decision."""
    with Pipeline.from_config(settings(arguments)) as pipeline:
        decision = pipeline.resolve(
            clean(arguments.key),
            arguments.resolution,
            actor=clean(arguments.actor or this_user()),
        )
    print(json.dumps(decision.to_dict()) if arguments.json else decision.message)
    return 0


def this_user() -> str:
    """Return who runs this process; "" where the system does not know."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
