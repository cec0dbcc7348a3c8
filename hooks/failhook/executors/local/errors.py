"""What a future raises when its task did not succeed."""

from __future__ import annotations

from failhook.decision import Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.errors import FailhookError
from failhook.task import Task


class TaskFailed(FailhookError, RuntimeError):  # noqa: N818 - an outcome, named as the field names it
    """The task has failed for good; it carries the verdict and the decision.

    Attributes:
        task: the last attempt.
        details: why it failed.
        decision: why it does not run again.
        error: what the task raised, where it could report.
    """

    def __init__(
        self,
        task: Task,
        details: FailureDetails,
        decision: Decision,
        error: ErrorInfo | None = None,
    ) -> None:
        self.task = task
        self.details = details
        self.decision = decision
        self.error = error
        what = details.message or (error.message if error is not None else "")
        super().__init__(
            f"{task.workflow}/{task.name}, attempt {task.attempt}: "
            f"{details.kind} {details.reason}{': ' if what else ''}{what}\n{decision.message}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.task, self.details, self.decision, self.error)


class TaskHeld(TaskFailed):
    """The task's outcome is in doubt, and it may not run twice: somebody must resolve it."""


class ExecutorClosed(FailhookError, RuntimeError):  # noqa: N818 - as TaskFailed
    """The executor was closed before the task's outcome; the same key may be submitted again."""


class UnguardedMainError(FailhookError, ImportError):
    """A program submits tasks while a task's process loads it, so each would start the next."""
