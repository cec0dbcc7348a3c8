"""List, show, replay or drop the events that a plugin could not take for good.

list    shows them in a table, the oldest event first
show    shows whole events, and why each was given up
replay  puts them back: whoever delivers to their plugin tries them again
drop    forgets them for good

show, replay and drop take ids, or --all, which --plugin narrows. Ids that are no dead letters (any
more) are named and make the exit code 1; the others are done all the same.

  failhook dead-letters list --plugin pager
  failhook dead-letters replay 17 18
"""

from __future__ import annotations

import argparse
from typing import Final

from failhook.cli.arguments import UsageError, add_config, add_json, add_store, given, whole_number
from failhook.cli.dead_letters.listing import SHOWN, list_letters, show_letters
from failhook.cli.dead_letters.selection import Selection
from failhook.cli.dead_letters.settling import drop_letters, replay_letters
from failhook.cli.known_store import known_store

_VERBS: Final = {
    "list": "show them in a table",
    "show": "show whole events, and why each was given up",
    "replay": "have them tried again",
    "drop": "forget them for good",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take what to do, and to which."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(_VERBS))
    for verb, what in _VERBS.items():
        each = verbs.add_parser(verb, help=what, description=f"Dead letters: {what}.")
        each.add_argument("--plugin", metavar="NAME", type=given, help="only those of this plugin")
        if verb == "list":
            each.add_argument(
                "--limit",
                metavar="N",
                type=whole_number,
                help=f"show N at most, 0 for all; {SHOWN} unless given, with --json all",
            )
            each.add_argument(
                "--after", metavar="ID", type=whole_number, default=0, help="go on after this one"
            )
        else:
            each.add_argument(
                "ids", metavar="ID", nargs="*", type=whole_number, help="as list shows them"
            )
            each.add_argument("--all", action="store_true", help="all of them")
        add_config(each)
        add_store(each)
        add_json(each, "one object a line" if verb in ("list", "show") else "what was done")


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    verb = arguments.verb
    if verb == "list":
        with known_store(arguments) as known:
            return list_letters(known, arguments)
    if arguments.ids and arguments.all:
        raise UsageError(f"{verb} which? Give ids or --all, not both")
    if not arguments.ids and not arguments.all:
        raise UsageError(
            f"{verb} which? Give ids, as failhook dead-letters list shows them, or --all"
        )
    with known_store(arguments) as known:
        selection = Selection(known.store, arguments.plugin, ids=arguments.ids)
        if verb == "show":
            show_letters(known, selection, as_json=arguments.json)
        elif verb == "replay":
            replay_letters(known, selection, arguments)
        else:
            drop_letters(known, selection, as_json=arguments.json)
    return selection.told()
