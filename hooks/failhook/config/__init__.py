"""Settings: ``failhook.toml`` and some ``FAILHOOK_*`` variables; errors name file, line and key."""

from __future__ import annotations

from failhook.config.load import load_config
from failhook.config.settings import Config, DeliverySettings

__all__ = ["Config", "DeliverySettings", "load_config"]
