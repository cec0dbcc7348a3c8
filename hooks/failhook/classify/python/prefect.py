"""Prefect 2 and 3: crashed runs, infrastructure, cancellation, its own API."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, has, like, one_of
from failhook.classify.python import engines
from failhook.classify.python.engines import SAID
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
from failhook.details import Started

_STATES: Final = "https://docs.prefect.io/v3/concepts/states"
_SOURCE: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/states.py"
_EXIT: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/_internal/infrastructure_exit_codes.py"
_WORKER: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/workers/base.py"
_API_ERRORS: Final = (
    *("httpx.TimeoutException", "httpx.ConnectError", "httpx.ReadTimeout", "httpx.ConnectTimeout"),
    *("httpx.TransportError", "httpx.HTTPStatusError", "prefect.PrefectHTTPStatusError"),
)
_CANCELLED: Final = ("asyncio.CancelledError", "CancelledError", "anyio.Cancelled")
_SUBMIT: Final = (
    r"(?:Failed to submit flow run\b"
    r"|Flow run (?:\S{1,80} )?could not be submitted to infrastructure"
    r"|Submission failed\.)"
)
_SUBMIT_LOGGED: Final = like(rf"{SAID}{_SUBMIT}")
_MONITORING: Final = like(rf"{SAID}An error occurred while monitoring flow run\b")
_OF_THE_WORKER: Final = (
    *("kubernetes.ApiException", "kubernetes_asyncio.ApiException", "docker.DockerException"),
    *("botocore.ClientError", "botocore.BotoCoreError", "google.GoogleAPICallError"),
    *("azure.HttpResponseError", "azure.AzureError", "ExceptionGroup", "BaseExceptionGroup"),
)
"""What a worker's own calls to its cluster or cloud raise."""
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
    Rule(
        id="prefect.submit.logged",
        tier=Tier.DISRUPTION,
        when={
            "exception.is": _OF_THE_WORKER,
            "exception.status": one_of(400, 401, 403, 404, 422),
            "words": _SUBMIT_LOGGED,
            "system": engines.PREFECT,
        },
        kind=INFRA,
        reason="SubmitFailure",
        deterministic=True,
        started=Started.NO,
        executor_side=True,
        because="The run was never handed to a machine: the platform refused it.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.submit.raised",
        tier=Tier.DISRUPTION,
        when={
            "exception.is": _OF_THE_WORKER,
            "words": _SUBMIT_LOGGED,
            "system": engines.PREFECT,
        },
        kind=INFRA,
        reason="SubmitFailure",
        started=Started.NO,
        executor_side=True,
        because="The run was never handed to a machine: the worker's own call failed.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.submit",
        tier=Tier.DISRUPTION,
        when={"words": _SUBMIT_LOGGED, "system": engines.PREFECT},
        kind=INFRA,
        reason="SubmitFailure",
        started=Started.NO,
        executor_side=True,
        because="The run was never handed to a machine.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.submit.no-such-image",
        tier=Tier.DISRUPTION,
        when={
            _MESSAGE: like(
                rf"^{_SUBMIT}[^\n]{{0,600}}(?:No such image|404 Client Error|manifest unknown)"
            )
        },
        kind=APPLICATION,
        reason="SubmitFailure",
        deterministic=True,
        started=Started.NO,
        ended_by_itself=False,
        because="The run was not started, because what it names does not exist.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.submit.state",
        tier=Tier.DISRUPTION,
        when={_MESSAGE: like(rf"^{_SUBMIT}")},
        kind=INFRA,
        reason="SubmitFailure",
        started=Started.NO,
        executor_side=True,
        because="The run was never handed to a machine.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.never-started",
        tier=Tier.DISRUPTION,
        when={
            "log": like(
                r"Pod never started|[Jj]ob never started|Failed to (?:start"
                r"|create) (?:pod|container|job)"
            ),
            _MESSAGE: like(r"^Flow run infrastructure exited with non-zero status code -?\d"),
        },
        kind=INFRA,
        reason="NeverStarted",
        deterministic=False,
        started=Started.NO,
        because="The pod of the run never began.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.infrastructure.killed",
        tier=Tier.EXIT,
        when={
            _MESSAGE: like(
                r"^(?:Flow run infrastructure|Process) exited with (?:non-zero )?status code:? -9\b"
            )
        },
        kind=INFRA,
        reason="KilledBySignal",
        confidence=GUESS,
        because="The run's process was killed from outside; whether for memory is not known.",
        source=_EXIT,
    ),
    Rule(
        id="prefect.infrastructure.sigkill",
        tier=Tier.EXIT,
        when={_MESSAGE: like(r"status code:? (?:137|247)\b")},
        kind=UNKNOWN,
        reason="SIGKILL",
        confidence=GUESS,
        because="137 is 128 + SIGKILL; the word on memory is a guess of the framework.",
        source=_EXIT,
        next_step="Look for an OOM kill, an eviction or a stop of the container.",
    ),
    Rule(
        id="prefect.infrastructure.sigterm",
        tier=Tier.EXIT,
        when={_MESSAGE: like(r"status code:? (?:143|-15)\b")},
        kind=UNKNOWN,
        reason="Terminated",
        confidence=GUESS,
        because="SIGTERM comes both when a user cancels and when a machine is drained.",
        source=_EXIT,
    ),
    Rule(
        id="prefect.infrastructure.bad-command",
        tier=Tier.EXIT,
        when={_MESSAGE: like(r"status code:? (?:126|127)\b")},
        kind=APPLICATION,
        reason="SpecError",
        deterministic=True,
        because="The entrypoint was not found or may not be executed.",
        source=_EXIT,
    ),
    Rule(
        id="prefect.infrastructure.crash",
        tier=Tier.EXIT,
        when={_MESSAGE: like(r"status code:? (?:-11|139|-6|134|-7|135|-8|136|-4|132)\b")},
        kind=APPLICATION,
        reason="NativeCrash",
        ended_by_itself=True,
        because="The run's process crashed.",
        source=_EXIT,
    ),
    Rule(
        id="prefect.infrastructure.exit",
        tier=Tier.EXIT,
        when={
            _MESSAGE: like(
                r"infrastructure exited with non-zero status code|Process exited with status code"
            )
        },
        kind=UNKNOWN,
        reason="GenericExit",
        confidence=GUESS,
        because="The run's process left with a code that says no more than that it failed.",
        source=_EXIT,
    ),
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
        id="prefect.monitoring.raised",
        tier=Tier.DISRUPTION,
        when={
            "exception.is": _OF_THE_WORKER,
            "words": _MONITORING,
            "system": engines.PREFECT,
        },
        kind=INFRA,
        reason="OrchestratorUnreachable",
        executor_side=True,
        because="A call of the worker's own watching failed; the flow may still be running.",
        source=_WORKER,
    ),
    Rule(
        id="prefect.monitoring",
        tier=Tier.DISRUPTION,
        when={"words": _MONITORING, "system": engines.PREFECT},
        kind=INFRA,
        reason="OrchestratorUnreachable",
        executor_side=True,
        because="The worker's own watching failed; the flow may still be running.",
        source=_WORKER,
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
