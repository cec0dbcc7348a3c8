"""A store that a command looks at: opened where the settings say, and closed again."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from failhook.cli.settings import settings_of_a_known_store
from failhook.cli.terminal import quoted
from failhook.clock import SystemClock
from failhook.config import Config
from failhook.outbox.port import Store
from failhook.stores import open_store, shown


@dataclass(frozen=True, slots=True)
class Known:
    """A store that exists; it is neither made nor migrated by looking at it.

    Attributes:
        config: the settings.
        store: the store, open.
        where: what to call it; no password is in it.
        now: when it was opened, UTC.
    """

    config: Config
    store: Store
    where: str
    now: datetime


@contextmanager
def known_store(arguments: argparse.Namespace) -> Generator[Known]:
    """Open the store that the arguments name.

    Raises:
        ConfigError: a setting is wrong.
        StoreError: there is no such store, or it cannot be read.
    """
    config = settings_of_a_known_store(arguments)
    store = open_store(config.store or "", migrate=False)
    try:
        yield Known(config, store, shown(config.store or ""), SystemClock().now())
    finally:
        store.close()


def same_store(arguments: argparse.Namespace) -> str:
    """Return the options of this call that lead another command to the same store and settings.

    A password in them is left out.
    """
    config, store = arguments.config, arguments.store
    options = "" if config is None else f" --config {quoted(config)}"
    return options if store is None else f"{options} --store {quoted(shown(store))}"
