"""Which plugins a process with these settings would hold."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from failhook.config import Config
from failhook.pipeline.configured import is_wanted

GROUP: Final = "failhook"


def held_here(config: Config) -> set[str]:
    """Return the names of the plugins that a pipeline loads, or would if it could."""
    offered = {each.name for each in entry_points(group=GROUP) if is_wanted(each, config)}
    return {*offered, *config.plugins} - {*config.blocked}
