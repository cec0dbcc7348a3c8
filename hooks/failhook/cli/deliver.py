"""Deliver what a store holds, beside the processes that report; as many at once as you like.

It holds the plugins of the settings and goes on until SIGTERM or SIGINT: then it ends the calls
under way, and a second signal ends it at once. With --once it ends when everything that was due
has been tried once.

exit codes: 0 it was told to end, or with --once everything went out; 1 with --once: something
stays, and standard error says what and why; 2 it cannot deliver.

  failhook deliver --once --store /srv/failhook.db
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from types import FrameType
from typing import Any, Final

from failhook.cli.amounts import counted, listed
from failhook.cli.arguments import UsageError, add_config, add_json, add_store, seconds
from failhook.cli.settings import settings
from failhook.cli.stderr import on_terminal, tell
from failhook.cli.undelivered import waiting_line
from failhook.clock import Clock, SystemClock, to_rfc3339
from failhook.errors import StoreError
from failhook.log import say
from failhook.outbox.port import Store, Waiting
from failhook.pipeline.counts import Progress
from failhook.pipeline.sidecar import Sidecar
from failhook.stores import is_memory, open_store, shown

CLOSE_SECONDS: Final = 15.0
"""What calls under way may take once it is told to end, unless the settings give them longer."""

_RESERVE: Final = 5.0

_EVERY: Final = 3.0
_A_MOMENT: Final = 0.1
_FORGET_EVERY: Final = timedelta(hours=1)
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take when to end, what to forget, and how to say how far it is."""
    parser.add_argument(
        "--once", action="store_true", help="end when everything that is due was tried once"
    )
    parser.add_argument(
        "--keep",
        metavar="TIME",
        type=seconds,
        help="forget tasks that ended longer ago, 90d: what history and stats know of them, too; "
        "nothing is forgotten unless this is given",
    )
    parser.add_argument(
        "--progress",
        action="store_true",
        help="say every few seconds how far it is, also where standard error is no terminal",
    )
    add_config(parser)
    add_store(parser)
    add_json(parser, "every line on standard output is")


def run(arguments: argparse.Namespace) -> int:
    """Deliver until told to end."""
    config = settings(arguments)
    where = config.store or ""
    if is_memory(where):
        raise UsageError("a store in memory belongs to its process: nobody else can deliver it")
    with _until_signalled() as stop, Sidecar.from_config(config) as sidecar:
        teller = _Teller(arguments, sidecar, shown(where))
        teller.begun()
        keeper = _Keeper(sidecar.store, SystemClock(), arguments.keep)
        before = Progress()

        def report(now: Progress) -> None:
            nonlocal before
            keeper.forget()
            if now != before:
                teller.progress(now)
            before = now

        keeper.forget()
        sidecar.run(stop, once=arguments.once, every=_EVERY, report=report)
        if arguments.once:
            _wait_for_others(sidecar, stop)
        seconds_left = max(CLOSE_SECONDS, config.delivery.time_limit + _RESERVE)
        went_out = sidecar.close(seconds_left, deliver=not stop.is_set())
        teller.ended(() if went_out else _left(where, sidecar.manager.names()))
    return int(arguments.once and not went_out)


class _Teller:
    """Says on standard error, or as JSON lines on standard output, what is going on."""

    def __init__(self, arguments: argparse.Namespace, sidecar: Sidecar, where: str) -> None:
        self._json: bool = arguments.json
        self._often = arguments.progress or on_terminal()
        self._sidecar = sidecar
        self._where = where

    def begun(self) -> None:
        """Tell which plugins are held, and for which others something waits."""
        held = self._sidecar.manager.names()
        others = {
            each.plugin: each.count
            for each in self._sidecar.store.waiting()
            if each.plugin not in held
        }
        self._write("began", {"store": self._where, "plugins": list(held), "not_held": others})
        if not self._json:
            tell(f"delivering from {self._where} to {', '.join(held) or 'no plugin at all'}")
            if others:
                tell(
                    f"events wait for plugins that are not here: {listed(others)}; "
                    "whoever holds these plugins delivers them"
                )

    def progress(self, now: Progress) -> None:
        """Tell how far it is."""
        self._write("progress", asdict(now))
        if self._often and not self._json:
            tell(_summary(now))

    def ended(self, left: Sequence[Waiting]) -> None:
        """Tell what came of it."""
        now = self._sidecar.progress
        self._write("ended", {**asdict(now), "waiting": _document(left)})
        if not self._json:
            tell(_summary(now))
            for each in left:
                tell(waiting_line(each, self._where))

    def _write(self, what: str, document: Mapping[str, Any]) -> None:
        if self._json:
            at = to_rfc3339(SystemClock().now())
            print(json.dumps({"at": at, "event": what, **document}), flush=True)


class _Keeper:
    """Forgets tasks that ended long ago, now and then."""

    def __init__(self, store: Store, clock: Clock, keep: float | None) -> None:
        self._store = store
        self._clock = clock
        self._keep = None if keep is None else timedelta(seconds=keep)
        self._due = clock.now()

    def forget(self) -> None:
        """Forget what is old, unless that was done not long ago."""
        now = self._clock.now()
        if self._keep is None or now < self._due:
            return
        self._due = now + _FORGET_EVERY
        try:
            gone = self._store.forget(now - self._keep)
        except StoreError as error:
            say(30, "old tasks cannot be forgotten, trying again in an hour: %s", error)
            return
        if gone:
            tell(f"forgot {counted(gone, 'task')} that ended long ago")


def _summary(now: Progress) -> str:
    parts = [f"{counted(now.delivered, 'event')} delivered"]
    parts += [f"{counted(now.refused, 'call')} refused"] if now.refused else []
    parts += [f"{counted(now.dead, 'dead letter')}"] if now.dead else []
    parts += [f"{counted(now.dropped, 'event')} dropped"] if now.dropped else []
    return ", ".join(parts)


def _document(left: Collection[Waiting]) -> list[dict[str, Any]]:
    return [
        {
            "plugin": each.plugin,
            "count": each.count,
            "error": each.error,
            "since": to_rfc3339(each.since),
        }
        for each in left
    ]


def _left(where: str, plugins: Collection[str]) -> Sequence[Waiting]:
    """Return what waits for these plugins; nothing where the store does not say."""
    try:
        store = open_store(where)
        try:
            return [each for each in store.waiting() if each.plugin in plugins]
        finally:
            store.close()
    except StoreError:
        return ()


def _wait_for_others(sidecar: Sidecar, stop: threading.Event) -> None:
    """Let those who deliver the same at this moment end, before it is told what stays."""
    clock = SystemClock()
    end = clock.monotonic() + CLOSE_SECONDS
    names = sidecar.manager.names()
    while clock.monotonic() < end and any(map(sidecar.store.holders, names)):
        if stop.wait(_A_MOMENT):
            return
        sidecar.run(stop, once=True)


@contextmanager
def _until_signalled() -> Generator[threading.Event]:
    """Set an event at the first signal; a second one, whichever, ends the process at once."""
    stop = threading.Event()
    before: dict[signal.Signals, Any] = {}

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        for each in before:
            signal.signal(each, signal.SIG_DFL)

    before |= {
        number: signal.signal(number, ask)
        for number in _SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
