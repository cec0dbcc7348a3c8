"""RQ, Dramatiq, Luigi: what their workers say."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, like, one_of
from failhook.classify.python import engines
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

_RQ: Final = "https://python-rq.org/docs/exceptions/"
_RQ_SOURCE: Final = "https://github.com/rq/rq/blob/master/rq/worker/worker_classes.py"
_DRAMATIQ: Final = "https://dramatiq.io/reference.html"
_LUIGI: Final = "https://luigi.readthedocs.io/en/stable/configuration.html"
_LUIGI_SOURCE: Final = "https://github.com/spotify/luigi/blob/master/luigi/worker.py"
_HORSE: Final = r"[Ww]ork-?horse (?:process )?(?:was )?terminated unexpectedly"

RQ: Final = (
    raised(
        "rq.horse-monitor-timeout",
        "rq.HorseMonitorTimeoutException",
        INFRA,
        "HeartbeatTimeout",
        deterministic=False,
        ended_by_itself=False,
        because="It is the worker's own poll of its child that ran out, not the job's limit.",
        source="https://github.com/rq/rq/blob/master/rq/timeouts.py",
    ),
    raised(
        "rq.job-timeout",
        ("rq.JobTimeoutException", "rq.BaseTimeoutException", "huey.TaskTimeout"),
        TIMEOUT,
        "ExecutionTimeout",
        tier=Tier.DEADLINE,
        when={"exception.type": like(r"JobTimeout|TaskTimeout|BaseTimeoutException$")},
        confidence=CONFIRMED,
        because="The worker enforced the job's time limit.",
        source="https://python-rq.org/docs/jobs/",
    ),
    raised(
        "rq.abandoned",
        "rq.AbandonedJobError",
        INFRA,
        "HeartbeatTimeout",
        ended_by_itself=False,
        because="The worker stopped refreshing the job, so it was swept as abandoned.",
        source=_RQ,
    ),
    raised(
        "rq.shutdown",
        ("rq.ShutDownImminentException", "rq.StopRequested"),
        INFRA,
        "WorkerShutdown",
        deterministic=False,
        ended_by_itself=False,
        because="The worker's machine announced that it is going down.",
        source="https://python-rq.org/docs/workers/",
    ),
    raised(
        "rq.serialisation",
        ("rq.DeserializationError", "rq.InvalidJobOperation", "rq.InvalidJobDependency"),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="The job's function or arguments cannot be read back.",
        source=_RQ,
    ),
    Rule(
        id="rq.stopped-by-user",
        tier=Tier.CANCEL,
        when={
            "words": like(r"\bJob stopped by user, (?:work-horse terminated|moving job to Failed)"),
            "system": engines.RQ,
        },
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody stopped the job.",
        source="https://python-rq.org/docs/workers/#stopping-a-job",
    ),
    Rule(
        id="rq.stopped.state",
        tier=Tier.CANCEL,
        when={"state.job_status": one_of("stopped", "canceled")},
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody stopped or cancelled the job.",
        source="https://python-rq.org/docs/workers/#stopping-a-job",
    ),
    Rule(
        id="rq.horse.crash",
        tier=Tier.DISRUPTION,
        when={"horse.signal": one_of(4, 5, 6, 7, 8, 11, 31)},
        kind=APPLICATION,
        reason="NativeCrash",
        ended_by_itself=True,
        because="The job's process crashed, by its wait status.",
        source=_RQ_SOURCE,
    ),
    Rule(
        id="rq.horse.killed",
        tier=Tier.DISRUPTION,
        when={"horse.signal": 9, "system": engines.RQ},
        kind=INFRA,
        reason="KilledBySignal",
        confidence=GUESS,
        because="The job's process was killed from outside; whether for memory is not known.",
        source=_RQ_SOURCE,
    ),
    Rule(
        id="rq.horse.signal",
        tier=Tier.DISRUPTION,
        when={"horse.signal": between(1, 64)},
        kind=UNKNOWN,
        reason="Terminated",
        confidence=GUESS,
        because="The job's process was ended by a signal; who sent it is not known.",
        source=_RQ_SOURCE,
    ),
    Rule(
        id="rq.horse.ended",
        tier=Tier.LOG,
        when={"words": like(_HORSE)},
        kind=UNKNOWN,
        reason="WorkerLost",
        confidence=GUESS,
        because="The job's process ended outside the normal way.",
        source=_RQ_SOURCE,
    ),
    Rule(
        id="rq.abandoned.logged",
        tier=Tier.DISRUPTION,
        when={
            "words": like(r"\bMoved to FailedJobRegistry, due to AbandonedJobError"),
            "system": engines.RQ,
        },
        kind=INFRA,
        reason="HeartbeatTimeout",
        because="The worker stopped refreshing the job, so it was swept as abandoned.",
        source=_RQ,
    ),
)

DRAMATIQ: Final = (
    raised(
        "dramatiq.time-limit",
        "dramatiq.TimeLimitExceeded",
        TIMEOUT,
        "ExecutionTimeout",
        tier=Tier.DEADLINE,
        confidence=CONFIRMED,
        because="The time limit of the actor was enforced.",
        source=_DRAMATIQ,
    ),
    raised(
        "dramatiq.shutdown",
        ("dramatiq.Shutdown", "dramatiq.Interrupt"),
        INFRA,
        "WorkerShutdown",
        deterministic=False,
        ended_by_itself=False,
        because="The worker was being shut down and interrupted the message.",
        source=_DRAMATIQ,
    ),
    raised(
        "dramatiq.broker",
        (
            "dramatiq.BrokerConnectionError",
            "dramatiq.ConnectionClosed",
            "dramatiq.ConnectionFailed",
        ),
        INFRA,
        "BrokerConnectionLost",
        deterministic=False,
        because="The link to the message broker broke.",
        source=_DRAMATIQ,
    ),
    raised(
        "dramatiq.code",
        ("dramatiq.ActorNotFound", "dramatiq.QueueNotFound"),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="The worker does not have this actor or queue.",
        source=_DRAMATIQ,
    ),
    raised(
        "dramatiq.message",
        "dramatiq.DecodeError",
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="The message cannot be read.",
        source=_DRAMATIQ,
    ),
    raised(
        "dramatiq.rate-limit",
        ("dramatiq.RateLimitExceeded", "dramatiq.Retry"),
        APPLICATION,
        "UserException",
        deterministic=False,
        fallback=True,
        because="The actor asked to be tried again.",
        source=_DRAMATIQ,
    ),
    raised(
        "dramatiq.upstream",
        ("dramatiq.ResultFailure", "dramatiq.ResultMissing", "dramatiq.ResultTimeout"),
        APPLICATION,
        "UpstreamFailed",
        because="The result that the actor waits for is not there.",
        source=_DRAMATIQ,
    ),
)

LUIGI: Final = (
    raised(
        "luigi.upstream",
        "RuntimeError",
        APPLICATION,
        "UpstreamFailed",
        when={"exception.message": like(r"^Unfulfilled dependenc(?:y|ies) at run time")},
        because="What the task requires is not there any more.",
        source=_LUIGI_SOURCE,
    ),
    Rule(
        id="luigi.timeout",
        tier=Tier.DEADLINE,
        when={"words": like(r"Task \S{1,300} timed out after \S{1,20} seconds and was terminated")},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        because="The worker enforced worker_timeout.",
        source=_LUIGI,
    ),
    Rule(
        id="luigi.disconnected",
        tier=Tier.LOG,
        when={"words": like(r"is marked as running by disconnected worker")},
        kind=INFRA,
        reason="HeartbeatTimeout",
        because="The scheduler did not hear of the worker any more.",
        source=_LUIGI,
    ),
    raised(
        "luigi.parameters",
        "luigi.ParameterException",
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="A parameter of the task is missing or wrong.",
        source="https://luigi.readthedocs.io/en/stable/parameters.html",
    ),
    raised(
        "luigi.code",
        "luigi.TaskClassException",
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="The task's class is not there or ambiguous.",
        source=_LUIGI_SOURCE,
    ),
)

QUEUES: Final = (*RQ, *DRAMATIQ, *LUIGI)
