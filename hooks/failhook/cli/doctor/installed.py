"""Which plugins this installation can hold: each is loaded alone, as a pipeline loads them all."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Final

from failhook.cli.doctor.finding import Finding, act, note, ok
from failhook.cli.held_here import GROUP, held_here
from failhook.clock import SystemClock
from failhook.config import Config
from failhook.errors import FailhookError
from failhook.manager import Manager
from failhook.manager.provisions import VolatileState
from failhook.pipeline.configured import provisions, secrets_of
from failhook.redact import Redactor

SECONDS: Final = 10.0
"""A plugin that needs longer to be loaded is said not to come back."""

_AREA: Final = "plugins"
_CLOSE_SECONDS: Final = 2.0
_EXTRA: Final = "pip install "


@dataclass(frozen=True, slots=True)
class Installed:
    """What became of each plugin.

    Attributes:
        hooks: the hooks of those that can be held, by name.
        refused: why each of the others cannot be held, by name.
    """

    hooks: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]


def look_at_plugins(config: Config) -> Installed:
    """Load every plugin that a pipeline with this configuration loads.

    A plugin gets its settings, and a state that is forgotten afterwards.
    """
    hooks: dict[str, Sequence[str]] = {}
    refused: dict[str, str] = {}
    secrets = secrets_of(config)
    clock = SystemClock()
    manager = Manager(
        lambda name: provisions(config, name, VolatileState(), clock, secrets),
        redact=secrets.hiding(Redactor().redact),
    )
    with redirect_stdout(sys.stderr):  # whatever a plugin prints, what is printed here is ours
        for name in sorted(held_here(config)):
            problem = load_alone(manager, name)
            if problem:
                refused[name] = problem
            else:
                hooks[name] = manager.hooks(name)
        manager.close(_CLOSE_SECONDS)
    return Installed(hooks, refused)


def installed_findings(config: Config, installed: Installed) -> Iterator[Finding]:
    """Yield what is to be said of each plugin by itself."""
    for name, hooks in installed.hooks.items():
        if hooks:
            yield ok(_AREA, f"plugin {name} can be held; its hooks: {', '.join(hooks)}")
        else:
            yield act(_AREA, f"plugin {name} has no hook", "mark its methods with @hookimpl")
    for name, problem in installed.refused.items():
        if name in config.plugins:
            yield act(_AREA, problem, f"no pipeline starts until then; or block {name!r}")
        elif _EXTRA in problem:
            yield note(_AREA, f"{problem}, or leave it: nothing configures it")
        else:
            yield act(_AREA, f"{problem}; it is left out", f'or say [plugins] block = ["{name}"]')
    if config.blocked:
        yield note(_AREA, f"blocked by the settings: {', '.join(config.blocked)}")
    offered = sorted({point.name for point in entry_points(group=GROUP)})
    for name in config.blocked:
        if name not in offered and name not in config.plugins:
            alike = get_close_matches(name, offered, n=1)
            guess = f"; did you mean {alike[0]}?" if alike else ""
            yield note(_AREA, f"the settings block {name}, which is not installed{guess}")


def load_alone(manager: Manager, name: str) -> str:
    """Register one plugin, in a thread that may hang; return why it cannot be, "" where it can."""
    problems: list[str] = []

    def load() -> None:
        try:
            manager.load_entry_points(GROUP, only=[name])
        except FailhookError as error:
            problems.append(" ".join(str(error).split()))

    thread = threading.Thread(target=load, name=f"failhook-doctor-{name}", daemon=True)
    thread.start()
    thread.join(SECONDS)
    if thread.is_alive():
        return f"plugin {name!r} does not come back from being loaded ({SECONDS:.0f} s)"
    return "; ".join(problems)
