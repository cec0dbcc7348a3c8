"""Release a task that is on hold, or close one left open.

A task that may not run twice is held when nobody knows whether it has done its work. KEY is the
task as the hold message and `failhook status` name it: namespace/workflow/name/run/generation; an
attempt's key, with its number at the end, will do.

An attempt stays open when its supervisor has gone without a word and nobody starts the task again.
retry then counts it as lost, and the gate decides whether another one may start. Of what ran on
another host this command can see nothing: make sure that it is over.

  failhook resolve default/billing/charge/2026-03-29/1 succeeded
"""

from __future__ import annotations

import argparse
import getpass
import json
import re
from typing import Final

from failhook.cli.arguments import UsageError, add_config, add_json, add_store, given, run_of
from failhook.cli.settings import settings_of_a_known_store
from failhook.cli.stderr import tell
from failhook.cli.undelivered import close
from failhook.decision import Decision
from failhook.pipeline import Pipeline
from failhook.text import clean

_KEY: Final = re.compile(r"[^/]+/[^/]+/[^/]+/[^/]+/[1-9][0-9]{0,9}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the key and what is to become of the task."""
    parser.add_argument("key", metavar="KEY", help="the task")
    parser.add_argument(
        "resolution",
        choices=("retry", "fail", "succeeded"),
        help="retry: its next attempt may start; fail: it has failed for good; "
        "succeeded: its work was done after all",
    )
    parser.add_argument(
        "--actor", metavar="NAME", type=given, help="who says so; you, unless given"
    )
    add_config(parser)
    add_store(parser)
    add_json(parser, "the decision")


def run(arguments: argparse.Namespace) -> int:
    """Resolve it and say what was done."""
    key = run_of(clean(arguments.key))
    if not _KEY.fullmatch(key):
        raise UsageError(
            f"{key} is no key; one looks like default/nightly/load/r1/1: "
            "namespace/workflow/name/run/generation, as failhook status lists them"
        )
    config = settings_of_a_known_store(arguments)
    actor = clean(arguments.actor or this_user())
    pipeline = Pipeline.from_config(config)
    try:
        decision = pipeline.resolve(key, arguments.resolution, actor=actor)
    finally:
        undelivered = close(pipeline, config.store or "")
    if arguments.json:
        said = {"task": key, "resolution": arguments.resolution, "actor": actor}
        print(json.dumps({**decision.to_dict(), **said}))
    else:
        print(_said(arguments.resolution, actor or "somebody", decision))
    for line in undelivered:
        tell(line)
    return 0


def this_user() -> str:
    """Return who runs this process; "" where the system does not know."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""


def _said(resolution: str, actor: str, decision: Decision) -> str:
    if resolution == "succeeded":
        return f"succeeded: {actor} says that its work was done"
    if resolution == "fail":
        return f"failed: closed by {actor}"
    if not decision.retry:
        return decision.message
    start = f"attempt {decision.attempt + 1} may start"
    return f"retry: {start}, as {actor} says ({decision.after})"
