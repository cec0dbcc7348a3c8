"""How a task ended, in one object, and what its future raises for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from failhook.decision import Action, Decision
from failhook.details import FailureDetails
from failhook.error_info import ErrorInfo
from failhook.errors import FailhookError, StoreError
from failhook.executors.local.attempt import Ended
from failhook.executors.local.errors import ExecutorClosed, TaskFailed, TaskHeld
from failhook.pipeline import Pipeline
from failhook.task import Task


class State(StrEnum):
    """How a task ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    HELD = "held"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a task ended, after its last attempt.

    Attributes:
        task: the last attempt.
        state: succeeded, failed, held, or interrupted by the executor's end.
        value: what a callable returned.
        details: the verdict on the last attempt; None after a success, and where the executor ended
            before the store could be told of a failure.
        decision: the gate's word on it, None where there is no verdict.
        error: what the task raised, where it could report.
        exit_code: the last process's status as `subprocess` gives it; None without a process.
        suspect: a kill was seen although the task reported success.
        output: the end of the output, where it was asked for.
    """

    task: Task
    state: State
    value: Any = None
    details: FailureDetails | None = None
    decision: Decision | None = None
    error: ErrorInfo | None = None
    exit_code: int | None = None
    suspect: bool = False
    output: str = ""


def conclude(ended: Ended, details: FailureDetails | None) -> tuple[Outcome, FailhookError | None]:
    """Return the outcome of a task after its last attempt, and the error that says so.

    Args:
        ended: the attempt.
        details: the verdict on it, None after a success and where the store does not know of it.
    """
    decision = ended.decision
    error = None if ended.evidence is None else ended.evidence.error
    outcome = Outcome(
        task=ended.task,
        state=State.SUCCEEDED,
        value=ended.value,
        details=details,
        decision=decision,
        error=None if ended.succeeded else error,
        exit_code=ended.exit_code,
        suspect=ended.succeeded and ended.evidence is not None,
        output=ended.output,
    )
    if ended.succeeded:
        return outcome, None
    if decision is None or details is None:
        return replace(outcome, state=State.INTERRUPTED), ended.unrecorded
    if decision.retry:
        closed = ExecutorClosed(f"the executor was closed; {decision.message}")
        return replace(outcome, state=State.INTERRUPTED), closed
    held = decision.action is Action.HOLD
    raised = (TaskHeld if held else TaskFailed)(ended.task, details, decision, error)
    return replace(outcome, state=State.HELD if held else State.FAILED), raised


def verdict(pipeline: Pipeline, task: Task) -> FailureDetails:
    """Return what the ledger holds of a failed attempt.

    Raises:
        StoreError: the verdict cannot be read.
    """
    with pipeline.store.transaction() as ledger:
        attempt = ledger.attempt(task.attempt_key)
    if attempt is None or attempt.details is None:
        msg = f"the store has forgotten the attempt {task.attempt_key}, which was just reported"
        raise StoreError(msg)
    return attempt.details
