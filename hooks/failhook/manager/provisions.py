"""What a plugin is given: its settings, a state of its own, the clock, the settings' folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from failhook.errors import ConfigError, RegistrationError
from failhook.manager.arguments import read_arguments
from failhook.manager.outcome import error_line
from failhook.plugin import Clock, PluginState, Settings

_OFFERED: Final = ("settings", "state", "clock", "folder")


@dataclass(frozen=True, slots=True)
class Provisions:
    """What the constructor of one plugin may name.

    Attributes:
        settings: the plugin's table of the configuration, ``[plugins.NAME]``.
        state: a small state of its own in the store.
        clock: the time.
        folder: what paths in the settings are relative to: where these stand.
        locate: adds to an error on a setting where that stands.
    """

    settings: Settings
    state: PluginState
    clock: Clock
    folder: Path = Path()
    locate: Callable[[ConfigError], ConfigError] = field(default=lambda error: error, repr=False)


class VolatileState:
    """A plugin's state where no store was given: it lives as long as the process."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self._values.get(key)

    def put(self, key: str, value: str | None) -> None:
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = value

    def items(self, prefix: str) -> Mapping[str, str]:
        return {key: self._values[key] for key in sorted(self._values) if key.startswith(prefix)}


def construct(
    plugin: type, name: str, provisions: Provisions, redact: Callable[[str], str]
) -> object:
    """Return an instance, made with those of settings, state, clock and folder that it names.

    Raises:
        ConfigError: the plugin refused its settings.
        RegistrationError: the constructor wants something else, or raised.
    """
    where = f"plugin {name!r}: {plugin.__name__}()"
    arguments = read_arguments(plugin, _OFFERED, where)
    given = {offer: getattr(provisions, offer) for offer in arguments.named}
    positional, keywords = arguments.bind(given)
    try:
        return plugin(*positional, **keywords)
    except ConfigError as error:
        raise provisions.locate(error) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RegistrationError(f"{where} raised {error_line(error, redact)}") from error
