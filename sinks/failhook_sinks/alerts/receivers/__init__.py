"""The places that notifications go to; each is imported when a receiver of its type is opened."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final, cast

from failhook.plugin import Clock, SettingsTable
from failhook_sinks.alerts.model import Receiver
from failhook_sinks.alerts.receivers.fallback import AFTER, WithFallback

TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: f"failhook_sinks.alerts.receivers.{name}"
        for name in ("slack", "slack_webhook", "pagerduty", "alertmanager", "webhook")
    }
)
"""The values of ``type``, and the module of each: its ``open_receiver`` makes the receiver."""

_CLIENTS: Final = MappingProxyType({"slack": "slack_sdk", "slack_webhook": "slack_sdk"})
_EXTRAS: Final = MappingProxyType({"slack_sdk": "slack"})


def open_receivers(tables: Mapping[str, SettingsTable], clock: Clock) -> Mapping[str, Receiver]:
    """Return the receivers that are configured, by name; nothing is sent, no client imported.

    Args:
        tables: ``[plugins.alerts.receivers.NAME]``, by name. That no fallback leads back to where
            it began was checked.
        clock: the time.

    Raises:
        ConfigError: a setting is missing, wrong or unknown, or a client is not installed; the
            message names it.
    """
    opened: dict[str, Receiver] = {}
    for name, table in tables.items():
        others = tuple(each for each in tables if each != name)
        opened[name] = _open(name, table, others, clock, opened)
    return opened


def _open(
    name: str,
    table: SettingsTable,
    others: tuple[str, ...],
    clock: Clock,
    opened: Mapping[str, Receiver],
) -> Receiver:
    kind = table.choice("type", tuple(TYPES))
    fallback = table.choice("fallback", others, "")
    after = table.seconds("fallback_after", AFTER) if fallback else 0.0
    _check_installed(kind, table)
    module = import_module(TYPES[kind])
    receiver = cast("Receiver", module.open_receiver(name, table, clock))
    if not fallback:
        return receiver
    return WithFallback(receiver, lambda: opened[fallback], clock, after)


def _check_installed(kind: str, table: SettingsTable) -> None:
    client = _CLIENTS.get(kind)
    if client is None or find_spec(client) is not None:
        return
    extra = _EXTRAS[client]
    raise table.error("type", f"is {kind!r}, which needs {client}: pip install 'failhook[{extra}]'")
