"""Alerts that people keep switched on: routed, gathered, and silent where nothing needs doing."""

from __future__ import annotations

from failhook_sinks.alerts.sink import AlertSink

__all__ = ["AlertSink"]
