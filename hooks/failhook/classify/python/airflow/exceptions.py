"""Airflow's own exception classes, of Airflow 2 (`airflow.exceptions`) and 3 (`airflow.sdk`)."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    TIMEOUT,
    UNKNOWN,
    Tier,
)

_DOCS: Final = "https://airflow.apache.org/docs/apache-airflow/stable"
_EXCEPTIONS: Final = f"{_DOCS}/core-concepts/tasks.html#special-exceptions"
_TIMEOUTS: Final = f"{_DOCS}/core-concepts/tasks.html#timeouts"
_SDK: Final = "https://github.com/apache/airflow/blob/main/task-sdk/src/airflow/sdk/exceptions.py"
_CORE: Final = "https://github.com/apache/airflow/blob/main/airflow-core/src/airflow/exceptions.py"
_CELERY: Final = (
    "https://github.com/apache/airflow/blob/main/providers/celery/src/airflow/providers/celery"
    "/executors/celery_executor_utils.py"
)
_EXCEPTION: Final = ("airflow.AirflowException", "str")
_SIGTERM: Final = f"{_DOCS}/troubleshooting.html"

EXCEPTIONS: Final = (
    raised(
        "airflow.sensor-timeout",
        "airflow.AirflowSensorTimeout",
        TIMEOUT,
        "SensorTimeout",
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="The sensor's own time limit was over.",
        source=_TIMEOUTS,
    ),
    raised(
        "airflow.execution-timeout",
        ("airflow.AirflowTaskTimeout", "airflow.TaskDeferralTimeout", "airflow.timeout"),
        TIMEOUT,
        "ExecutionTimeout",
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="Airflow enforced the task's time limit.",
        source=_TIMEOUTS,
    ),
    raised(
        "airflow.deferral-timeout",
        "airflow.TaskDeferralError",
        TIMEOUT,
        "ExecutionTimeout",
        when={"exception.message": like(r"[Tt]rigger(?:/execution)? timeout|timed out")},
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="The time limit of the deferred task was over.",
        source=_TIMEOUTS,
    ),
    raised(
        "airflow.fail",
        "airflow.AirflowFailException",
        APPLICATION,
        "NonRetryable",
        deterministic=True,
        confidence=CONFIRMED,
        because="The author raised the exception that asks for no retry.",
        source=_EXCEPTIONS,
    ),
    raised(
        "airflow.task-terminated",
        "airflow.AirflowTaskTerminated",
        UNKNOWN,
        "Terminated",
        confidence=GUESS,
        ended_by_itself=False,
        because="The task got SIGTERM; who asked for it is not in the evidence.",
        source=_SIGTERM,
    ),
    raised(
        "airflow.task-terminated.message",
        _EXCEPTION,
        UNKNOWN,
        "Terminated",
        when={"exception.message": like(r"^Task received SIGTERM signal")},
        confidence=GUESS,
        ended_by_itself=False,
        because="The task got SIGTERM; who asked for it is not in the evidence.",
        source=_SIGTERM,
    ),
    raised(
        "airflow.pid-mismatch",
        _EXCEPTION,
        INFRA,
        "DuplicateExecution",
        when={
            "exception.message": has(
                "PID of job runner does not match",
                "PID recorded is the same as current PID",
                "Hostname of job runner does not match",
            )
        },
        deterministic=False,
        ended_by_itself=False,
        because="Another process runs this attempt, by Airflow's own bookkeeping.",
        source=_SIGTERM,
    ),
    raised(
        "airflow.heartbeat-failed",
        _EXCEPTION,
        INFRA,
        "HeartbeatTimeout",
        when={"exception.message": like(r"^Time since last heartbeat\(")},
        ended_by_itself=False,
        because="The task's supervisor could not report that it lives, and ended the task.",
        source=f"{_DOCS}/core-concepts/tasks.html#zombie-undead-tasks",
    ),
    raised(
        "airflow.code-not-found",
        (
            *("airflow.DagNotFound", "airflow.TaskNotFound", "airflow.DagCodeNotFound"),
            *("airflow.AirflowDagInconsistent", "airflow.AirflowFileParseException"),
            *("airflow.AirflowUnsupportedFileTypeException", "airflow.AirflowPluginException"),
            *("airflow.AirflowOptionalProviderFeatureException", "airflow.NodeNotFound"),
        ),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="Where the task ran, its code is missing or cannot be loaded.",
        source=_CORE,
    ),
    raised(
        "airflow.code-not-found.message",
        (*_EXCEPTION, "ValueError"),
        APPLICATION,
        "CodeLoadError",
        when={
            "exception.message": like(
                r"dag_id could not be found|Either the dag did not exist or it failed to parse"
                r"|^Dag '?[\w.\-]{1,200}'? (?:could not be found|is not found)|^Failed to find task"
            )
        },
        deterministic=True,
        because="Where the task ran, its DAG is missing or does not parse.",
        source=f"{_DOCS}/troubleshooting.html",
    ),
    raised(
        "airflow.definition",
        (
            *("airflow.AirflowDagCycleException", "airflow.DuplicateTaskIdFound"),
            *("airflow.AirflowDagDuplicatedIdException", "airflow.AirflowTimetableInvalid"),
            *("airflow.AirflowClusterPolicyViolation", "airflow.AirflowClusterPolicyError"),
            *("airflow.TaskAlreadyInTaskGroup", "airflow.FailStopDagInvalidTriggerRule"),
            *("airflow.FailFastDagInvalidTriggerRule", "airflow.UnmappableOperator"),
            *("airflow.UnknownExecutorException", "airflow.PodMutationHookException"),
        ),
        APPLICATION,
        "SpecError",
        deterministic=True,
        because="The DAG's or task's definition is not allowed as it is.",
        source=_CORE,
    ),
    raised(
        "airflow.input",
        (
            *("airflow.ParamValidationError", "airflow.AirflowBadRequest"),
            *("airflow.AirflowConfigException", "airflow.AirflowNotFoundException"),
            *("airflow.AirflowInactiveAssetInInletOrOutletException", "airflow.XComNotFound"),
            *("airflow.XComForMappingNotPushed", "airflow.UnmappableXComTypePushed"),
            *("airflow.UnmappableXComLengthPushed", "airflow.InvalidPartitionKeyError"),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="A parameter, connection, variable or mapped value is missing or wrong.",
        source=_CORE,
    ),
    raised(
        "airflow.secrets-denied",
        "airflow.AirflowSecretsBackendAccessDenied",
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The secrets backend refused the access.",
        source=_SDK,
    ),
    raised(
        "airflow.serialization",
        (
            "airflow.SerializationError",
            "airflow.DeserializingResultError",
            "airflow.DeserializationError",
        ),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="A value of the task or its DAG cannot be serialised.",
        source=_CORE,
    ),
    raised(
        "airflow.api.state-conflict",
        ("airflow.AirflowRuntimeError", "airflow.ServerResponseError"),
        INFRA,
        "StateReportConflict",
        when={
            "exception.message": like(
                r"'?status_code'?: 409\b[^\n]{0,400}invalid_state"
                r"|invalid_state[^\n]{0,400}previous_state"
            )
        },
        deterministic=False,
        because="The task finished, and its report collided with a state already stored.",
        source=f"{_DOCS}/core-concepts/executor/index.html",
        next_step="Look into the API server's log for two reports of one attempt.",
    ),
    raised(
        "airflow.api.not-found",
        "airflow.AirflowRuntimeError",
        APPLICATION,
        "InvalidInput",
        when={
            "exception.message": like(
                r"^(?:CONNECTION|VARIABLE|XCOM|ASSET|TASK_STORE|ASSET_STORE)_NOT_FOUND\b"
            )
        },
        deterministic=True,
        because="The task asked for a connection, variable or value that does not exist.",
        source=_SDK,
    ),
    raised(
        "airflow.api.denied",
        "airflow.AirflowRuntimeError",
        APPLICATION,
        "PermissionDenied",
        when={"exception.message": like(r"^PERMISSION_DENIED\b")},
        deterministic=True,
        because="The task may not read this connection, variable or value.",
        source=_SDK,
    ),
    raised(
        "airflow.api.already-exists",
        "airflow.AirflowRuntimeError",
        APPLICATION,
        "RemoteRejected",
        when={"exception.message": like(r"^DAGRUN_ALREADY_EXISTS\b")},
        deterministic=True,
        because="The run that the task wanted to start exists already.",
        source=_SDK,
    ),
    raised(
        "airflow.api.refused",
        ("airflow.AirflowRuntimeError", "airflow.ServerResponseError"),
        UNKNOWN,
        "RemoteRejected",
        when={
            "exception.message": like(r"'?status_code'?: 4(?:0[0245]|1\d|22)\b|^GENERIC_ERROR\b")
        },
        confidence=GUESS,
        because="Airflow's API refused a request: the task's own, or its supervisor's.",
        source=_SDK,
    ),
    raised(
        "airflow.api.error",
        ("airflow.AirflowRuntimeError", "airflow.ServerResponseError"),
        INFRA,
        "OrchestratorUnreachable",
        executor_side=True,
        because="Airflow's own API server failed or refused the supervisor's request.",
        source=_SDK,
    ),
    raised(
        "airflow.batch-host",
        _EXCEPTION,
        INFRA,
        "HostEC2Terminated",
        when={
            "exception.message": like(
                r"^AWS Batch job[^\n]{0,400}'statusReason': 'Host EC2 \(instance [\w-]{1,40}\)"
            )
        },
        deterministic=False,
        ended_by_itself=False,
        next_step="Nothing, if the machine was a spot instance; else look at its fleet.",
        because="The record that the operator quotes says that AWS Batch lost the machine.",
        source="https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",
    ),
    raised(
        "airflow.bash-failed",
        _EXCEPTION,
        APPLICATION,
        "RemoteTransient",
        when={
            "exception.message": like(r"^Bash command failed"),
            "log": like(
                r"Deadlock found when trying to get lock|deadlock detected"
                r"|Lock wait timeout exceeded"
                r"|Connection (?:refused|reset by peer)|Temporary failure in name resolution"
                r"|\bTry again later\b|Service Unavailable"
            ),
        },
        deterministic=False,
        because="The command's own output shows a passing trouble of a service that it called.",
        source=f"{_DOCS}/howto/operator/bash.html",
    ),
    raised(
        "airflow.command-failed",
        _EXCEPTION,
        APPLICATION,
        "ChildProcessFailed",
        when={
            "exception.message": like(
                r"^Bash command failed|^Cannot execute: \[?|^Process returned non-zero exit status"
                r"|^SSH operator error: exit status|^SSH command timed out|[Ee]rror code is: \d"
            )
        },
        because="A command that the task ran returned an error.",
        source=f"{_DOCS}/howto/operator/bash.html",
    ),
    raised(
        "airflow.celery-command-failed",
        _EXCEPTION,
        UNKNOWN,
        "GenericExit",
        when={"exception.message": like(r"^Celery command failed\b")},
        confidence=GUESS,
        fallback=True,
        because="The executor's wrapper says only that the inner process failed.",
        source=_CELERY,
    ),
    raised(
        "airflow.upstream-failed",
        _EXCEPTION,
        APPLICATION,
        "UpstreamFailed",
        when={
            "exception.message": like(
                r"failed with failed states?\b|^The external (?:task|DAG)[^\n]{0,300} failed\."
                r"|^Some of the external tasks[^\n]{0,500} failed"
                r"|^External task (?:group )?[^\n]{0,300}failed"
            )
        },
        because="What this task waits for has failed.",
        source=f"{_DOCS}/howto/operator/external_task_sensor.html",
    ),
    raised(
        "airflow.trigger-failed",
        "airflow.TaskDeferralError",
        APPLICATION,
        "UserException",
        confidence=LIKELY,
        fallback=True,
        because="The trigger that the deferred task waits on raised an error.",
        source=f"{_DOCS}/authoring-and-scheduling/deferring.html",
    ),
)
