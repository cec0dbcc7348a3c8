"""From what is known of an attempt to the event that may leave the core."""

from __future__ import annotations

from failhook.event_build.build import build_event, redacted_task

__all__ = ["build_event", "redacted_task"]
