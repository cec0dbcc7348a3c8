"""The face for plugin authors: the marker, what hooks are given, and how to say "not delivered".

A plugin is a class (or a module, or an object) with methods marked ``@hookimpl``. A class may name
in its constructor what it wants: ``settings``, ``state``, ``clock``, and ``folder``, which paths in
the settings are relative to. Register it through the entry-point group ``failhook``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

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
from failhook.matchers import Matcher, parse_matcher
from failhook.phases import Condition, Phase, PhaseHistory, PhaseTransition
from failhook.policy import Policy
from failhook.settings_table import SettingsTable
from failhook.task import Task

__all__ = [
    "Action",
    "Because",
    "Charge",
    "Clock",
    "Condition",
    "Confidence",
    "ConfigError",
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
    "Settings",
    "SettingsTable",
    "Started",
    "SystemClock",
    "Task",
    "Undelivered",
    "from_rfc3339",
    "hookimpl",
    "parse_matcher",
    "to_error_state",
    "to_rfc3339",
]

hookimpl = pluggy.HookimplMarker("failhook")

Settings = Mapping[str, Any]
"""A plugin's own table of the configuration: ``[plugins.NAME]``."""


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
