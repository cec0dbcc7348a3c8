"""Why a job waits or failed: https://slurm.schedmd.com/job_reason_codes.html."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import Shorthand, is_not, like
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
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
from failhook.details import Confidence, Hint, Kind, Started

_SOURCE: Final = "https://slurm.schedmd.com/job_reason_codes.html"
_SPEC: Final = "Compare what the job asks for with scontrol show partition and sacctmgr show qos."
_NODE: Final = "Look at the node: scontrol show node, and its log."
_LAUNCH: Final = "Read slurmd.log of the node and the output of its prolog."


def _reason(
    name: str,
    reasons: str | tuple[str, ...],
    kind: Kind,
    because: str,
    next_step: str = "",
    *,
    waiting: bool = False,
    deterministic: bool | None = None,
    confidence: Confidence = LIKELY,
    started: Started | None = None,
    hint: Hint | None = None,
) -> Rule:
    """Make a rule on a reason; one for waiting is asked only of a job that waits.

    Slurm keeps the last reason for which a job had to wait, also when the job has ended since.
    """
    when: dict[str, Shorthand] = {"slurm.reason": reasons}
    if waiting:
        when["slurm.state"] = is_not("FAILED", "COMPLETED")
    return Rule(
        id=f"slurm.reason.{name}",
        tier=Tier.DISRUPTION,
        when=when,
        kind=kind,
        reason=Take("slurm.reason"),
        deterministic=deterministic,
        confidence=confidence,
        started=started,
        hint=hint,
        because=because,
        source=_SOURCE,
        next_step=next_step,
    )


# fmt: off
REASONS: Final = (
    _reason(
        "node-down", ("NodeDown", "PartitionDown"), INFRA,
        "A node or the partition of the job is down.", _NODE, deterministic=False,
    ),
    _reason(
        "system", ("SystemFailure", "BurstBufferOperation"), INFRA,
        "Slurm itself failed around the job.", "Read slurmctld.log.", deterministic=False,
    ),
    _reason(
        "launch-held", ("launch failed requeued held", "JobHoldMaxRequeue"), INFRA,
        "Slurm requeued the job because nodes could not launch it, and then held it.", _LAUNCH,
        waiting=True, deterministic=False, started=Started.NO, hint=Hint.OTHER_NODE,
    ),
    _reason(
        "launch", "JobLaunchFailure", UNKNOWN,
        "A file system in trouble and a wrong program name both end here, says the manual.",
        _LAUNCH, confidence=GUESS, started=Started.NO,
    ),
    _reason(
        "out-of-memory", "OutOfMemory", APPLICATION,
        "The job passed the memory that it asked for.",
        "Ask for more memory (--mem), or make the job need less.",
        confidence=CONFIRMED, hint=Hint.MORE_MEMORY,
    ),
    _reason(
        "time-limit", "TimeLimit", TIMEOUT, "The job reached its time limit.",
        "Ask for more time (--time), or write checkpoints.", confidence=CONFIRMED,
    ),
    _reason(
        "deadline", "DeadLine", TIMEOUT, "The job cannot end before its deadline.",
        "Compare --deadline with the time that the job needs and waits.",
        deterministic=True, confidence=CONFIRMED,
    ),
    _reason(
        "inactive", "InactiveLimit", TIMEOUT,
        "The allocation did nothing for longer than the site allows.",
        "Compare with InactiveLimit in slurm.conf.",
    ),
    _reason(
        "held", ("JobHeldUser", "JobHeldAdmin", "job requeued in held state"), MANUAL,
        "Somebody holds the job.", "Release it: scontrol release JOBID.", waiting=True,
        confidence=CONFIRMED,
    ),
    _reason(
        "upstream", "DependencyNeverSatisfied", APPLICATION,
        "The job depended on another one that can no longer end as was asked.",
        "Look at the job that it depends on.", waiting=True, deterministic=True,
        started=Started.NO,
    ),
    _reason(
        "refused",
        (
            *("InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
            *("BadConstraints", "PartitionNodeLimit", "PartitionTimeLimit", "PartitionConfig"),
            *("MaxMemPerLimit", "ReservationDeleted", "ReservationInvalid"),
        ),
        APPLICATION, "The job asks for what it may not have, and will not run like this.", _SPEC,
        waiting=True, deterministic=True, started=Started.NO,
    ),
    Rule(
        id="slurm.reason.limit-per-job",
        tier=Tier.DISRUPTION,
        when={
            "slurm.state": is_not("FAILED", "COMPLETED"),
            "slurm.reason": like(
                r"^(?:QOS|Assoc)(?:Max\w{1,40}Per(?:Job|Node)(?:Limit)?$|Min[A-Z])"
            ),
        },
        kind=APPLICATION,
        reason=Take("slurm.reason"),
        deterministic=True,
        started=Started.NO,
        because="The job alone asks for more than its account or QOS allows to one job.",
        source=_SOURCE,
        next_step=_SPEC,
    ),
)
# fmt: on
