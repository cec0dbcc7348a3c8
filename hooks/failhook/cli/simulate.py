"""Send a marked failure on its real way, to the real receivers, and then that it is over.

Pipeline, outbox and plugins are those of the settings; the store is one of its own in memory, so
that no ledger, no statistics and no alert of a real task is touched. The times of groups are not
waited for, and what a plugin refuses is not tried again. It stands as [simulated] in every text.

exit codes: 0 every plugin took it; 1 one did not; 2 it cannot be sent.

  failhook simulate --kind infra --reason NodeLost --label team=data
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Final

from failhook.cli.amounts import counted
from failhook.cli.arguments import add_json, seconds
from failhook.cli.failures import add_failure, evidence_of, task_of
from failhook.cli.settings import with_lines
from failhook.cli.simulation import Told, simulate
from failhook.cli.terminal import folded
from failhook.config import load_config
from failhook.task import new_run_id

SECONDS: Final = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take what failed, and how long it may take."""
    add_failure(parser)
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=seconds,
        default=SECONDS,
        help=f"how long all of it may take; {SECONDS:.0f}s unless given",
    )
    add_json(parser, "what each plugin did")


def run(arguments: argparse.Namespace) -> int:
    """Send it and print what became of it."""
    evidence = evidence_of(arguments)
    config = with_lines(load_config(arguments.config), as_json=arguments.json)
    task = task_of(arguments, config, f"simulated-{new_run_id()}")
    told = simulate(config, task, evidence, arguments.timeout)
    if arguments.json:
        plugins = [each.to_dict() for each in told]
        print(json.dumps({"task": task.key, "plugins": plugins}, indent=2))
    else:
        print("\n".join(folded("\n".join(told_lines(told)))))
    return 1 if any(each.error for each in told) else 0


def told_lines(told: Sequence[Told]) -> list[str]:
    """Return a line for each plugin, and one for each group of a plugin that gathers."""
    width = max((len(each.plugin) for each in told), default=0)
    lines: list[str] = []
    for each in told:
        lines.append(f"{each.plugin:<{width}}  {_what(each)}")
        indent = f"{'':<{width}}    "
        lines += [f"{indent}{key}" for key in each.sent]
        lines += [f"{indent}not {key}: {why}" for key, why in each.refused.items()]
    return lines


def _what(told: Told) -> str:
    if told.refused:
        sent = f"sent to {counted(len(told.sent), 'group')}, " if told.sent else ""
        return f"{sent}could not send to {counted(len(told.refused), 'group')}:"
    if told.error:
        return f"did not take it: {told.error}"
    over = "" if told.closed else "; but not that it is over"
    if told.gathers and not told.sent:
        return "sent nothing; failhook route says why"
    if told.gathers:
        return f"sent to {counted(len(told.sent), 'group')}{over}:"
    return f"took it{over}" if told.hooks else "wants nothing of failures"
