"""Dead letters, settled: put back into the outbox, or forgotten."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points

from failhook.cli.amounts import counted, listed
from failhook.cli.calls import caller, last_call
from failhook.cli.dead_letters.selection import Selection
from failhook.cli.known_store import Known, same_store
from failhook.cli.terminal import one_line


def replay_letters(known: Known, selection: Selection, arguments: argparse.Namespace) -> None:
    """Put them back, and say who delivers them."""
    done = _settle(selection, lambda ids: known.store.revive(ids, known.now))
    if arguments.json:
        _print_json("replay", done, selection)
        return
    print(_said(done, "put back into the outbox"))
    for plugin in sorted(done):
        print(f"  {_next(known, plugin, arguments)}")


def drop_letters(known: Known, selection: Selection, *, as_json: bool) -> None:
    """Forget them."""
    done = _settle(selection, known.store.drop)
    if as_json:
        _print_json("drop", done, selection)
    else:
        print(_said(done, "forgotten"))


def _settle(selection: Selection, settle: Callable[[Sequence[int]], int]) -> Counter[str]:
    """Return how many were settled, by plugin."""
    done: Counter[str] = Counter()
    for page in selection.pages():
        by_plugin: dict[str, list[int]] = {}
        for letter in page:
            by_plugin.setdefault(letter.plugin, []).append(letter.id)
        for plugin, ids in by_plugin.items():
            done[plugin] += settle(ids)
    return +done


def _said(done: Counter[str], what: str) -> str:
    if not done:
        return f"No dead letter was {what}."
    return f"{counted(done.total(), 'dead letter')} {what}: {listed(done)}"


def _print_json(action: str, done: Counter[str], selection: Selection) -> None:
    said = {"action": action, "done": done.total(), "plugins": dict(done)}
    print(json.dumps({**said, "unknown": selection.unknown}))


def _next(known: Known, plugin: str, arguments: argparse.Namespace) -> str:
    """Say who delivers to a plugin."""
    name = one_line(plugin)
    here = plugin in entry_points(group="failhook").names and plugin not in known.config.blocked
    command = f"failhook deliver --once{same_store(arguments)}"
    call = last_call(each for each in known.store.calls() if each.plugin == plugin)
    if call is not None:
        last = f"the next process that holds {name} delivers; {one_line(caller(call, known.now))}"
        return f"{last}, was the last one" + (f"; at once: {command}" if here else "")
    if here:
        return f"no process is known that holds {name}; to deliver now: {command}"
    return (
        f"no process is known that holds {name}, and no package here offers it; run "
        "failhook deliver where it is installed"
    )
