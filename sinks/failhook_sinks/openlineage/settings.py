"""What ``[plugins.openlineage]`` may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final, cast

from failhook.plugin import ConfigError, Settings

_ALLOWED: Final = ("mode", "transport")
_WHERE: Final = "plugins.openlineage"


class Mode(StrEnum):
    """Who else tells of the runs: nobody, or the orchestrator itself."""

    TERMINAL = "terminal"
    ENRICH = "enrich"


@dataclass(frozen=True, slots=True)
class LineageSettings:
    """The settings of the sink.

    Attributes:
        mode: terminal sends whole runs, enrich adds to those of the orchestrator.
        transport: where to, as ``transport`` in the client's ``openlineage.yml``; None leaves it
            to the client's own configuration.
    """

    mode: Mode = Mode.TERMINAL
    transport: Mapping[str, Any] | None = None


def read_settings(settings: Settings) -> LineageSettings:
    """Check the settings.

    Raises:
        ConfigError: one is wrong; the message says what is allowed.
    """
    for name in settings:
        if name not in _ALLOWED:
            alike = get_close_matches(name, _ALLOWED, n=1)
            guess = f"did you mean {alike[0]}? " if alike else ""
            raise ConfigError(
                f"{_WHERE}.{name} is not a setting; {guess}allowed: {', '.join(_ALLOWED)}"
            )
    mode = settings.get("mode", Mode.TERMINAL)
    if mode not in tuple(Mode):
        raise ConfigError(f"{_WHERE}.mode is {mode!r}; allowed: {', '.join(Mode)}")
    return LineageSettings(Mode(mode), _transport(settings.get("transport")))


def _transport(value: object) -> Mapping[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ConfigError(f"{_WHERE}.transport must be a table: [{_WHERE}.transport]")
    transport = cast("Mapping[str, Any]", value)
    kind = transport.get("type")
    if not isinstance(kind, str) or not kind:
        raise ConfigError(
            f"{_WHERE}.transport needs a type, as openlineage.yml has it: http, kafka, file, ..."
        )
    return transport
