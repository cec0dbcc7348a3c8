"""What the command offers to those commands that other packages bring."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from failhook.cli.arguments import add_json
from failhook.cli.failures import add_document, add_failure, events_of
from failhook.cli.terminal import folded
from failhook.clock import SystemClock
from failhook.config import Config, load_config
from failhook.errors import ConfigError
from failhook.event import FailureEvent
from failhook.manager.provisions import VolatileState
from failhook.pipeline.configured import provisions, secrets_of
from failhook.plugin import Settings
from failhook.redact.sources import open_redactor

_Value = TypeVar("_Value")


class CommandCore:
    """One call's way to settings, failures and standard output; see `failhook.plugin.Core`."""

    def __init__(self) -> None:
        self._config: Config | None = None
        self._hide: Callable[[str], str] = str

    def add_failure(self, parser: argparse.ArgumentParser) -> None:
        add_document(parser)
        add_failure(parser)
        add_json(parser, "the answer")

    def failures(self, arguments: argparse.Namespace) -> Sequence[FailureEvent]:
        return events_of(arguments, self._loaded(arguments))

    def read(
        self,
        arguments: argparse.Namespace,
        plugin: str,
        reader: Callable[[Settings, Path], _Value],
    ) -> _Value:
        config = self._loaded(arguments)
        if plugin not in config.plugins:
            where = "failhook.toml, which is not here" if config.path is None else config.path
            raise ConfigError(f"there is no [plugins.{plugin}] in {where}")
        secrets = secrets_of(config)
        given = provisions(config, plugin, VolatileState(), SystemClock(), secrets, missing=[])
        self._hide = secrets.hiding(open_redactor(config.redact, config.redact_sources).redact)
        try:
            return reader(given.settings, given.folder)
        except ConfigError as error:
            raise given.locate(error) from None

    def answer(self, arguments: argparse.Namespace, lines: Sequence[str], document: Any) -> None:
        if arguments.json:
            print(json.dumps(self._hidden(document), indent=2))
        else:
            print("\n".join(folded(self._hide("\n".join(lines)))))

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._hide(value)
        if isinstance(value, Mapping):
            table = cast("Mapping[str, Any]", value)
            return {name: self._hidden(each) for name, each in table.items()}
        if isinstance(value, list | tuple):
            return [self._hidden(each) for each in cast("Sequence[Any]", value)]
        return value

    def _loaded(self, arguments: argparse.Namespace) -> Config:
        if self._config is None:
            self._config = load_config(arguments.config)
        return self._config
