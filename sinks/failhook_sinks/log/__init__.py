"""The log: one readable line and one structured record per event."""

from __future__ import annotations

from failhook_sinks.log.sink import LogSink

__all__ = ["LogSink"]
