"""Check the settings: all that is wrong, with file, line, key and what is allowed.

Every plugin is made as a pipeline makes it, and its settings are checked to the end; nothing is
sent. --live then sends one marked test to each plugin, and to each receiver of one that has some,
whatever the routes say, and tells how each answered.

exit codes: 0 all is well; 1 something is wrong, or a test was not taken.

  failhook check --live
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, Final

from failhook.cli.amounts import counted
from failhook.cli.arguments import add_config, add_json, seconds
from failhook.cli.check.live import Tried, try_all
from failhook.cli.check.plugins import make_plugins
from failhook.cli.check.problem import Problem, problem_of
from failhook.cli.terminal import folded
from failhook.config.problems import find_problems

SECONDS: Final = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the settings, and whether to send."""
    parser.add_argument("--live", action="store_true", help="send marked tests, too")
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=seconds,
        default=SECONDS,
        help=f"how long the tests may take; {SECONDS:.0f}s unless given",
    )
    add_config(parser)
    add_json(parser, "what was found")


def run(arguments: argparse.Namespace) -> int:
    """Look, and print what is wrong."""
    config, errors = find_problems(arguments.config, os.environ)
    path = None if config is None else config.path
    problems = [problem_of(error, path) for error in errors]
    names: list[str] = []
    tried: list[Tried] = []
    if config is not None:
        made = make_plugins(config)
        names = sorted(made.manager.names())
        problems += [problem_of(error, path) for error in made.problems]
        if arguments.live and not problems:
            tried = try_all(config, made, arguments.timeout)
        made.close()
    problems.sort(key=lambda each: (each.line is None, each.line or 0))
    document: dict[str, Any] = {
        "file": None if path is None else str(path),
        "problems": [each.to_dict() for each in problems],
        "plugins": names,
    }
    if arguments.live:
        document["live"] = [each.to_dict() for each in tried]
    lines = [each.text for each in problems]
    where = "the settings" if path is None else str(path)
    if problems:
        lines.append(f"{counted(len(problems), 'problem')} in {where}")
    else:
        lines.append(f"{where}: no problem; plugins: {', '.join(names) or 'none'}")
    if arguments.live and problems:
        lines.append("nothing was sent: put that right first")
    lines += [each.text for each in tried]
    if arguments.json:
        print(json.dumps(document, indent=2))
    else:
        print("\n".join(folded("\n".join(lines))))
    return 1 if problems or any(each.error for each in tried) else 0


__all__ = ["Problem", "add_arguments", "run"]
