"""From ``failhook.toml`` to the parts of a pipeline."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Final, TypedDict

from failhook.classify import Rule, read_user_rules
from failhook.clock import Clock, SystemClock
from failhook.config import Config, load_config
from failhook.config.secrets import Secrets
from failhook.config.settings import DeliverySettings
from failhook.errors import ConfigError, RegistrationError
from failhook.gate.overrides import Policies
from failhook.log import say
from failhook.manager import Limits, Manager, Provisions
from failhook.outbox.limits import DeliveryLimits
from failhook.outbox.port import Bounds, Store
from failhook.pipeline.slips import check_source
from failhook.plugin import PluginState
from failhook.redact import Redactor
from failhook.redact.sources import open_redactor
from failhook.stores import is_memory, open_store
from failhook.stores.memory import BOUNDS as MEMORY_BOUNDS

_BUNDLED: Final = "failhook_sinks."
_ALWAYS: Final = "log"


class Parts(TypedDict):
    """What the constructor of a pipeline is given."""

    store: Store
    manager: Manager
    policies: Policies
    rules: Sequence[Rule]
    redactor: Redactor
    delivery: DeliveryLimits
    clock: Clock


def parts_of(
    path: str | Path | Config | None, store: str | None, *, opened: Store | None = None
) -> Parts:
    """Read the configuration, open the store and register the plugins.

    Args:
        path: the configuration, as `load_config` takes it, or one that is loaded already.
        store: a store for when the configuration names none; memory unless given.
        opened: a store that is open, instead of that of the configuration.

    Raises:
        ConfigError, RegistrationError, StoreError: as `Pipeline.from_config` says.
    """
    check_source(path, store)
    config = path if isinstance(path, Config) else load_config(path)
    rules = read_user_rules(config.rules)
    redactor = open_redactor(config.redact, config.redact_sources)
    where = config.store or store or "memory"
    opened = open_store(where, _bounds(config.delivery, where)) if opened is None else opened
    clock = SystemClock()
    try:
        return Parts(
            store=opened,
            manager=_manager(config, opened, redactor, clock),
            policies=config.policies,
            rules=rules,
            redactor=redactor,
            delivery=DeliveryLimits(
                max_failures=config.delivery.max_failures,
                max_refusals=config.delivery.max_refusals,
                backoff=config.delivery.backoff,
                lease=max(60.0, 3 * config.delivery.time_limit),
            ),
            clock=clock,
        )
    except BaseException:
        opened.close()
        raise


def _bounds(delivery: DeliverySettings, where: str) -> Bounds:
    """Return the bounds as they are set; what is not set is as the kind of store has it."""
    usual = MEMORY_BOUNDS if is_memory(where) else Bounds()
    return Bounds(
        usual.events if delivery.max_events is None else delivery.max_events,
        usual.bytes if delivery.max_bytes is None else delivery.max_bytes,
    )


def _manager(config: Config, store: Store, redactor: Redactor, clock: Clock) -> Manager:
    secrets = secrets_of(config)

    def provide(name: str) -> Provisions:
        return provisions(config, name, StoredState(store, name), clock, secrets)

    limits = Limits(call=config.delivery.time_limit)
    redact = secrets.hiding(redactor.redact)
    manager = Manager(provide, clock=clock, limits=limits, redact=redact)
    named = config.plugins.keys() - config.blocked
    manager.load_entry_points(blocked=config.blocked, only=sorted(named))
    try:
        manager.load_entry_points(
            wanted=lambda point: point.name not in named and is_wanted(point, config)
        )
    except RegistrationError as error:
        for line in str(error).splitlines():  # merely installed: the others go on
            say(logging.ERROR, "%s; it is left out", line)
    return manager


def secrets_of(config: Config) -> Secrets:
    """Return what looks secrets up: variables of this process, files beside the configuration."""
    return Secrets(os.environ, Path() if config.path is None else config.path.parent)


def provisions(
    config: Config,
    name: str,
    state: PluginState,
    clock: Clock,
    secrets: Secrets,
    *,
    missing: list[ConfigError] | None = None,
) -> Provisions:
    """Return what a plugin is given, its secrets filled in.

    Args:
        config: all settings.
        name: the plugin's.
        state: the plugin's own.
        clock: the time.
        secrets: looks them up.
        missing: takes the errors on secrets that are not there, instead of raising them.

    Raises:
        ConfigError: a secret is not there.
    """

    def locate(error: ConfigError) -> ConfigError:
        if config.document is None:
            return error
        keys = error.keys or ("plugins", name)
        located = config.document.located(ConfigError(str(error), keys=keys, more=error.more))
        return error if str(located) == str(error) else located

    try:
        settings = secrets.filled(config.plugins.get(name, {}), "plugins", name, missing=missing)
    except ConfigError as error:
        raise locate(error) from None
    return Provisions(settings, state, clock, secrets.folder, locate)


def is_wanted(point: EntryPoint, config: Config) -> bool:
    """Return whether to load a plugin: a bundled one where it has a table, and the log always."""
    bundled = point.value.startswith(_BUNDLED)
    return not bundled or point.name in config.plugins or point.name == _ALWAYS


class StoredState:
    """A plugin's own values, kept in the store."""

    def __init__(self, store: Store, plugin: str) -> None:
        self._store = store
        self._plugin = plugin

    def get(self, key: str) -> str | None:
        """Return what was put under `key`, or None."""
        return self._store.get_state(self._plugin, key)

    def put(self, key: str, value: str | None) -> None:
        """Keep `value` under `key`; None forgets it."""
        self._store.put_state(self._plugin, key, value)

    def items(self, prefix: str) -> Mapping[str, str]:
        """Return what is kept under keys that begin with `prefix`, by key."""
        return self._store.state_items(self._plugin, prefix)
