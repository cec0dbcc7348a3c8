"""The settings of a command: the configuration, what the command line says, the default store."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from failhook.classify import Classifier, read_user_rules
from failhook.config import Config, load_config
from failhook.errors import StoreError


def classifier(arguments: argparse.Namespace) -> Classifier:
    """Return the classifier with the rules of the configuration.

    Raises:
        ConfigError: a setting is wrong.
    """
    return Classifier(read_user_rules(load_config(arguments.config).rules))


def settings(arguments: argparse.Namespace) -> Config:
    """Return the configuration with a store that outlives this process, and with lines on stderr.

    Raises:
        ConfigError: a setting is wrong.
        StoreError: there is no place for the default store.
    """
    config = load_config(arguments.config)
    store = arguments.store or config.store or str(default_store(os.environ))
    return replace(config, store=store, plugins=_with_lines(config, as_json=arguments.json))


def default_store(environ: Mapping[str, str]) -> Path:
    """Return the user's own store file, with its folder made (XDG Base Directory Specification).

    Raises:
        StoreError: the folder cannot be made.
    """
    state = Path(environ.get("XDG_STATE_HOME", ""))
    way_out = "name a store with --store, FAILHOOK_STORE or `store` in failhook.toml"
    try:
        folder = (state if state.is_absolute() else Path.home() / ".local/state") / "failhook"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except RuntimeError:
        raise StoreError(f"there is no home directory for the default store; {way_out}") from None
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
        raise StoreError(f"no folder for the default store: {problem}; {way_out}") from None
    return folder / "failhook.db"


def _with_lines(config: Config, *, as_json: bool) -> Mapping[str, Mapping[str, Any]]:
    """Have the log sink write to standard error, unless its own settings say otherwise."""
    if "log" in config.blocked:
        return config.plugins
    log = {"stream": "stderr", **config.plugins.get("log", {})}
    if as_json:
        log["format"] = "json"
    return MappingProxyType({**config.plugins, "log": MappingProxyType(log)})
