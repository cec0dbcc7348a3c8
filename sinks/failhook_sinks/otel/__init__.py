"""Traces, metrics and logs: every failed attempt as a span that says why. Extra: ``otel``."""

from __future__ import annotations

from failhook_sinks.otel.sink import OtelSink

__all__ = ["OtelSink"]
