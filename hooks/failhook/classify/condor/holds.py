"""Hold and vacate codes: src/condor_utils/condor_holdcodes.h and the manual's tables of them."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import Shorthand, like, one_of
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
    Tier,
)
from failhook.details import Confidence, Hint, Kind, Started

_HOLDS: Final = (
    "https://htcondor.readthedocs.io/en/latest/codes-other-values/hold-reason-codes.html"
)
_VACATES: Final = (
    "https://htcondor.readthedocs.io/en/latest/codes-other-values/vacate-reason-codes.html"
)
_SHOW: Final = "Read the hold reason in full: condor_q -hold, and the job's log."

_ABSENT_OR_FORBIDDEN: Final = one_of(1, 2, 8, 13, 20, 21, 40)
"""Errno values that stay as they are: EPERM ENOENT ENOEXEC EACCES ENOTDIR EISDIR ELOOP."""


def _hold(
    code: int,
    name: str,
    kind: Kind,
    because: str,
    next_step: str = _SHOW,
    *,
    deterministic: bool | None = None,
    confidence: Confidence = CONFIRMED,
    started: Started | None = None,
    hint: Hint | None = None,
    errno: Shorthand | None = None,
) -> Rule:
    """Make a rule on a hold code; `errno` narrows it to some of its subcodes."""
    when: dict[str, Shorthand] = {"condor.hold": code}
    if errno is not None:
        when["condor.errno"] = errno
    return Rule(
        id=f"condor.hold.{code}" if errno is None else f"condor.hold.{code}.subcode",
        tier=Tier.DISRUPTION,
        when=when,
        kind=kind,
        reason=name,
        deterministic=deterministic,
        confidence=confidence,
        started=started,
        hint=hint,
        because=because,
        source=_HOLDS,
        next_step=next_step,
    )


def _vacate(
    code: int,
    name: str,
    kind: Kind,
    because: str,
    *,
    confidence: Confidence = CONFIRMED,
    started: Started | None = None,
    deterministic: bool | None = None,
) -> Rule:
    return Rule(
        id=f"condor.vacate.{code}",
        tier=Tier.DISRUPTION,
        when={"condor.vacate": code},
        kind=kind,
        reason=name,
        deterministic=False if kind is INFRA else deterministic,
        confidence=confidence,
        started=started,
        because=because,
        source=_VACATES,
        next_step="Read the job's log, and the StartLog of the machine.",
    )


def _said(
    name: str,
    pattern: str,
    kind: Kind,
    reason: str,
    because: str,
    *,
    hint: Hint | None = None,
    hold: int | None = None,
) -> Rule:
    """Make a rule on what was said; with a hold code, on what was said of it."""
    when: dict[str, Shorthand] = {"condor.said": like(pattern, ignore_case=True)}
    if hold is not None:
        when["condor.hold"] = hold
    return Rule(
        id=f"condor.said.{name}" if hold is None else f"condor.hold.{hold}.{name}",
        tier=Tier.DISRUPTION,
        when=when,
        kind=kind,
        reason=reason,
        confidence=CONFIRMED if kind is APPLICATION and hold is None else LIKELY,
        hint=hint,
        because=because,
        source=_HOLDS,
        next_step=_SHOW,
    )


# fmt: off
HOLDS: Final = (
    _said(
        "memory", r"over (?:cgroup )?memory limit|memory usage exceed|exceed\w{0,4} (?:the )?"
        r"(?:request_?memory|memory (?:limit|request))|memory exceeded|OOM.kill",
        APPLICATION, "MemoryLimitExceeded", "The job passed the memory that it requested.",
        hint=Hint.MORE_MEMORY,
    ),
    _said(
        "disk", r"disk usage exceed|exceed\w{0,4} (?:the )?(?:request_?disk|disk (?:limit|"
        r"request))|over disk limit", APPLICATION, "DiskLimitExceeded",
        "The job passed the disk space that it requested.",
    ),
    _said(
        "duration", r"allowed (?:job |execut\w{1,5} )?duration|job duration exceed|"
        r"exceeded (?:the )?(?:maximum )?(?:wall.?(?:clock|time)|run ?time|allowed_\w{1,20})",
        TIMEOUT, "JobDurationExceeded", "The job passed the time that it may run.",
    ),
    _hold(1, "UserRequest", MANUAL, "A user put the job on hold.", "Release it: condor_release."),
    _hold(2, "GlobusGramError", UNKNOWN, "The grid reported an error.", confidence=GUESS),
    _hold(3, "JobPolicy", UNKNOWN, "The job's own periodic_hold or on_exit_hold became true.",
          "Read the expression in the submit file.", confidence=GUESS),
    _hold(4, "CorruptedCredential", APPLICATION, "The job's credentials are invalid.",
          confidence=LIKELY),
    _hold(5, "JobPolicyUndefined", APPLICATION, "A policy expression of the job is undefined.",
          deterministic=True),
    _hold(6, "FailedToCreateProcess", APPLICATION, "The executable does not exist or may not run.",
          errno=_ABSENT_OR_FORBIDDEN, deterministic=True, started=Started.NO),
    _hold(6, "FailedToCreateProcess", UNKNOWN, "The executable could not be started.",
          confidence=GUESS, started=Started.NO),
    *(
        _hold(code, name, APPLICATION, f"The job's standard {what} cannot be opened.",
              "Check the paths in the submit file.", errno=_ABSENT_OR_FORBIDDEN,
              deterministic=True, started=Started.NO)
        for code, name, what in (
            (7, "UnableToOpenOutput", "output"), (8, "UnableToOpenInput", "input"),
            (9, "UnableToOpenOutputStream", "output stream"),
            (10, "UnableToOpenInputStream", "input stream"),
        )
    ),
    *(
        _hold(code, name, APPLICATION, f"The job's standard {what} cannot be opened.",
              "Check the paths in the submit file.", confidence=LIKELY, started=Started.NO)
        for code, name, what in (
            (7, "UnableToOpenOutput", "output"), (8, "UnableToOpenInput", "input"),
            (9, "UnableToOpenOutputStream", "output stream"),
            (10, "UnableToOpenInputStream", "input stream"),
        )
    ),
    _hold(11, "InvalidTransferAck", INFRA, "HTCondor's file transfer broke its own protocol.",
          deterministic=False),
    _hold(12, "TransferOutputError", APPLICATION, "An output file is missing, or not writable.",
          errno=_ABSENT_OR_FORBIDDEN, confidence=LIKELY),
    _hold(12, "TransferOutputError", UNKNOWN, "The output could not be transferred.",
          confidence=GUESS),
    _hold(13, "TransferInputError", APPLICATION, "An input file is missing or may not be read.",
          errno=_ABSENT_OR_FORBIDDEN, confidence=LIKELY, deterministic=True, started=Started.NO),
    _hold(13, "TransferInputError", UNKNOWN, "The input could not be transferred.",
          confidence=GUESS, started=Started.NO),
    _hold(14, "IwdError", APPLICATION, "The initial directory of the job cannot be used.",
          "Check initialdir.", deterministic=True, started=Started.NO),
    _hold(15, "SubmittedOnHold", MANUAL, "The job was submitted on hold.", started=Started.NO),
    _hold(16, "SpoolingInput", UNKNOWN, "Input files are being spooled.", confidence=GUESS),
    _hold(17, "JobShadowMismatch", INFRA, "Versions of HTCondor do not fit.", started=Started.NO),
    _hold(18, "InvalidTransferGoAhead", INFRA, "HTCondor's file transfer broke its own protocol.",
          deterministic=False),
    _hold(19, "HookPrepareJobFailure", INFRA, "A hook of the site failed.", started=Started.NO),
    _hold(20, "MissedDeferredExecutionTime", UNKNOWN, "The time to start at had passed.",
          confidence=GUESS, started=Started.NO),
    _hold(21, "StartdHeldJob", APPLICATION, "The machine's policy held it for its resource use.",
          errno=one_of(102, 104), confidence=LIKELY),
    _hold(21, "StartdHeldJob", UNKNOWN, "The machine's policy held the job.", confidence=GUESS),
    _hold(22, "UnableToInitUserLog", APPLICATION, "The job's log cannot be written.",
          "Check the path of log in the submit file.", deterministic=True, started=Started.NO),
    _hold(23, "FailedToAccessUserAccount", INFRA, "The user's account is not there.",
          confidence=LIKELY, started=Started.NO),
    _hold(24, "NoCompatibleShadow", INFRA, "No shadow fits the job.", started=Started.NO),
    _hold(25, "InvalidCronSettings", APPLICATION, "The cron settings of the job are wrong.",
          deterministic=True, started=Started.NO),
    _said("memory", r"\bmemory\b|\bRSS\b|ResidentSetSize", APPLICATION, "MemoryLimitExceeded",
          "The site's policy held the job for the memory that it used.", hold=26,
          hint=Hint.MORE_MEMORY),
    _said("disk", r"\bdisk ?usage\b|\bdisk space\b", APPLICATION, "DiskLimitExceeded",
          "The site's policy held the job for the disk space that it used.", hold=26),
    _said("run-time", r"wall.?(?:clock|time)|\brun.?time\b|execution time|running (?:for )?(?:too "
          r"long|longer|more than)", TIMEOUT, "JobDurationExceeded",
          "The site's policy held the job for the time that it ran.", hold=26),
    _hold(26, "SystemPolicy", UNKNOWN, "The site's SYSTEM_PERIODIC_HOLD became true.",
          "Ask the administrators which limit it stands for.", confidence=GUESS),
    _hold(27, "SystemPolicyUndefined", INFRA, "A policy expression of the site is undefined.",
          confidence=LIKELY),
    *(
        _hold(code, name, INFRA, "The site could not hand the sandbox to the user.",
              confidence=LIKELY, started=Started.NO)
        for code, name in (
            (28, "GlexecChownSandboxToUser"), (29, "PrivsepChownSandboxToUser"),
            (30, "GlexecChownSandboxToCondor"), (31, "PrivsepChownSandboxToCondor"),
        )
    ),
    _hold(32, "MaxTransferInputSizeExceeded", APPLICATION, "The input is larger than allowed.",
          deterministic=True, started=Started.NO),
    _hold(33, "MaxTransferOutputSizeExceeded", APPLICATION, "The output is larger than allowed."),
    _hold(34, "JobOutOfResources", APPLICATION, "The job passed a limit that it was given.",
          "Request more of what the subcode names: 102 memory, 104 disk."),
    _hold(35, "InvalidDockerImage", APPLICATION, "The image of the job is invalid.",
          "Check docker_image.", deterministic=True, started=Started.NO),
    _hold(36, "FailedToCheckpoint", APPLICATION, "The job failed when told to checkpoint."),
    _hold(37, "EC2UserError", APPLICATION, "The EC2 settings of the job are wrong.",
          deterministic=True, started=Started.NO),
    *(
        _hold(code, name, INFRA, "EC2, or the way to it, failed.", confidence=LIKELY)
        for code, name in (
            (38, "EC2InternalError"), (39, "EC2AdminError"), (40, "EC2ConnectionProblem"),
            (41, "EC2ServerError"), (42, "EC2InstancePotentiallyLostError"),
        )
    ),
    _hold(43, "PreScriptFailed", APPLICATION, "The script before the job failed.",
          started=Started.NO),
    _hold(44, "PostScriptFailed", APPLICATION, "The script after the job failed."),
    _hold(45, "SingularityTestFailed", INFRA, "The container runtime of the machine fails.",
          deterministic=False, started=Started.NO, hint=Hint.OTHER_NODE),
    _hold(46, "JobDurationExceeded", TIMEOUT, "The job passed allowed_job_duration."),
    _hold(47, "JobExecuteExceeded", TIMEOUT, "The job passed allowed_execute_duration."),
    _hold(48, "HookShadowPrepareJobFailure", INFRA, "A hook of the site failed.",
          started=Started.NO),
    _hold(49, "CannotSwitchPrimaryGroup", INFRA, "The site could not switch to the user's group.",
          confidence=LIKELY, started=Started.NO),
)

VACATES: Final = (
    _vacate(1000, "JobPolicyVacate", UNKNOWN, "A policy of the job vacated it.", confidence=GUESS),
    _vacate(1001, "SystemPolicyVacate", INFRA, "A policy of the site vacated it.",
            confidence=LIKELY),
    _vacate(1002, "ShadowException", INFRA, "The shadow failed.", confidence=LIKELY),
    _vacate(1003, "JobNotStarted", INFRA, "The machine did not start it.", started=Started.NO),
    _vacate(1004, "UserVacateJob", MANUAL, "Somebody vacated the job."),
    _vacate(1005, "JobShouldRequeue", APPLICATION, "The job ended, and its own policy requeues it.",
            confidence=LIKELY),
    _vacate(1006, "FailedToActivateClaim", INFRA, "The claim did not work.", started=Started.NO),
    _vacate(1007, "StarterError", INFRA, "The starter on the machine failed.", confidence=LIKELY),
    _vacate(1008, "ReconnectFailed", INFRA, "The machine was lost, and stayed so."),
    _vacate(1009, "ClaimDeactivated", INFRA, "The claim was taken back."),
    _vacate(1010, "StartdVacateCommand", INFRA, "The machine was told to vacate."),
    _vacate(1011, "StartdPreemptExpression", INFRA, "The machine's policy preempted it."),
    _vacate(1012, "StartdException", INFRA, "The startd failed."),
    _vacate(1013, "StartdShutdown", INFRA, "The startd was shutting down."),
    _vacate(1014, "StartdDraining", INFRA, "The machine was being drained."),
    _vacate(1015, "StartdCoalesce", INFRA, "Slots of the machine were joined."),
    _vacate(1016, "StartdHibernate", INFRA, "The machine went to sleep."),
    _vacate(1017, "StartdReleaseCommand", INFRA, "The claim was released."),
    _vacate(1018, "StartdPreemptingClaimRank", INFRA, "A job that the machine prefers took it."),
    _vacate(1019, "StartdPreemptingClaimUserPrio", INFRA, "A user of better priority took it."),
    _vacate(1020, "VMError", INFRA, "The virtual machine failed.", confidence=LIKELY),
    _vacate(1021, "ContainerError", INFRA, "The container runtime failed.", confidence=LIKELY),
    _vacate(1022, "ScheddVacate", MANUAL, "The schedd vacated it on a command.", confidence=LIKELY),
    _vacate(1023, "JobRemoved", MANUAL, "Somebody removed the job."),
    _vacate(1024, "ScratchDirError", INFRA, "The scratch directory failed.", confidence=LIKELY),
    _vacate(1026, "ActivationRefusedBadRequest", APPLICATION, "The job lacks attributes.",
            started=Started.NO, deterministic=True),
    *(
        _vacate(code, name, INFRA, "The slot was not there for the job.", started=Started.NO)
        for code, name in (
            (1027, "ActivationRefusedNoMatch"), (1028, "ActivationRefusedStillCleaning"),
            (1029, "ActivationRefusedWorklifeExpired"), (1030, "ActivationRefusedPreempted"),
            (1031, "ActivationRefusedBroken"), (1032, "ActivationRefusedNotIdle"),
            (1033, "ActivationRefusedUnclaimed"), (1034, "ActivationRefusedClaimNotFound"),
            (1035, "ActivationRefusedOldClaim"), (1036, "ActivationRefusedUnhealthy"),
        )
    ),
    _vacate(1037, "StartdRehoming", INFRA, "The machine moved to another schedd."),
)
# fmt: on
