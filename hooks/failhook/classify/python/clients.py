"""Clients of engines that run elsewhere: Temporal, Flyte, submitit; and tenacity's retries."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
)
from failhook.details import Started

_TEMPORAL: Final = "https://docs.temporal.io/references/failures"
_FLYTE: Final = "https://docs.flyte.org/en/latest/api/flytekit/pure_errors.html"
_SUBMITIT: Final = "https://github.com/facebookincubator/submitit/blob/main/docs/checkpointing.md"
_TENACITY: Final = "https://tenacity.readthedocs.io/en/latest/"

CLIENTS: Final = (
    raised(
        "temporal.non-retryable",
        ("temporalio.ApplicationError", "temporalio.ServerError"),
        APPLICATION,
        "NonRetryable",
        when={"said.non_retryable": True},
        deterministic=True,
        confidence=CONFIRMED,
        because="The author flagged the error as not retryable.",
        source=_TEMPORAL,
    ),
    raised(
        "temporal.application",
        "temporalio.ApplicationError",
        APPLICATION,
        "UserException",
        fallback=True,
        because="The activity's or workflow's own code raised it.",
        source=_TEMPORAL,
    ),
    raised(
        "temporal.worker-shutdown",
        "temporalio.CancelledError",
        INFRA,
        "WorkerShutdown",
        when={"exception.message": like(r"^(?:Activity cancelled: ?)?WORKER_SHUTDOWN$")},
        deterministic=False,
        ended_by_itself=False,
        because="The worker was being shut down, and cancelled the activities that it ran.",
        source="https://docs.temporal.io/develop/worker-performance",
    ),
    raised(
        "temporal.cancelled",
        (
            "temporalio.CancelledError",
            "temporalio.TerminatedError",
            "temporalio.AsyncActivityCancelledError",
        ),
        MANUAL,
        "Cancelled",
        ended_by_itself=False,
        because="Somebody cancelled or terminated the workflow.",
        source=_TEMPORAL,
    ),
    raised(
        "temporal.heartbeat",
        "temporalio.TimeoutError",
        TIMEOUT,
        "HeartbeatTimeout",
        when={"exception.message": like(r"[Hh]eartbeat")},
        ended_by_itself=False,
        because="The activity sent no heartbeat in time: it hung, or its worker is gone.",
        source="https://docs.temporal.io/encyclopedia/detecting-activity-failures",
    ),
    raised(
        "temporal.schedule-to-start",
        "temporalio.TimeoutError",
        INFRA,
        "StartTimeout",
        when={"exception.message": like(r"ScheduleToStart|SCHEDULE_TO_START")},
        started=Started.NO,
        ended_by_itself=False,
        because="No worker took the activity in time.",
        source="https://docs.temporal.io/encyclopedia/detecting-activity-failures",
    ),
    raised(
        "temporal.timeout",
        "temporalio.TimeoutError",
        TIMEOUT,
        "ExecutionTimeout",
        confidence=CONFIRMED,
        ended_by_itself=False,
        because="The server enforced a timeout of the activity or workflow.",
        source="https://docs.temporal.io/encyclopedia/detecting-activity-failures",
    ),
    raised(
        "temporal.nondeterminism",
        "temporalio.NondeterminismError",
        APPLICATION,
        "SpecError",
        deterministic=True,
        because="The workflow's code does not fit its own history.",
        source=_TEMPORAL,
    ),
    raised(
        "temporal.service",
        ("temporalio.RPCError", "temporalio.RPCTimeoutOrCancelledError", "temporalio.ServerError"),
        INFRA,
        "OrchestratorUnreachable",
        executor_side=True,
        because="Temporal's own service did not answer or failed.",
        source=_TEMPORAL,
    ),
    raised(
        "flyte.recoverable",
        ("flytekit.FlyteRecoverableException", "flytekit.FlyteUserRuntimeException"),
        APPLICATION,
        "UserException",
        fallback=True,
        because="The task's own code raised it.",
        source=_FLYTE,
    ),
    raised(
        "flyte.input",
        (
            "flytekit.FlyteUserException",
            "flytekit.FlyteValidationException",
            "flytekit.FlyteTypeException",
            "flytekit.TypeTransformerFailedError",
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="A value does not fit the task's interface.",
        source=_FLYTE,
    ),
    raised(
        "flyte.timeout",
        "flytekit.FlyteTimeout",
        TIMEOUT,
        "ExecutionTimeout",
        because="Flyte enforced a time limit.",
        source=_FLYTE,
    ),
    raised(
        "flyte.system",
        (
            "flytekit.FlyteSystemException",
            "flytekit.FlyteDownloadDataException",
            "flytekit.FlyteUploadDataException",
        ),
        INFRA,
        "OrchestratorUnreachable",
        executor_side=True,
        because="Flyte's own machinery around the task failed.",
        source=_FLYTE,
    ),
    raised(
        "parsl.worker-lost",
        ("parsl.ManagerLost", "parsl.WorkerLost"),
        INFRA,
        "WorkerLost",
        ended_by_itself=False,
        because="The executor stopped hearing of the worker, or of the manager on its node.",
        source="https://parsl.readthedocs.io/en/stable/userguide/workflows/exceptions.html",
    ),
    raised(
        "submitit.walltime",
        ("submitit.UncompletedJobError", "submitit.FailedJobError"),
        TIMEOUT,
        "WalltimeExceeded",
        when={
            "exception.message": like(
                r"timed-out (?:and not checkpointable|too many times)|\(state: TIMEOUT\)"
            )
        },
        confidence=CONFIRMED,
        ended_by_itself=False,
        because="The job reached its wall time and was not resumed.",
        source=_SUBMITIT,
    ),
    raised(
        "submitit.node",
        "submitit.UncompletedJobError",
        INFRA,
        "NodeLost",
        when={
            "exception.message": like(
                r"\(state: (?:NODE_FAIL|BOOT_FAIL)\)|preempted too many times|\(state: PREEMPTED\)"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="The cluster took the node from the job.",
        source=_SUBMITIT,
    ),
    raised(
        "submitit.memory",
        ("submitit.UncompletedJobError", "submitit.FailedJobError"),
        APPLICATION,
        "OutOfMemory",
        when={"exception.message": like(r"\(state: OUT_OF_MEMORY\)|oom[-_ ]kill|Out Of Memory")},
        ended_by_itself=False,
        because="The job passed its memory limit.",
        source=_SUBMITIT,
    ),
    raised(
        "submitit.cancelled",
        ("submitit.UncompletedJobError", "submitit.FailedJobError"),
        MANUAL,
        "Cancelled",
        when={"exception.message": like(r"\(state: CANCELLED|was cancelled")},
        ended_by_itself=False,
        because="Somebody cancelled the job.",
        source=_SUBMITIT,
    ),
    raised(
        "submitit.failed",
        ("submitit.UncompletedJobError", "submitit.FailedJobError"),
        APPLICATION,
        "UserException",
        when={
            "exception.message": like(
                r"failed during processing with trace|Traceback \(most recent call last\)"
            )
        },
        because="The job's own code raised an exception.",
        source=_SUBMITIT,
    ),
    raised(
        "submitit.lost",
        ("submitit.UncompletedJobError", "submitit.FailedJobError"),
        UNKNOWN,
        "WorkerLost",
        confidence=GUESS,
        ended_by_itself=False,
        because="The job ended without a result, and why is not known.",
        source=_SUBMITIT,
    ),
    raised(
        "submitit.submission",
        "submitit.FailedSubmissionError",
        INFRA,
        "SubmitFailure",
        started=Started.NO,
        executor_side=True,
        because="The cluster did not take the job.",
        source=_SUBMITIT,
    ),
    raised(
        "tenacity.gave-up",
        ("tenacity.RetryError", "backoff.PermanentException", "retrying.RetryError"),
        APPLICATION,
        "UserException",
        fallback=True,
        because="The code's own retries are used up; what they met is below.",
        source=_TENACITY,
    ),
)
