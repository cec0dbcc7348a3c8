"""Which commands there are: our own, and those that sinks bring along."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from failhook.cli.arguments import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUP: Final = "failhook.commands"
"""The entry-point group of commands that other packages bring."""

BUILT_IN: Final = (
    *("run", "demo", "classify", "explain", "check", "simulate"),
    *("status", "resolve", "history", "stats", "dead-letters", "deliver", "doctor"),
)


class Command(Protocol):
    """What a command is: a module or an object with a docstring, arguments and a function.

    The first line of the docstring stands in ``failhook --help``. Where the command of another
    package names an argument ``core``, it gets a `failhook.plugin.Core`.
    """

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say which arguments the command takes."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit code; a `FailhookError` becomes one line and exit code 2."""
        ...


def overview() -> Sequence[str]:
    """Return the names of all commands; our own come first."""
    return (*BUILT_IN, *sorted(_theirs().names - set(BUILT_IN)))


def find_command(name: str) -> Command:
    """Load a command by its name; nobody else's takes the place of our own.

    Raises:
        UsageError: there is no such command, or it cannot be loaded.
    """
    if name in BUILT_IN:
        return cast("Command", import_module(f"failhook.cli.{name.replace('-', '_')}"))
    theirs = _theirs()
    if name in theirs.names:
        return _load(theirs, name)
    names = overview()
    alike = get_close_matches(name, names, n=1)
    guess = f"did you mean {alike[0]}?" if alike else f"there are {', '.join(names)}"
    raise UsageError(f"there is no such command; {guess}")


def summary(name: str) -> str:
    """Return what a command does, in one line."""
    try:
        documented = find_command(name).__doc__
    except UsageError as error:
        return f"({error})"
    return (documented or "").strip().partition("\n")[0]


def _theirs() -> EntryPoints:
    from importlib.metadata import entry_points  # slow, and our own commands do not need it

    return entry_points(group=GROUP)


def _load(points: EntryPoints, name: str) -> Command:
    point = points[name]
    try:
        command = point.load()
    except Exception as error:
        raise UsageError(f"{point.value} cannot be loaded: {error!r}") from error
    if not (hasattr(command, "add_arguments") and hasattr(command, "run")):
        raise UsageError(f"{point.value} is no command: it needs add_arguments(parser) and run()")
    return _Brought(command)


class _Brought:
    """A command of another package, with what it wants of us."""

    def __init__(self, command: Any) -> None:
        from failhook.cli.core import CommandCore

        self.__doc__ = command.__doc__
        self._command = command
        self._core = CommandCore()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        self._call(self._command.add_arguments, parser)

    def run(self, arguments: argparse.Namespace) -> int:
        return cast("int", self._call(self._command.run, arguments))

    def _call(self, function: Callable[..., object], given: object) -> object:
        wanted = inspect.signature(function).parameters
        return function(given, core=self._core) if "core" in wanted else function(given)
