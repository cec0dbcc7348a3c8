"""Why AWS Batch and ECS say that a job or task stopped."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, Not, like, one_of
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.classify.table import Table
from failhook.details import Hint, Started

_RETRIES: Final = "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"
_TIMEOUTS: Final = "https://docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html"
_RUNNABLE: Final = "https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html"
_TERMINATE: Final = "https://docs.aws.amazon.com/batch/latest/APIReference/API_TerminateJob.html"
_CODES: Final = "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Task.html"
_STOPPED: Final = (
    "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/stopped-task-error-codes.html"
)
_EVENTS: Final = (
    "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/api_failures_messages.html"
)


_stop: Final = Table(prefix="aws", source=_STOPPED, said="aws.said").row


_NOTHING: Final = "Nothing; or use on-demand capacity where the work cannot be interrupted."
_QUEUE: Final = "Look at the compute environment and the job's requirements."
_SETUP: Final = "Check role, secrets, log group and network of the task that the message names."

# What a service says of itself is matched from its beginning: without a stop code, `statusReason`
# and `stoppedReason` may also be the text of whoever stopped the job.
# fmt: off
STOPS: Final = (
    _stop(
        "out-of-memory", {"aws.out_of_memory": True}, APPLICATION, "OutOfMemoryError",
        "The container passed its memory limit.", source=_STOPPED,
        next_step="Raise the memory of the container, or make it need less.", hint=Hint.MORE_MEMORY,
    ),
    _stop(
        "batch.timeout", r"^Job attempt duration exceeded timeout", TIMEOUT,
        "AttemptDurationExceeded", "Batch ended the attempt at its timeout.", source=_TIMEOUTS,
        next_step="Compare attemptDurationSeconds with earlier runs.",
    ),
    _stop(
        "stopped-by-user", {"aws.stop_code": "UserInitiated"}, MANUAL, "UserInitiated",
        "Somebody stopped the task through the API.", source=_CODES,
    ),
    _stop(
        "batch.no-capacity", r"^(?:CAPACITY:|Cancell?ed by JobStateTimeLimit action due to "
        r"reason: CAPACITY:)[A-Z_]{1,60}(?:$| - )", INFRA, "INSUFFICIENT_INSTANCE_CAPACITY",
        "AWS had no capacity for the job.", source=_RUNNABLE,
        next_step="Allow more instance types or zones, or wait.", deterministic=False,
        started=Started.NO,
    ),
    _stop(
        "terminated", {"aws.terminated": True}, MANUAL, "TerminateJob",
        "Somebody cancelled or terminated the job through the API.", source=_TERMINATE,
    ),
    _stop(
        "host-terminated", r"^Host EC2 \([^)\n]{1,80}\) (?:stopped/)?[Tt]erminated\b", INFRA,
        "HostEC2Terminated",
        "The instance under the job was terminated, mostly a spot instance that was reclaimed.",
        source=_RETRIES, next_step=_NOTHING, deterministic=False,
    ),
    _stop(
        "host-stopped", r"^Host EC2 \([^)\n]{1,80}\) stopp", INFRA, "HostEC2Stopped",
        "The instance under the task was stopped.", source=_STOPPED, deterministic=False,
    ),
    _stop(
        "spot", {"aws.stop_code": one_of("SpotInterruption", "TerminationNotice")}, INFRA,
        Take("aws.stop_code"), "AWS took the spot capacity back.", source=_CODES,
        next_step=_NOTHING, deterministic=False,
    ),
    _stop(
        "spot.said",
        r"^(?:Your Spot Task was interrupted|Spot instance (?:interruption|termination)\b)"
        r"[^\n]{0,40}$",
        INFRA, "SpotInterruption", "AWS took the spot capacity back.", source=_STOPPED,
        next_step=_NOTHING, deterministic=False,
    ),
    _stop(
        "maintenance", r"^(?:(?:Amazon )?ECS is performing maintenance on the underlying "
        r"infrastructure|(?:ECS )?[Tt]ask retirement|Your task is scheduled for retirement)", INFRA,
        "InfrastructureMaintenance",
        "AWS maintains the machine under the task.", source=_STOPPED, deterministic=False,
    ),
    _stop(
        "instance-drained", r"(?i)^(?:\(service [^)\n]{1,255}\)[^\n]{0,60}: )?(?:the )?container "
        r"instance\b.{0,60}(?:deregist|drain|disconnect|stopp|terminat)|^AGENT$|"
        r"^(?:the )?(?:ecs |container )?agent (?:is )?(?:not connected|disconnected)", INFRA,
        "NodeLost",
        "The container instance left the cluster.", source=_EVENTS, deterministic=False,
    ),
    _stop(
        "no-capacity",
        r"^(?:Capacity is unavailable at this time|InsufficientInstanceCapacity\b|"
        r"(?:\w{1,60}Exception: )?We currently do not have sufficient \S{1,60} capacity)", INFRA,
        Take("aws.stop_code", "InsufficientCapacity"), "AWS had no capacity for the task.",
        next_step="Allow more instance types or zones, or wait.", deterministic=False,
        started=Started.NO,
    ),
    _stop(
        "no-resources", r"^RESOURCE:(?:CPU|MEMORY|GPU|ENI|PORTS?)|"
        r"^You.{1,6}ve reached the limit on the number of (?:tasks|vCPUs)", INFRA,
        "ResourceExhausted",
        "The cluster, or the account's quota, has no room for the task now.", source=_EVENTS,
        next_step=_QUEUE, confidence=LIKELY, deterministic=False, started=Started.NO,
    ),
    *(
        _stop(
            f"batch.misconfigured.{name.lower().replace('_', '-')}",
            rf"MISCONFIGURATION:{name}\b", APPLICATION, name, because, source=_RUNNABLE,
            next_step=_QUEUE, deterministic=True, started=Started.NO,
        )
        for name, because in (
            ("JOB_RESOURCE_REQUIREMENT", "The job asks for more than any instance type has."),
            ("COMPUTE_ENVIRONMENT_MAX_RESOURCE", "The job asks for more than the queue may grow."),
            ("EC2_INSTANCE_CONFIGURATION_UNSUPPORTED", "The instance types cannot run this job."),
            ("SERVICE_ROLE_PERMISSIONS", "The service role lacks a right; it stays so."),
        )
    ),
    _stop(
        "batch.misconfigured", r"\bMISCONFIGURATION:", APPLICATION, "MISCONFIGURATION",
        "Job and compute environment do not fit together; it stays so.", source=_RUNNABLE,
        next_step=_QUEUE, deterministic=True, started=Started.NO,
    ),
    _stop(
        "batch.undetermined", r"^(?:UNDETERMINED|ACTION_REQUIRED)\b", UNKNOWN, "UNDETERMINED",
        "Batch says that it does not know why the job is blocked.", source=_RUNNABLE,
        next_step=_QUEUE, confidence=GUESS, started=Started.NO,
    ),
    _stop(
        "batch.dependency", r"(?i)^dependent job", APPLICATION, "UpstreamFailed",
        "A job that this one depends on failed.",
        source=_RETRIES, deterministic=True, started=Started.NO,
    ),
    _stop(
        "health-check", r"(?i)failed (?:\w{1,20} )?(?:container )?health checks?", APPLICATION,
        "HealthCheckFailed", "The container did not answer its health check.", source=_STOPPED,
        next_step="Look at the health check's command or path, and the container's log.",
        confidence=LIKELY,
    ),
    _stop(
        "network-setup",
        r"^Timeout waiting for [\w ]{1,60} provisioning to complete|"
        r"^Unexpected EC2 error while attempting to [\w ]{1,20} [Nn]etwork [Ii]nterface",
        INFRA, Take("aws.stop_code", "TaskFailedToStart"),
        "Fargate could not set up the machine under the task in time.", source=_STOPPED,
        deterministic=False, started=Started.NO,
    ),
    _stop(
        "internal", r"(?i)^(?:Internal ?(?:Error|Failure|Server)|Service ?Unavailable|"
        r"Unexpected EC2 error|ServerException)", INFRA, Take("container.token", "InternalError"),
        "The service failed by itself.", source=_STOPPED, deterministic=False,
    ),
    _stop(
        "setup.refused",
        r"(?is)^ResourceInitializationError\b.{0,2000}(?:AccessDenied|not authorized|"
        r"ResourceNotFound|InvalidParameter|can't find|invalid (?:ssm|secret)|does not exist|"
        r"not found|UnrecognizedClient|ExpiredToken|is not valid)",
        APPLICATION, Take("container.token", "ResourceInitializationError"),
        "A role, secret, or log group of the task is missing or may not be used.", source=_STOPPED,
        next_step=_SETUP, confidence=LIKELY, deterministic=True, started=Started.NO,
    ),
    _stop(
        "setup.throttled", r"(?is)^ResourceInitializationError\b.{0,2000}(?:Throttl|Rate exceeded|"
        r"TooManyRequests|ServiceUnavailable|InternalServer)", INFRA,
        Take("container.token", "ResourceInitializationError"),
        "The service that gives secrets or logs did not answer in time.", source=_STOPPED,
        next_step=_SETUP, confidence=LIKELY, deterministic=False, started=Started.NO,
    ),
    _stop(
        "setup.other", r"^ResourceInitializationError\b", UNKNOWN,
        Take("container.token", "ResourceInitializationError"),
        "The task's own network and an outage give the same message.", source=_STOPPED,
        next_step=_SETUP, confidence=GUESS, started=Started.NO,
    ),
    _stop(
        "platform", r"(?i)PlatformTaskDefinitionIncompatib|^ATTRIBUTE$|missing attribute",
        APPLICATION, "SpecError", "The task definition does not fit any machine of the cluster.",
        source=_EVENTS, next_step=_QUEUE, confidence=LIKELY, deterministic=True, started=Started.NO,
    ),
)

ENDS: Final = (
    _stop(
        "terminated.said",
        r"(?i)^(?:user (?:has )?(?:terminat|cancel|stopp)|(?:job |task )?(?:was )?(?:terminated|"
        r"cancell?ed|stopped|killed) (?:by|from) (?:the )?(?:user|owner|operator|console|admin)|"
        r"cancell?ing|cancell?ed\b|task stopped by user)",
        MANUAL, "TerminateJob", "The reason is the text of whoever stopped the job.",
        source=_TERMINATE, confidence=LIKELY,
    ),
    _stop(
        "service-scheduler", {"aws.stop_code": "ServiceSchedulerInitiated"}, INFRA,
        "ServiceSchedulerInitiated",
        "The service scheduler stopped the task: a deployment, scaling in, or a health check.",
        source=_CODES,
        next_step="Look at the service's events.", confidence=LIKELY, deterministic=False,
    ),
    _stop(
        "scaling", r"(?i)^(?:scaling activity|\(service \S{1,200}\) .{0,80}(?:deployment|scal))",
        INFRA, "ServiceSchedulerInitiated", "The service was scaled or deployed anew.",
        source=_STOPPED, confidence=LIKELY, deterministic=False,
    ),
    _stop(
        "sidecar", {"aws.sidecar_failed": True, "exit_code": ABSENT}, UNKNOWN, "SidecarExited",
        "The main container ended with 0; only a container beside it did not.", source=_CODES,
        next_step="Look at whether the task failed at all.", tier=Tier.EXIT, confidence=GUESS,
    ),
    _stop(
        "failed-to-start", {"aws.stop_code": "TaskFailedToStart", "exit_code": ABSENT}, UNKNOWN,
        "TaskFailedToStart", "A bad image, a secret and missing capacity all end like this.",
        source=_CODES, next_step=_SETUP, tier=Tier.MISMATCH, confidence=GUESS, started=Started.NO,
    ),
    Rule(
        id="aws.batch.own-text",
        tier=Tier.MISMATCH,
        when={
            "aws.batch": True,
            "aws.status": "FAILED",
            "aws.status_reason": PRESENT,
            "exit_code": ABSENT,
            "aws.said": Not(
                like(
                    r"(?i)^(?:Essential container|Task failed|Host |Job attempt|Array child|Child|"
                    r"\w{1,60}(?:Error|Exception)\b|[A-Z_]{4,40}:|Unable|Failed|Error|Could not|"
                    r"Cannot|Timeout|Service|Container|Instance|Node|Internal|Invalid|Resource)"
                )
            ),
        },
        kind=MANUAL,
        reason="TerminateJob", confidence=GUESS,
        because="Batch shows the text of whoever called TerminateJob, and this is none of its own.",
        source=_TERMINATE,
        next_step="Look for who called TerminateJob or CancelJob, such as the workflow engine.",
    ),
    _stop(
        "failed-to-start.said", r"^Task failed to start", UNKNOWN, "TaskFailedToStart",
        "A bad image, a secret and missing capacity all end like this.", source=_RETRIES,
        next_step=_SETUP, tier=Tier.MISMATCH, confidence=GUESS, started=Started.NO,
    ),
    _stop(
        "no-exit-code", {"aws.status": "STOPPED", "exit_code": ABSENT}, UNKNOWN,
        Take("aws.stop_code", "STOPPED"), "The task stopped, and nothing tells why.", source=_CODES,
        tier=Tier.NOTHING, confidence=GUESS,
    ),
    _stop(
        "batch.failed", {"aws.batch": True, "aws.said": PRESENT}, UNKNOWN, "FAILED",
        "Batch does not say why the job failed.",
        source=_RETRIES, tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on
