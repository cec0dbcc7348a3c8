"""How a task ended, in one object, and what its future raises for it."""

from __future__ import annotations

from dataclasses import dataclass
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
        details: the verdict on the last attempt, None after a success.
        decision: the gate's word on it, None after a success.
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


def conclude(pipeline: Pipeline, ended: Ended) -> tuple[Outcome, FailhookError | None]:
    """Return the outcome of a task after its last attempt, and the error that says so.

    Raises:
        StoreError: the verdict cannot be read.
    """
    task, decision = ended.task, ended.decision
    if decision is None:
        return Outcome(
            task=task,
            state=State.SUCCEEDED,
            value=ended.value,
            exit_code=ended.exit_code,
            suspect=ended.evidence is not None,
            output=ended.output,
        ), None
    with pipeline.store.transaction() as ledger:
        attempt = ledger.attempt(task.attempt_key)
    if attempt is None or attempt.details is None:
        msg = f"the store has forgotten the attempt {task.attempt_key}, which was just reported"
        raise StoreError(msg)
    error = None if ended.evidence is None else ended.evidence.error
    if decision.retry:
        state: State = State.INTERRUPTED
        raised: FailhookError = ExecutorClosed(f"the executor was closed; {decision.message}")
    else:
        held = decision.action is Action.HOLD
        state = State.HELD if held else State.FAILED
        raised = (TaskHeld if held else TaskFailed)(task, attempt.details, decision, error)
    return Outcome(
        task=task,
        state=state,
        details=attempt.details,
        decision=decision,
        error=error,
        exit_code=ended.exit_code,
        output=ended.output,
    ), raised
