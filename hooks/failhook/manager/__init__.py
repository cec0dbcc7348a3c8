"""Plugins: registered with checks, each called alone, watched, and never trusted."""

from __future__ import annotations

from failhook.manager.health import PluginHealth
from failhook.manager.limits import Limits
from failhook.manager.manager import Manager
from failhook.manager.outcome import Call, Outcome, Status
from failhook.manager.provisions import Provisions

__all__ = ["Call", "Limits", "Manager", "Outcome", "PluginHealth", "Provisions", "Status"]
