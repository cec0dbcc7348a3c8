"""Prefect's workers: runs that were never handed over, and how a run's process or pod ended."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like, one_of
from failhook.classify.python import engines
from failhook.classify.python.engines import SAID
from failhook.classify.rule import APPLICATION, GUESS, INFRA, UNKNOWN, Rule, Tier
from failhook.details import Started

_EXIT: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/_internal/infrastructure_exit_codes.py"
_WORKER: Final = "https://github.com/PrefectHQ/prefect/blob/main/src/prefect/workers/base.py"
_MESSAGE: Final = "state.message"
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

WORKERS: Final = (
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
)
