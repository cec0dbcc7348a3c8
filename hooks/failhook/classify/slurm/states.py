"""Job states and flags: https://slurm.schedmd.com/job_state_codes.html."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, Shorthand, is_not
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
from failhook.classify.slurm.messages import TELLING
from failhook.details import Confidence, Hint, Kind, Started

_SOURCE: Final = "https://slurm.schedmd.com/job_state_codes.html"
_EXIT_CODE: Final = "https://slurm.schedmd.com/job_exit_code.html"


def _state(
    state: str,
    kind: Kind,
    because: str,
    next_step: str = "",
    *,
    reason: str = "",
    deterministic: bool | None = None,
    started: Started | None = None,
    confidence: Confidence = CONFIRMED,
    hint: Hint | None = None,
) -> Rule:
    return Rule(
        id=f"slurm.state.{state.lower()}",
        tier=Tier.DISRUPTION,
        when={"slurm.state": state},
        kind=kind,
        reason=reason or state,
        deterministic=deterministic,
        confidence=confidence,
        started=started,
        hint=hint,
        because=because,
        source=_SOURCE,
        next_step=next_step,
    )


def _step(state: str, kind: Kind, because: str, *, hint: Hint | None = None) -> Rule:
    return Rule(
        id=f"slurm.step.{state.lower()}",
        tier=Tier.DISRUPTION,
        when={"slurm.step": state, "slurm.state": ("FAILED", "COMPLETED")},
        kind=kind,
        reason=state,
        deterministic=False if kind is INFRA else None,
        hint=hint,
        because=because,
        source=_EXIT_CODE,
        next_step="Look at the steps of the job: sacct -j JOBID.",
    )


def _cancelled(
    name: str, when: dict[str, Shorthand], kind: Kind, confidence: Confidence, because: str
) -> Rule:
    return Rule(
        id=f"slurm.state.cancelled{name}",
        tier=Tier.DISRUPTION,
        when={"slurm.state": "CANCELLED", **when},
        kind=kind,
        reason="CANCELLED",
        confidence=confidence,
        take={"actor": "slurm.cancelled_by"},
        because=because,
        source=_SOURCE,
        next_step="Ask the user whom sacct names as the one who cancelled it, or slurmctld.log.",
    )


_NODE: Final = "Look at the node: scontrol show node, and its log."
_LAUNCH: Final = "Read slurmd.log of the node and the output of its prolog."

STATES: Final = (
    _state(
        "NODE_FAIL",
        INFRA,
        "A node of the allocation failed.",
        _NODE,
        deterministic=False,
    ),
    _state(
        "BOOT_FAIL",
        INFRA,
        "A node of the allocation did not boot.",
        _NODE,
        deterministic=False,
        started=Started.NO,
    ),
    _state(
        "PREEMPTED",
        INFRA,
        "Slurm took the resources for a job of higher priority.",
        "Nothing, or use a partition or QOS that is not preempted.",
        deterministic=False,
    ),
    _state(
        "LAUNCH_FAILED",
        INFRA,
        "The job could not be launched on the chosen nodes, such as by a failed prolog.",
        _LAUNCH,
        deterministic=False,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
    ),
    _state(
        "RECONFIG_FAIL",
        INFRA,
        "The node could not be configured for the job.",
        _NODE,
        deterministic=False,
        started=Started.NO,
    ),
    _state(
        "OUT_OF_MEMORY",
        APPLICATION,
        "A process of the job passed the memory that the job asked for.",
        "Ask for more memory (--mem), or make the job need less.",
        hint=Hint.MORE_MEMORY,
    ),
    _state(
        "TIMEOUT",
        TIMEOUT,
        "The job reached its time limit.",
        "Ask for more time (--time), or write checkpoints.",
    ),
    _state(
        "DEADLINE",
        TIMEOUT,
        "The deadline that the job was submitted with has passed.",
        "Compare --deadline with the time that the job needs and waits.",
        deterministic=True,
    ),
    _step("OUT_OF_MEMORY", APPLICATION, "A step ran out of memory.", hint=Hint.MORE_MEMORY),
    _step("NODE_FAIL", INFRA, "A step lost its node."),
    _step("TIMEOUT", TIMEOUT, "A step reached its time limit."),
    _cancelled(
        ".by",
        {"slurm.cancelled_by": PRESENT},
        MANUAL,
        CONFIRMED,
        "A user or an administrator cancelled the job.",
    ),
    _cancelled(
        ".before-start",
        {"slurm.never_ran": True, "node": PRESENT, "slurm.banner": ABSENT},
        UNKNOWN,
        GUESS,
        "It ended at once on the node that it was given: a failed start and a cancel look alike.",
    ),
    Rule(
        id="slurm.state.cancelled.dependency",
        tier=Tier.DISRUPTION,
        when={"slurm.state": "CANCELLED", "slurm.reason": "DependencyNeverSatisfied"},
        kind=APPLICATION,
        reason="UpstreamFailed",
        deterministic=True,
        confidence=LIKELY,
        started=Started.NO,
        because="The job depended on another one that can no longer end as was asked.",
        source="https://slurm.schedmd.com/job_reason_codes.html",
    ),
    _cancelled(
        "",
        {"slurm.banner": is_not(*TELLING), "slurm.step": is_not("OUT_OF_MEMORY", "NODE_FAIL")},
        MANUAL,
        LIKELY,
        "Slurm uses this state for a cancel by a user or an administrator.",
    ),
    Rule(
        id="slurm.signal.output-file",
        tier=Tier.DISRUPTION,
        when={"signal": 53, "slurm.state": "FAILED"},
        kind=APPLICATION,
        reason="RaisedSignal:53",
        deterministic=True,
        confidence=CONFIRMED,
        started=Started.NO,
        ended_by_itself=True,
        because="Slurm reports signal 53 when it cannot open the job's output file.",
        source="https://slurm.schedmd.com/faq.html",
        next_step="Check that the paths of --output, --error and --chdir exist and can be written.",
    ),
    Rule(
        id="slurm.signal.out-of-memory",
        tier=Tier.DISRUPTION,
        when={"signal": 125},
        kind=APPLICATION,
        reason="OUT_OF_MEMORY",
        confidence=LIKELY,
        hint=Hint.MORE_MEMORY,
        because="Slurm marks an out-of-memory kill with signal 125 in the exit code.",
        source="https://github.com/SchedMD/slurm/blob/master/src/common/slurm_protocol_defs.h",
        next_step="Ask for more memory (--mem), or make the job need less.",
    ),
    Rule(
        id="slurm.step.failed",
        tier=Tier.EXIT,
        when={"slurm.state": "COMPLETED", "slurm.step": "FAILED"},
        kind=APPLICATION,
        reason="NonZeroExit",
        because="The batch script ended with 0, but a step of it failed.",
        source=_EXIT_CODE,
        next_step="Make the script end with the exit code of its steps: set -e.",
    ),
    Rule(
        id="slurm.state.failed",
        tier=Tier.MISMATCH,
        when={"slurm.state": "FAILED"},
        kind=APPLICATION,
        reason="FAILED",
        ended_by_itself=True,
        because="The state is for a non-zero exit code; no other cause was recorded.",
        source=_SOURCE,
        next_step="Read the end of the job's output.",
    ),
    *(
        Rule(
            id=f"slurm.state.{state.lower().replace('_', '-')}",
            tier=Tier.NOTHING,
            when={"slurm.state": state},
            kind=UNKNOWN,
            reason=Take("slurm.reason", state) if state == "PENDING" else state,
            confidence=GUESS,
            because=because,
            source=_SOURCE,
            next_step="Read slurmctld.log, and the job's record with all its runs: sacct -D.",
        )
        for state, because in (
            ("REQUEUED", "The job was put back into the queue, for a reason that is not recorded."),
            ("REQUEUE_HOLD", "The job was put back into the queue and held."),
            ("SPECIAL_EXIT", "The job was put back with the special exit state of the site."),
            ("REVOKED", "A sibling of the job ran on another cluster of the federation."),
            ("PENDING", "The job waits; Slurm names what for, and that is not a failure."),
            ("COMPLETED", "Slurm saw the job end with 0; what failed was seen elsewhere."),
            *((name, "This state is not an end of the job.") for name in ("RUNNING", "SUSPENDED")),
        )
    ),
    Rule(
        id="slurm.state.other",
        tier=Tier.NOTHING,
        when={"slurm.state": PRESENT},
        kind=UNKNOWN,
        reason=Take("slurm.state"),
        confidence=GUESS,
        because="This state does not tell why the job ended.",
        source=_SOURCE,
        next_step="Read slurmctld.log, and the job's record with all its runs: sacct -D.",
    ),
)
