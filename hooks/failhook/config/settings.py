"""What a configuration says, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from failhook.config.document import Document
from failhook.gate.overrides import Policies
from failhook.policy import Backoff

_NO_PLUGINS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """How hard deliveries are tried: ``[delivery]``.

    Attributes:
        time_limit: seconds that a plugin has for one event.
        max_failures: a plugin that raised this often on one event gets it no more.
        max_refusals: the same for one that says ``Undelivered(retryable=True)``.
        backoff: the wait between two tries.
        max_events: how many events may wait for one plugin, dead letters included; None leaves it
            to the store, whose memory is smaller than its disk.
        max_bytes: how many bytes these may have, as JSON; None as before.
    """

    time_limit: float = 10.0
    max_failures: int = 5
    max_refusals: int = 50
    backoff: Backoff = Backoff(initial=1.0)
    max_events: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of one installation.

    Attributes:
        path: the file that was read; None where there was none.
        store: where ledger and outbox are: ``memory``, a file or a URL; None is the caller's
            default (memory in a library, an SQLite file for the command).
        namespace: the namespace of tasks that name none.
        policies: what tasks may cost: ``[policy]`` and ``[[policy.overrides]]``.
        rules: the ``[[rules]]`` tables, already found readable by `classify.read_user_rules`.
        plugins: the settings of each plugin, by name: ``[plugins.NAME]``.
        blocked: plugins that are not loaded: ``block = [...]`` of ``[plugins]``, and those with
            ``enabled = false``.
        delivery: how hard deliveries are tried.
        redact: further regular expressions of what is secret: ``patterns`` of ``[redact]``.
        redact_sources: catalogues of secrets that are asked too: ``sources`` of ``[redact]``.
    """

    path: Path | None = None
    document: Document | None = field(default=None, repr=False, compare=False)
    store: str | None = None
    namespace: str = "default"
    policies: Policies = field(default_factory=Policies)
    rules: tuple[Mapping[str, Any], ...] = ()
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: _NO_PLUGINS)
    blocked: tuple[str, ...] = ()
    delivery: DeliverySettings = DeliverySettings()
    redact: tuple[str, ...] = ()
    redact_sources: tuple[str, ...] = ()
