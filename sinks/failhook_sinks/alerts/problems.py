"""Settings read to the end although some are wrong, so that everything is told at once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from failhook.plugin import ConfigError

_Value = TypeVar("_Value")


class Problems:
    """Gathers what is wrong."""

    def __init__(self) -> None:
        self.found: list[ConfigError] = []

    @contextmanager
    def noted(self) -> Generator[None]:
        """Note a setting that is refused within, and go on after it."""
        try:
            yield
        except ConfigError as error:
            self.found += [error, *error.more]

    def take(self, read: Callable[[], _Value], otherwise: _Value) -> _Value:
        """Return what is read, or something to go on with where it is wrong."""
        with self.noted():
            return read()
        return otherwise

    def tell(self) -> None:
        """Tell all of it, each once.

        Raises:
            ConfigError: something was wrong; ``more`` has what else was.
        """
        if self.found:
            first, *more = {str(error): error for error in self.found}.values()
            raise ConfigError(str(first), keys=first.keys, more=tuple(more))
