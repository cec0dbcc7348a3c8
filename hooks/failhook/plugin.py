"""The face for plugin authors: the marker, what hooks are given, and how to say "not delivered".

A plugin is a class (or a module, or an object) with methods marked ``@hookimpl``. A class may name
in its constructor what it wants: ``settings``, ``state``, ``clock``, and ``folder``, which paths in
the settings are relative to. Register it through the entry-point group ``failhook``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pluggy

from failhook.clock import Clock, SystemClock, from_rfc3339, to_rfc3339
from failhook.decision import Action, Because, Charge, Counters, Decision
from failhook.details import Confidence, Fact, FailureDetails, Hint, Kind, Started
from failhook.error_info import ErrorInfo
from failhook.error_state import ErrorState, to_error_state
from failhook.errors import ConfigError, Undelivered
from failhook.event import EventType, FailureEvent
from failhook.evidence import Evidence
from failhook.groups import DroppedEvents, Group, Handled
from failhook.http_answer import (
    Secrets,
    may_pass,
    origin_of,
    read_retry_after,
    secrets_in_url,
    status_line,
)
from failhook.matchers import Matcher, parse_matcher
from failhook.phases import Condition, Phase, PhaseHistory, PhaseTransition
from failhook.policy import Policy
from failhook.settings_table import SettingsTable
from failhook.task import Task

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = [
    "Action",
    "Because",
    "Charge",
    "Clock",
    "Condition",
    "Confidence",
    "ConfigError",
    "Core",
    "Counters",
    "Decision",
    "DroppedEvents",
    "ErrorInfo",
    "ErrorState",
    "EventType",
    "Evidence",
    "Fact",
    "FailureDetails",
    "FailureEvent",
    "Group",
    "Handled",
    "Hint",
    "Kind",
    "Matcher",
    "Phase",
    "PhaseHistory",
    "PhaseTransition",
    "PluginState",
    "Policy",
    "Secrets",
    "Settings",
    "SettingsTable",
    "Started",
    "SystemClock",
    "Task",
    "Undelivered",
    "from_rfc3339",
    "hookimpl",
    "may_pass",
    "origin_of",
    "parse_matcher",
    "read_retry_after",
    "secrets_in_url",
    "status_line",
    "to_error_state",
    "to_rfc3339",
]

_Value = TypeVar("_Value")

hookimpl = pluggy.HookimplMarker("failhook")

Settings = Mapping[str, Any]
"""A plugin's own table of the configuration: ``[plugins.NAME]``."""


class Core(Protocol):
    """What failhook offers to a command that a package brings (entry points `failhook.commands`).

    ``add_arguments(parser, core)`` and ``run(arguments, core)`` get it where they name it ``core``.
    """

    def add_failure(self, parser: ArgumentParser) -> None:
        """Add what says of a failure what it is and whose; ``--config`` and ``--json``, too."""
        ...

    def failures(self, arguments: Namespace) -> Sequence[FailureEvent]:
        """Return the failures that these arguments describe; no plugin hears of them.

        Raises:
            FailhookError: they describe none, or a setting is wrong.
        """
        ...

    def read(
        self, arguments: Namespace, plugin: str, reader: Callable[[Settings, Path], _Value]
    ) -> _Value:
        """Return what `reader` makes of a plugin's settings and their folder.

        Secrets are filled in; one that is not there is left as the settings name it.

        Raises:
            ConfigError: the plugin has no settings, or the reader refuses them; file and line are
                added.
        """
        ...

    def answer(self, arguments: Namespace, lines: Sequence[str], document: Any) -> None:
        """Print lines, or with ``--json`` a document; secrets and control characters are hidden."""
        ...


class PluginState(Protocol):
    """A small state of the plugin's own, kept in the store beside the outbox."""

    def get(self, key: str) -> str | None:
        """Return what was put under `key`, or None."""
        ...

    def put(self, key: str, value: str | None) -> None:
        """Keep `value` under `key`; None forgets it."""
        ...

    def items(self, prefix: str) -> Mapping[str, str]:
        """Return what is kept under keys that begin with `prefix`, by key."""
        ...
