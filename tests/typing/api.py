"""What a user's type checker sees of the public names: mypy and pyright check it, none runs it."""

from __future__ import annotations

from typing import assert_type

from failhook import (
    Decision,
    ErrorInfo,
    Evidence,
    FailureDetails,
    FailureEvent,
    Kind,
    Policy,
    Task,
    TaskError,
    Undelivered,
    hookimpl,
)

task = Task("nightly", "load", policy=Policy(retries=2, max_infra_refunds=3))
assert_type(task.next_attempt(), Task)
assert_type(task.key, str)
assert_type(Evidence.returncode(-9), Evidence)
assert_type(Evidence.exception(TaskError("no such table", deterministic=True)), Evidence)


class OldListener:
    """Written before the verdict existed."""

    @hookimpl
    def on_task_failed(self, task: Task, error: ErrorInfo | None) -> None:
        """Take what was there then."""
        assert_type(error, ErrorInfo | None)


class Listener:
    """Names what it wants, and every name has its type."""

    @hookimpl
    def on_task_failed(
        self,
        failure_details: FailureDetails,
        decision: Decision,
        event: FailureEvent,
    ) -> None:
        """Read a verdict and a decision."""
        assert_type(failure_details.kind, Kind)
        assert_type(decision.retry, bool)
        assert_type(event.failure_details, FailureDetails)
        raise Undelivered("later", retryable=True, retry_after=30.0)

    @hookimpl
    def classify_failure(self, task: Task, evidence: Evidence) -> FailureDetails | None:
        """Leave the verdict to the others."""
        return None
