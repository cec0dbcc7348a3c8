"""The one place that wires evidence, classifier, gate, store, outbox and plugins together."""

from __future__ import annotations

from failhook.pipeline.pipeline import Dispatch, Pipeline
from failhook.pipeline.records import Resolution
from failhook.pipeline.restart import Granted

__all__ = ["Dispatch", "Granted", "Pipeline", "Resolution"]
