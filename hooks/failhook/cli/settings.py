"""The settings of a command: the configuration, what the command line says, the default store."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from failhook.config import Config, load_config
from failhook.errors import StoreError
from failhook.stores import file_of, is_memory

_WAY_OUT: Final = "name a store with --store, FAILHOOK_STORE or `store` in failhook.toml"


def settings(arguments: argparse.Namespace) -> Config:
    """Return the configuration with a store that outlives this process, and with lines on stderr.

    Raises:
        ConfigError: a setting is wrong.
        StoreError: there is no place for the default store.
    """
    config = load_config(arguments.config)
    store = arguments.store or config.store
    if store is None:
        file = default_store(os.environ)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
            raise StoreError(f"no folder for the default store: {problem}; {_WAY_OUT}") from None
        store = str(file)
    return with_lines(replace(config, store=store), as_json=arguments.json)


def settings_of_a_known_store(arguments: argparse.Namespace) -> Config:
    """Return the same for a command that only looks at a store: none is made.

    Raises:
        ConfigError: a setting is wrong.
        StoreError: there is no such store.
    """
    config = load_config(arguments.config)
    store = store_of(arguments, config)
    problem = why_unknown(store)
    if problem:
        raise StoreError(f"{problem}; {_WAY_OUT}")
    return with_lines(replace(config, store=store), as_json=arguments.json)


def store_of(arguments: argparse.Namespace, config: Config) -> str:
    """Return the store that a command is about.

    Raises:
        StoreError: none is named, and there is no home directory for the default one.
    """
    return arguments.store or config.store or str(default_store(os.environ))


def why_unknown(store: str) -> str:
    """Say why there is nothing to look at in a store; "" where there may be something."""
    if is_memory(store):
        return "a store in memory ends with its process: nothing to look at"
    file = file_of(store)
    return f"store {file}: there is no such file" if file is not None and not file.exists() else ""


def default_store(environ: Mapping[str, str]) -> Path:
    """Return the user's own store file (XDG Base Directory Specification).

    Raises:
        StoreError: there is no home directory.
    """
    state = Path(environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        try:
            home = Path(environ["HOME"]) if "HOME" in environ else Path.home()
        except RuntimeError:
            home = Path()
        if not home.is_absolute():
            raise StoreError(f"there is no home directory for the default store; {_WAY_OUT}")
        state = home / ".local/state"
    return state / "failhook" / "failhook.db"


def with_lines(config: Config, *, as_json: bool) -> Config:
    """Have the log sink write to standard error, unless its own settings say otherwise."""
    if "log" in config.blocked:
        return config
    log = {"stream": "stderr", **config.plugins.get("log", {})}
    if as_json:
        log["format"] = "json"
    plugins = MappingProxyType({**config.plugins, "log": MappingProxyType(log)})
    return replace(config, plugins=plugins)
