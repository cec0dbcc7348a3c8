"""What the executor raises in a task that must stop; a task may catch it and end cleanly."""

from __future__ import annotations


class TaskStopped(BaseException):
    """The executor asks this task to stop; unless it ends within the grace time, it is killed.

    It is no `Exception`, so that a loop which survives every error does not survive this one.
    """


class TaskDeadline(TaskStopped):
    """The task has used up its time. One that catches this and returns has succeeded."""


class TaskCancelled(TaskStopped):
    """Somebody cancelled the task."""


class ExecutorShutdown(TaskStopped):
    """The executor shuts down. One that catches this and returns is a suspect success."""


DEADLINE = b"D"
CANCEL = b"C"
SHUTDOWN = b"S"
"""What the executor writes before it sends SIGTERM, so that the child knows who sent it."""

RAISES = {DEADLINE: TaskDeadline, CANCEL: TaskCancelled, SHUTDOWN: ExecutorShutdown}
