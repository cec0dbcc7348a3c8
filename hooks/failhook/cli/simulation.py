"""A marked failure on its real way: pipeline, outbox and plugins, in a store of its own.

Nothing of it meets what real tasks left: it is told, then told to be over, and forgotten. The times
of groups are not waited for; what a plugin refuses is not tried again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from failhook.clock import SystemClock
from failhook.config import Config
from failhook.evidence import Evidence
from failhook.groups import Handled
from failhook.manager import Manager
from failhook.manager.outcome import Call, Status
from failhook.outbox.port import DueGroup, Store
from failhook.pipeline import Pipeline
from failhook.pipeline.configured import parts_of
from failhook.stores.memory import MemoryStore
from failhook.task import Task

_MOMENT: Final = 0.02
_ONCE: Final = "given up after 1 tries: "
_RESERVE: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of a failure at one plugin.

    Attributes:
        plugin: its name.
        hooks: those that were called, in order, each once.
        sent: the groups of which something was sent, by their keys.
        refused: the groups of which nothing could be sent, and why.
        gathers: whether it gathers events in groups.
        error: why it did not take it; "" where it did.
        closed: whether it took the recovery, too.
    """

    plugin: str
    hooks: Sequence[str]
    sent: Sequence[str]
    refused: Mapping[str, str]
    gathers: bool
    error: str
    closed: bool

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "plugin": self.plugin,
            "took": not self.error,
            "error": self.error,
            "hooks": list(self.hooks),
            "sent": list(self.sent) if self.gathers else None,
            "refused": dict(self.refused) if self.gathers else None,
            "closed": self.closed,
        }


def simulate(config: Config, task: Task, evidence: Evidence, timeout: float) -> Sequence[Told]:
    """Let a task fail and then be well again, and return what each plugin did.

    Args:
        config: the settings; their store is left alone.
        task: whose failure it is.
        evidence: of the failure.
        timeout: seconds for all of it.

    Raises:
        ConfigError, RegistrationError: as `Pipeline.from_config` says.
    """
    once = replace(config.delivery, max_failures=1, max_refusals=1)
    watched = _Watched()
    parts = parts_of(replace(config, delivery=once), None, opened=watched)
    parts["clock"] = clock = _Ahead()
    pipeline = Pipeline(**parts)
    manager, store = pipeline.manager, pipeline.store
    calls: list[Call] = []
    manager.count_calls(calls.append)
    end = clock.monotonic() + timeout
    with redirect_stdout(sys.stderr):  # whatever a plugin prints, what is printed here is ours
        pipeline.failed(task, evidence, simulated=True)
        _deliver(pipeline, clock, end)
        failing = list(calls)
        sent, refused = list(watched.sent), list(watched.refused)
        errors = _errors(store, manager)
        clock.ahead = timedelta(0)
        pipeline.succeeded(task.next_attempt(), simulated=True)
        _deliver(pipeline, clock, end)
        later = _errors(store, manager)
        pipeline.close(min(_RESERVE, max(0.0, end - clock.monotonic()) + 1.0))
    return [
        Told(
            plugin=name,
            hooks=tuple(dict.fromkeys(each.hook for each in failing if each.plugin == name)),
            sent=[key for plugin, key in sent if plugin == name],
            refused={key: why for plugin, key, why in refused if plugin == name},
            gathers=manager.gathers(name),
            error=errors.get(name) or _failed(failing, name),
            closed=name not in later,
        )
        for name in manager.names()
    ]


class _Watched(MemoryStore):
    """A store that notes of which groups something was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str]] = []
        self.refused: list[tuple[str, str, str]] = []

    def settle(self, group: DueGroup, handled: Handled, *, now: datetime) -> None:
        if handled.sent:
            self.sent.append((group.plugin, group.key))
        super().settle(group, handled, now=now)

    def bury_group(self, group: DueGroup, *, error: str, now: datetime, owner: str) -> None:
        self.refused.append((group.plugin, group.key, error.removeprefix(_ONCE)))
        super().bury_group(group, error=error, now=now, owner=owner)


class _Ahead(SystemClock):
    """The machine's clock, set ahead to when something is due."""

    ahead: timedelta = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.ahead


def _deliver(pipeline: Pipeline, clock: _Ahead, end: float) -> None:
    """Have everything delivered, also what waits for the time of its group."""
    names, pause = pipeline.manager.names(), threading.Event()
    while True:
        in_time = pipeline.flush(max(_MOMENT, end - clock.monotonic()))
        if not in_time or not pipeline.store.pending(names) or clock.monotonic() > end:
            return
        now = clock.now()
        due = pipeline.store.next_due(names, now)
        if due is not None and due > now:
            clock.ahead += due - now
        pause.wait(_MOMENT)


def _errors(store: Store, manager: Manager) -> Mapping[str, str]:
    """Return why plugins did not take what they were to take, by plugin."""
    waiting = {
        each.plugin: each.error or "it has not come back in time" for each in store.waiting()
    }
    dead = {each.plugin: each.error.removeprefix(_ONCE) for each in store.given_up()}
    return {name: error for name, error in {**waiting, **dead}.items() if name in manager.names()}


def _failed(calls: Sequence[Call], plugin: str) -> str:
    errors = [each.error for each in calls if each.plugin == plugin]
    bad = [each for each in calls if each.plugin == plugin and each.status is not Status.DELIVERED]
    return bad[0].error or "it failed" if bad and any(errors) else ""
