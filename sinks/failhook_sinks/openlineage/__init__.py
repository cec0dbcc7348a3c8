"""Lineage: every failed attempt as a run that says why it failed. Extra: ``openlineage``."""

from __future__ import annotations

from failhook_sinks.openlineage.sink import OpenLineageSink

__all__ = ["OpenLineageSink"]
