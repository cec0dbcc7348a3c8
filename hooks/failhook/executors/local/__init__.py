"""The standalone executor: callables and commands in child processes, retried as the gate says.

Everything is imported on first use, because the child processes import parts of this package and
must be quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from failhook.executors.local.errors import (
        ExecutorClosed,
        TaskFailed,
        TaskHeld,
        UnguardedMainError,
    )
    from failhook.executors.local.executor import LocalExecutor
    from failhook.executors.local.future import TaskFuture
    from failhook.executors.local.outcome import Outcome, State
    from failhook.executors.local.stops import (
        ExecutorShutdown,
        TaskCancelled,
        TaskDeadline,
        TaskStopped,
    )

__all__ = [
    "ExecutorClosed",
    "ExecutorShutdown",
    "LocalExecutor",
    "Outcome",
    "State",
    "TaskCancelled",
    "TaskDeadline",
    "TaskFailed",
    "TaskFuture",
    "TaskHeld",
    "TaskStopped",
    "UnguardedMainError",
]

_MODULES: Final = {
    "ExecutorClosed": "errors",
    "ExecutorShutdown": "stops",
    "LocalExecutor": "executor",
    "Outcome": "outcome",
    "State": "outcome",
    "TaskCancelled": "stops",
    "TaskDeadline": "stops",
    "TaskFailed": "errors",
    "TaskFuture": "future",
    "TaskHeld": "errors",
    "TaskStopped": "stops",
    "UnguardedMainError": "errors",
}


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
