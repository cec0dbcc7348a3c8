"""Dead letters, settled: put back into the outbox, or forgotten."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from failhook.cli.amounts import counted, listed
from failhook.cli.calls import caller, last_call
from failhook.cli.dead_letters.selection import Selection
from failhook.cli.held_here import held_here
from failhook.cli.known_store import Known, same_store
from failhook.cli.stderr import on_terminal, tell
from failhook.cli.terminal import one_line

_EVERY: Final = 3.0
"""Seconds between two lines that tell how far it is."""


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
    """Return how many were settled, by plugin; on a terminal it is told how far it is."""
    done: Counter[str] = Counter()
    told = time.monotonic()
    for page in selection.pages():
        by_plugin: dict[str, list[int]] = {}
        for letter in page:
            by_plugin.setdefault(letter.plugin, []).append(letter.id)
        for plugin, ids in by_plugin.items():
            done[plugin] += settle(ids)
        if time.monotonic() - told > _EVERY and on_terminal():
            told = time.monotonic()
            tell(f"{counted(done.total(), 'dead letter')} so far")
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
    calls = [each for each in known.store.calls() if each.plugin == plugin]
    call, here = last_call(calls), plugin in held_here(known.config)
    last = f"; {caller(call, known.now)}" if call is not None else ""
    said = f"whoever holds {plugin} delivers them{last}"
    way_out = (
        f"; at once: failhook deliver --once{same_store(arguments)}"
        if here
        else f"; {plugin} is not installed and configured here"
    )
    return one_line(said) + one_line(way_out)
