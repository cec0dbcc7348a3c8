"""Every check, one after the other; what one cannot do, the others do not suffer from."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, cast

from failhook.cli.amounts import counted
from failhook.cli.doctor.finding import Finding, act, note, ok
from failhook.cli.doctor.installed import Installed, installed_findings, look_at_plugins
from failhook.cli.doctor.look import Look
from failhook.cli.doctor.queues import hook_findings, queue_findings
from failhook.cli.doctor.read_settings import settings_findings
from failhook.cli.doctor.tasks import clock_findings, task_findings
from failhook.cli.settings import default_store, store_of, why_unknown
from failhook.cli.survey import survey
from failhook.config import Config, load_config
from failhook.errors import ConfigError, StoreError
from failhook.outbox.port import Store
from failhook.outbox.reading import StoreReport
from failhook.redact import Redactor
from failhook.redact.sources import open_redactor
from failhook.stores import file_of, open_store, shown

_LEAST_SECRET: Final = 8


class Examination:
    """One look at everything.

    Args:
        arguments: of the command.
        now: the time, UTC.

    Attributes:
        complete: whether nothing was left out because settings or store cannot be read.
    """

    def __init__(self, arguments: argparse.Namespace, now: datetime) -> None:
        self.complete = True
        self._arguments = arguments
        self._now = now
        self._patience = timedelta(seconds=arguments.patience)
        self._redactor = Redactor()
        self._values: list[str] = []
        self._where = ""

    def findings(self) -> list[Finding]:
        """Look, and return what was found; no secret is in it."""
        return [
            replace(each, text=self._shown(each.text), help=self._shown(each.help))
            for each in list(self._look())
        ]

    def _look(self) -> Iterator[Finding]:
        try:
            config = load_config(self._arguments.config)
        except (ConfigError, OSError) as error:
            self.complete = False
            yield act("settings", str(error), "put it right: nothing starts until then")
            config = Config()
        else:
            self._redactor = open_redactor(config.redact, config.redact_sources)
            self._values = list(_texts(config.plugins))
            yield from settings_findings(config)
        installed = look_at_plugins(config)
        yield from installed_findings(config, installed)
        if self.complete or self._arguments.store is not None:
            yield from self._store(config, installed)

    def _store(self, config: Config, installed: Installed) -> Iterator[Finding]:
        store: Store | None = None
        try:
            where = store_of(self._arguments, config)
            self._where = shown(where)
            unknown = why_unknown(where)
            if unknown:
                yield self._no_store(where, unknown)
                return
            store = open_store(where, migrate=False)
            yield from report_findings(store.examine(self._now))
            yield from _readers(where)
            look = Look(survey(store), self._now, self._patience, self._arguments)
            yield from hook_findings(look, installed)
            yield from queue_findings(look, installed)
            yield from task_findings(store, look)
            yield from clock_findings(look)
        except StoreError as error:
            self.complete = False
            yield act("store", str(error), "put it right, or name another with --store")
        finally:
            if store is not None:
                store.close()

    def _no_store(self, where: str, unknown: str) -> Finding:
        if where == str(default_store(os.environ)):
            return note("store", f"{unknown} yet; the first command that needs one makes it")
        self.complete = False
        return act("store", unknown, "name the right one with --store, or let a task run on it")

    def _shown(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, "***")
        redact = self._redactor.redact
        if not self._where:
            return redact(text)
        return self._where.join(map(redact, text.split(self._where)))  # no password is in it


def _texts(value: object) -> Iterator[str]:
    """Yield every text in the settings of plugins, however deep, that may be a secret."""
    if isinstance(value, str) and len(value) >= _LEAST_SECRET:
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[object]", value):
            yield from _texts(each)


def report_findings(report: StoreReport) -> Iterator[Finding]:
    """Yield what a store says of itself."""
    size = "" if report.bytes is None else f", {_size(report.bytes)}"
    yield ok(
        "store", f"{report.where}: schema {report.schema}{size}, {counted(report.tasks, 'task')}"
    )
    for problem in report.problems:
        what, _, way_out = problem.partition("; ")
        yield act("store", what, way_out or "see docs/stores.md")


def _size(count: int) -> str:
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.0f} {units[0]}" if units[0] == "B" else f"{size:.1f} {units[0]}"


def _readers(where: str) -> Iterator[Finding]:
    """Yield who else may read the file of a store."""
    file = file_of(where)
    if file is not None and file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        text = f"other users of this machine can read {file}; if they should not: chmod 600 {file}*"
        yield note("store", text)
