"""Dagster: steps, run workers, run monitoring, code servers."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, is_not, like, one_of
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

_MONITORING: Final = "https://docs.dagster.io/deployment/execution/run-monitoring"
_RETRIES: Final = "https://docs.dagster.io/guides/build/ops/op-retries"
_ERRORS: Final = "https://docs.dagster.io/api/dagster/errors"
_EXECUTOR: Final = (
    "https://github.com/dagster-io/dagster/blob/master/python_modules/dagster/dagster/_core/executor"
    "/multiprocess.py"
)
_CHILD: Final = "dagster.ChildProcessCrashException"
_MESSAGE: Final = "state.message"

DAGSTER: Final = (
    Rule(
        id="dagster.cancelled.state",
        tier=Tier.CANCEL,
        when={"state.run_status": one_of("CANCELED", "CANCELING")},
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody cancelled the run.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.cancelled.before",
        tier=Tier.CANCEL,
        when={"state.previous_run_status": one_of("CANCELED", "CANCELING")},
        kind=MANUAL,
        reason="Cancelled",
        because="The run was being cancelled, and the failure is what that looks like.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.cancelled.outside",
        tier=Tier.CANCEL,
        when={_MESSAGE: like(r"marked as canceled from outside the execution context")},
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody cancelled the run.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.run.maximum-runtime",
        tier=Tier.DEADLINE,
        when={_MESSAGE: like(r"[Ee]xceed(?:ed|ing) maximum runtime")},
        kind=TIMEOUT,
        reason="RunTimeout",
        confidence=CONFIRMED,
        because="The run passed max_runtime.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.run.start-timeout",
        tier=Tier.DEADLINE,
        when={_MESSAGE: like(r"^Run timed out due to taking longer than \d{1,9} seconds to start")},
        kind=INFRA,
        reason="StartTimeout",
        started=Started.NO,
        because="The run's worker did not begin within the time that monitoring allows.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.run.cancel-timeout",
        tier=Tier.CANCEL,
        when={
            _MESSAGE: like(r"^Run timed out due to taking longer than \d{1,9} seconds to cancel")
        },
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody cancelled the run, and the clean-up was slow.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.run.worker-gone",
        tier=Tier.DISRUPTION,
        when={_MESSAGE: like(r"^Detected run worker status NOT_FOUND\b")},
        kind=INFRA,
        reason="WorkerLost",
        deterministic=False,
        because="The launcher does not find the run's worker any more.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.run.worker-failed",
        tier=Tier.DISRUPTION,
        when={
            _MESSAGE: like(
                r"^Detected run worker status (?:FAILED|UNKNOWN|SUCCESS)\b|^[Rr]un worker crashed"
                r"|^Run worker[^\n]{0,300}surpassed the configured maximum attempts to resume"
            )
        },
        kind=INFRA,
        reason="WorkerLost",
        because="Monitoring saw the run's worker die while the run was in progress.",
        source=_MONITORING,
    ),
    Rule(
        id="dagster.step.health",
        tier=Tier.DISRUPTION,
        when={
            "words": like(
                rf"{SAID}(?:[^\n]{{0,200}} - )?(?:Step \S{{1,200}} failed health check"
                r"|Discovered failed Kubernetes job)"
            ),
            "system": engines.DAGSTER,
        },
        kind=INFRA,
        reason="WorkerLost",
        because="The step's worker ended without a report.",
        source=_EXECUTOR,
    ),
    raised(
        "dagster.child.killed",
        _CHILD,
        INFRA,
        "KilledBySignal",
        when={"child.signal": 9},
        confidence=GUESS,
        ended_by_itself=False,
        because="The step's process was killed from outside; whether for memory is not known.",
        source=_EXECUTOR,
    ),
    raised(
        "dagster.child.crash",
        _CHILD,
        APPLICATION,
        "NativeCrash",
        when={"child.signal": one_of(4, 5, 6, 7, 8, 11, 31)},
        because="The step's process crashed.",
        source=_EXECUTOR,
    ),
    raised(
        "dagster.child.signal",
        _CHILD,
        UNKNOWN,
        "Terminated",
        when={"child.signal": between(1, 64)},
        confidence=GUESS,
        ended_by_itself=False,
        because="The step's process was ended by a signal; who sent it is not known.",
        source=_EXECUTOR,
    ),
    raised(
        "dagster.child.exit",
        _CHILD,
        UNKNOWN,
        "GenericExit",
        when={"child.exit_code": between(1, 255)},
        confidence=GUESS,
        because="The step's process left with a code outside the normal way.",
        source=_EXECUTOR,
    ),
    raised(
        "dagster.child.lost",
        (_CHILD, "dagster.DagsterSubprocessError"),
        INFRA,
        "WorkerLost",
        when={
            "exception.message": like(
                r"^$|(?m:^In process \d{1,10}: |^)(?:dagster\.[\w.]{1,100}\.)?"
                r"ChildProcessCrashException"
            )
        },
        confidence=GUESS,
        ended_by_itself=False,
        because="The step's process died, and how is not known.",
        source=_EXECUTOR,
    ),
    raised(
        "dagster.failure.no-retries",
        "dagster.Failure",
        APPLICATION,
        "NonRetryable",
        when={"said.allow_retries": False},
        deterministic=True,
        confidence=CONFIRMED,
        because="The author raised a failure that forbids retries.",
        source=_RETRIES,
    ),
    raised(
        "dagster.failure",
        ("dagster.Failure", "dagster.RetryRequested", "dagster.DagsterMaxRetriesExceededError"),
        APPLICATION,
        "UserException",
        fallback=True,
        because="The op's author raised it.",
        source=_RETRIES,
    ),
    raised(
        "dagster.interrupted",
        "dagster.DagsterExecutionInterruptedError",
        UNKNOWN,
        "Terminated",
        confidence=GUESS,
        ended_by_itself=False,
        because="The run was interrupted: by a cancel or by the end of its machine.",
        source=_ERRORS,
    ),
    raised(
        "dagster.code-server",
        (
            *("dagster.DagsterUserCodeUnreachableError", "dagster.DagsterUserCodeProcessError"),
            *(
                "dagster.DagsterUserCodeUnreachableTimeoutError",
                "dagster.DagsterCodeLocationLoadError",
            ),
        ),
        INFRA,
        "CodeServerUnreachable",
        when={
            "exception.message": like(
                r"Could not reach user code server|UNAVAILABLE|DEADLINE_EXCEEDED|Connection refused"
            )
        },
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The server that hosts the code was away; that is no fault of the code.",
        source=_ERRORS,
        next_step="Look at the code server's state and log.",
    ),
    raised(
        "dagster.code-server.unreachable",
        "dagster.DagsterUserCodeUnreachableError",
        INFRA,
        "CodeServerUnreachable",
        deterministic=False,
        executor_side=True,
        ended_by_itself=False,
        because="The server that hosts the code was away; that is no fault of the code.",
        source=_ERRORS,
        next_step="Look at the code server's state and log.",
    ),
    raised(
        "dagster.launch",
        "dagster.DagsterLaunchFailedError",
        INFRA,
        "SubmitFailure",
        started=Started.NO,
        executor_side=True,
        because="The run was never handed to a machine.",
        source=_ERRORS,
    ),
    raised(
        "dagster.code",
        (
            *("dagster.DagsterUserCodeLoadError", "dagster.DagsterImportError"),
            *("dagster.DagsterCodeLocationLoadError", "dagster.DagsterCodeLocationNotFoundError"),
        ),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="The code location cannot be loaded.",
        source=_ERRORS,
    ),
    raised(
        "dagster.definition",
        (
            *(
                "dagster.DagsterInvalidDefinitionError",
                "dagster.DagsterInvalidConfigDefinitionError",
            ),
            *("dagster.DagsterInvariantViolationError", "dagster.DagsterInvalidInvocationError"),
            *("dagster.DagsterInvalidSubsetError", "dagster.DagsterUnmetExecutorRequirementsError"),
            *("dagster.DagsterUnknownResourceError", "dagster.DagsterInvalidPropertyError"),
            "dagster.DagsterInvalidPythonicConfigDefinitionError",
        ),
        APPLICATION,
        "SpecError",
        deterministic=True,
        because="The definition of the job is not valid.",
        source=_ERRORS,
    ),
    raised(
        "dagster.config",
        (
            *("dagster.DagsterInvalidConfigError", "dagster.DagsterTypeCheckDidNotPass"),
            *("dagster.DagsterTypeCheckError", "dagster.DagsterUnknownPartitionError"),
            *("dagster.DagsterInvalidMetadata", "dagster.DagsterInvalidAssetKey"),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The run's configuration or a value does not fit its type.",
        source=_ERRORS,
    ),
    raised(
        "dagster.upstream",
        ("dagster.DagsterStepOutputNotFoundError", "dagster.DagsterAssetCheckFailedError"),
        APPLICATION,
        "UpstreamFailed",
        because="What this step needs from an earlier one is not there or did not pass.",
        source=_ERRORS,
    ),
    raised(
        "dagster.step",
        "dagster.DagsterUserCodeExecutionError",
        APPLICATION,
        "UserException",
        fallback=True,
        because="Code of the op raised it; Dagster wrapped it.",
        source=_ERRORS,
    ),
    Rule(
        id="dagster.run.failed",
        tier=Tier.NOTHING,
        when={"state.run_status": "FAILURE", _MESSAGE: is_not("")},
        kind=UNKNOWN,
        reason="Unknown",
        confidence=GUESS,
        because="The run failed, and its record does not say why.",
        source=_MONITORING,
    ),
)
