"""Why a task failed, who should hear of it, and whose retry it costs.

Everything is imported on first use: ``import failhook`` loads nothing but this module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from failhook.decision import Action, Charge, Decision
    from failhook.details import Confidence, FailureDetails, Kind, Started
    from failhook.error_info import ErrorInfo
    from failhook.errors import FailhookError, StartRefused, TaskError, Undelivered
    from failhook.event import FailureEvent
    from failhook.evidence import Evidence
    from failhook.manager import Manager
    from failhook.pipeline import Pipeline
    from failhook.plugin import hookimpl
    from failhook.policy import Backoff, Policy
    from failhook.task import Task

__all__ = [
    "Action",
    "Backoff",
    "Charge",
    "Confidence",
    "Decision",
    "ErrorInfo",
    "Evidence",
    "FailhookError",
    "FailureDetails",
    "FailureEvent",
    "Kind",
    "Manager",
    "Pipeline",
    "Policy",
    "StartRefused",
    "Started",
    "Task",
    "TaskError",
    "Undelivered",
    "hookimpl",
]

_MODULES: Final = {
    "Action": "decision",
    "Backoff": "policy",
    "Charge": "decision",
    "Confidence": "details",
    "Decision": "decision",
    "ErrorInfo": "error_info",
    "Evidence": "evidence",
    "FailhookError": "errors",
    "FailureDetails": "details",
    "FailureEvent": "event",
    "Kind": "details",
    "Manager": "manager",
    "Pipeline": "pipeline",
    "Policy": "policy",
    "StartRefused": "errors",
    "Started": "details",
    "Task": "task",
    "TaskError": "errors",
    "Undelivered": "errors",
    "hookimpl": "plugin",
}


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        msg = f"module 'failhook' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"failhook.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
