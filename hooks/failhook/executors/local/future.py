"""The handle on a submitted task."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from failhook.executors.local.outcome import Outcome
from failhook.executors.local.stop import CancelAction, Stop, StopRequest

T = TypeVar("T")


class TaskFuture(Future[T]):
    """A `concurrent.futures.Future` over all attempts of one task.

    `result` raises `TaskFailed` or `TaskHeld` with verdict and decision, `StartRefused` when the
    task may not run, `StoreError` when the store could not be written, and `ExecutorClosed`.

    Attributes:
        outcome: how the last attempt ended; None before, and where there was none to report.
    """

    outcome: Outcome | None

    def __init__(self, request: StopRequest, wake: Callable[[], None]) -> None:
        super().__init__()
        self.outcome = None
        self._request = request
        self._wake = wake

    def cancel(self, actor: str | None = None, action: CancelAction = "cancel") -> bool:
        """Ask for the end of the task: it is reported as manual, even if it then ends cleanly.

        Args:
            actor: who asks.
            action: what is reported: that somebody cancelled it, marked it failed, or interrupted
                the program that runs it.

        Returns:
            False when the task is over already.
        """
        if self.done():
            return False
        self._request.ask(Stop("cancel", actor, action))
        self._wake()
        return True
