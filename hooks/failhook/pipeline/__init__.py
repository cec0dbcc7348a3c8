"""The one place that wires evidence, classifier, gate, store, outbox and plugins together."""

from __future__ import annotations

from failhook.pipeline.pipeline import Dispatch, Pipeline
from failhook.pipeline.records import Resolution

__all__ = ["Dispatch", "Pipeline", "Resolution"]
