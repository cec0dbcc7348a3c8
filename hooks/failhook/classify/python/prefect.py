"""Prefect 2 and 3: crashed runs, infrastructure, cancellation, its own API."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, has, like, one_of
from failhook.classify.python import engines
from failhook.classify.python.engines import SAID
from failhook.classify.python.prefect_workers import WORKERS
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Tier,
)

_STATES: Final = "https://docs.prefect.io/v3/concepts/states"
_SOURCE: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/states.py"
_EXIT: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/_internal/infrastructure_exit_codes.py"
_WORKER: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/workers/base.py"
_API_ERRORS: Final = (
    *("httpx.TimeoutException", "httpx.ConnectError", "httpx.ReadTimeout", "httpx.ConnectTimeout"),
    *("httpx.TransportError", "httpx.HTTPStatusError", "prefect.PrefectHTTPStatusError"),
)
_CANCELLED: Final = ("asyncio.CancelledError", "CancelledError", "anyio.Cancelled")
_MESSAGE: Final = "state.message"

PREFECT: Final = (
    raised(
        "prefect.timeout",
        (
            "prefect.TaskRunTimeoutError",
            "prefect.FlowRunTimeoutError",
            "prefect.TaskTimeoutError",
            "prefect.TaskTimeoutSignal",
        ),
        TIMEOUT,
        "ExecutionTimeout",
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="Prefect enforced timeout_seconds.",
        source="https://docs.prefect.io/v3/develop/write-tasks",
    ),
    Rule(
        id="prefect.timeout.state",
        tier=Tier.DEADLINE,
        when={"state.name": "TimedOut"},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        confidence=CONFIRMED,
        because="Prefect enforced timeout_seconds.",
        source=_STATES,
    ),
    Rule(
        id="prefect.timeout.message",
        tier=Tier.DEADLINE,
        when={_MESSAGE: like(r"^(?:Task|Flow) run exceeded timeout of |run failed due to timeout")},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        confidence=CONFIRMED,
        because="Prefect enforced timeout_seconds.",
        source=_STATES,
    ),
    Rule(
        id="prefect.cancelled.state",
        tier=Tier.CANCEL,
        when={"state.state_type": one_of("CANCELLED", "CANCELLING")},
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody cancelled the run.",
        source=_STATES,
    ),
    Rule(
        id="prefect.cancelled.logged",
        tier=Tier.CANCEL,
        when={
            "log": like(
                r"flow runs? awaiting cancellation|Received cancellation request for flow run"
                r"|Flow run was cancelled\b|is cancelling, marking as cancelled"
            )
        },
        kind=MANUAL,
        reason="Cancelled",
        because="A cancellation was waiting, and the worker carried it out.",
        source="https://docs.prefect.io/v3/develop/cancel",
    ),
    raised(
        "prefect.api.server-error",
        "prefect.PrefectHTTPStatusError",
        INFRA,
        "OrchestratorUnreachable",
        when={"exception.status": between(500, 599)},
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="Prefect's own API answered that it had failed.",
        source=_WORKER,
    ),
    raised(
        "prefect.cancelled.run",
        "prefect.CancelledRun",
        MANUAL,
        "Cancelled",
        because="The run that this one waits for was cancelled.",
        source=_STATES,
    ),
    raised(
        "prefect.termination-signal",
        "prefect.TerminationSignal",
        UNKNOWN,
        "Terminated",
        confidence=GUESS,
        ended_by_itself=False,
        because="SIGTERM comes both when a user cancels and when a pod is evicted.",
        source=_SOURCE,
    ),
    raised(
        "prefect.cancelled.by-runtime",
        _CANCELLED,
        UNKNOWN,
        "Cancelled",
        when={_MESSAGE: has("cancelled by the runtime environment")},
        confidence=GUESS,
        ended_by_itself=False,
        because="The runtime cancelled the run, and who asked for that is not known.",
        source=_SOURCE,
    ),
    *WORKERS,
    raised(
        "prefect.api.crash",
        _API_ERRORS,
        INFRA,
        "OrchestratorUnreachable",
        when={"log": has("Crash detected! Execution was interrupted")},
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The engine crashed outside the flow's code while it called its own API.",
        source=_SOURCE,
    ),
    raised(
        "prefect.api.crash.state",
        _API_ERRORS,
        INFRA,
        "OrchestratorUnreachable",
        when={"state.state_type": "CRASHED"},
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="Prefect marks a run as crashed when the error arose outside the flow's code.",
        source=_STATES,
    ),
    Rule(
        id="prefect.api.message",
        tier=Tier.DISRUPTION,
        when={
            _MESSAGE: like(
                r"^Request failed while attempting to contact the server"
                r"|^Request to http\S{1,300} failed:"
            )
        },
        kind=INFRA,
        reason="OrchestratorUnreachable",
        deterministic=False,
        executor_side=True,
        because="The engine did not reach its own API.",
        source=_SOURCE,
    ),
    Rule(
        id="prefect.heartbeat",
        tier=Tier.DISRUPTION,
        when={
            "words": like(
                rf"{SAID}(?:No heartbeat detected from the (?:remote task|flow)"
                r"|Flow run marked as crashed due to missing heartbeats)"
                r"|\bby a (?:Zombie Killer|Lazarus) process\b"
            ),
            "system": engines.PREFECT,
        },
        kind=INFRA,
        reason="HeartbeatTimeout",
        because="The run was not heard of any more.",
        source="https://docs.prefect.io/v3/advanced/detect-zombie-flows",
    ),
    Rule(
        id="prefect.pod-evicted",
        tier=Tier.DISRUPTION,
        when={
            "state.state_type": "CRASHED",
            _MESSAGE: like(r"^Pod was evicted: The node (?:was low on resource|had condition)"),
        },
        kind=INFRA,
        reason="Evicted",
        deterministic=False,
        because="The cluster evicted the pod of the run for want of something on the node.",
        source=_WORKER,
    ),
    raised(
        "prefect.infrastructure.gone",
        (
            "prefect.InfrastructureNotFound",
            "prefect.InfrastructureNotAvailable",
            "prefect.InfrastructureError",
        ),
        INFRA,
        "WorkerLost",
        ended_by_itself=False,
        because="The machine of the run is gone or out of the worker's reach.",
        source=_WORKER,
    ),
    raised(
        "prefect.parameters",
        (
            *("prefect.ParameterTypeError", "prefect.ParameterBindError"),
            *("prefect.SignatureMismatchError", "prefect.ReservedArgumentError"),
            *("prefect.MappingLengthMismatch", "prefect.MappingMissingIterable"),
            *("prefect.ConfigurationError", "prefect.ProfileSettingsValidationError"),
            *("prefect.InvalidNameError", "prefect.ValidationError"),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The parameters do not fit the flow or task.",
        source="https://docs.prefect.io/v3/develop/write-flows",
    ),
    raised(
        "prefect.code",
        (
            *("prefect.ScriptError", "prefect.MissingFlowError", "prefect.UnspecifiedFlowError"),
            *("prefect.PrefectImportError", "prefect.FlowScriptError"),
        ),
        APPLICATION,
        "CodeLoadError",
        because="The flow's code is not there or cannot be loaded.",
        source="https://docs.prefect.io/v3/deploy",
    ),
    raised(
        "prefect.serialisation",
        ("prefect.SerializationError", "prefect.HashError", "prefect.EventTooLarge"),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="A result or parameter cannot be serialised.",
        source="https://docs.prefect.io/v3/develop/results",
    ),
    raised(
        "prefect.missing-result",
        "prefect.MissingResult",
        APPLICATION,
        "ResultLost",
        because="The result of an earlier run is not stored any more.",
        source="https://docs.prefect.io/v3/develop/results",
    ),
    raised(
        "prefect.upstream",
        (
            "prefect.UpstreamTaskError",
            "prefect.FailedRun",
            "prefect.UnfinishedRun",
            "prefect.TRIGGERFAIL",
        ),
        APPLICATION,
        "UpstreamFailed",
        because="A run that this one waits for has failed.",
        source=_STATES,
    ),
    raised(
        "prefect.crashed-run",
        "prefect.CrashedRun",
        UNKNOWN,
        "UpstreamFailed",
        confidence=GUESS,
        fallback=True,
        because="A run that this one waits for has crashed; its own record tells more.",
        source=_STATES,
    ),
    raised(
        "prefect.object-not-found",
        ("prefect.ObjectNotFound", "prefect.ObjectAlreadyExists", "prefect.ObjectLimitReached"),
        APPLICATION,
        "RemoteRejected",
        because="Prefect's API refused what the flow asked for.",
        source="https://docs.prefect.io/v3/api-ref/rest-api",
    ),
    raised(
        "prefect.abort",
        ("prefect.Abort", "prefect.Pause", "prefect.PrefectSignal"),
        UNKNOWN,
        "Terminated",
        confidence=GUESS,
        ended_by_itself=False,
        because="The orchestrator aborted or paused the run.",
        source=_SOURCE,
    ),
)
