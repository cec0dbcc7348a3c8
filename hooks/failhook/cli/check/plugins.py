"""The plugins, made as a pipeline makes them, and everything that they refuse."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Final

from failhook.cli.doctor.installed import load_alone
from failhook.cli.held_here import held_here
from failhook.clock import SystemClock
from failhook.config import Config
from failhook.errors import ConfigError
from failhook.manager import Manager
from failhook.manager.provisions import Provisions, VolatileState
from failhook.pipeline.configured import provisions, secrets_of
from failhook.redact.sources import open_redactor

_CLOSE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Made:
    """What could be made.

    Attributes:
        manager: holds the plugins.
        problems: with their settings, secrets included, and with themselves.
        redact: takes the secrets of the settings out of a text.
    """

    manager: Manager
    problems: Sequence[ConfigError]
    redact: Callable[[str], str]

    def close(self) -> None:
        """Let the plugins go."""
        with redirect_stdout(sys.stderr):
            self.manager.close(_CLOSE_SECONDS)


def make_plugins(config: Config) -> Made:
    """Make every plugin that a pipeline with these settings loads; nothing is sent."""
    secrets, clock = secrets_of(config), SystemClock()
    redact = secrets.hiding(open_redactor(config.redact, config.redact_sources).redact)
    problems: list[ConfigError] = []

    def note(error: ConfigError) -> None:
        problems.append(ConfigError(redact(str(error)), keys=error.keys))

    def provide(name: str) -> Provisions:
        missing: list[ConfigError] = []
        given = provisions(config, name, VolatileState(), clock, secrets, missing=missing)
        unknown = {each.keys for each in missing}
        unknown |= {keys[:-1] for keys in unknown if isinstance(keys[-1], int)}
        for each in missing:
            note(given.locate(each))

        def locate(error: ConfigError) -> ConfigError:
            located = given.locate(error)
            for each in (located, *located.more):
                if each.keys not in unknown:  # what is not there cannot be right or wrong
                    note(each)
            return located

        return replace(given, locate=locate)

    manager = Manager(provide, clock=clock, redact=redact)
    with redirect_stdout(sys.stderr):  # whatever a plugin prints, what is printed here is ours
        for name in sorted(held_here(config)):
            before = len(problems)
            problem = load_alone(manager, name)
            if problem and len(problems) == before and name in config.plugins:
                error = ConfigError(problem, keys=("plugins", name))
                document = config.document
                note(error if document is None else document.located(error))
    return Made(manager, problems, redact)
