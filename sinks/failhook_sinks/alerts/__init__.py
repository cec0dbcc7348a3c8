"""Alerts that people keep switched on: routed, gathered, and silent where nothing needs doing."""

from __future__ import annotations
