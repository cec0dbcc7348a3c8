"""What ``[plugins.openlineage]`` may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from failhook.plugin import Settings, SettingsTable


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
    table = SettingsTable(settings, "plugins", "openlineage")
    mode = Mode(table.choice("mode", tuple(Mode), Mode.TERMINAL))
    transport = table.table("transport")
    table.done()
    if transport is None:
        return LineageSettings(mode)
    if not isinstance(transport.value("type"), str):
        raise transport.error(
            "type", "must be a type as openlineage.yml has it: http, kafka, file, ..."
        )
    return LineageSettings(mode, cast("Mapping[str, Any]", table.value("transport")))
