"""What slurmstepd, srun and sbatch write into a job's output: src/slurmd, src/srun, slurm_errno.c.

These are the words of Slurm's own daemons, in a file that the job writes too. So they weigh less
than Slurm's record of the job, are never more than likely, and one that blames the cluster counts
only where the job says nothing of its own by an exception or an exit code.
"""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    TIMEOUT,
    UNKNOWN,
)
from failhook.classify.table import Table
from failhook.details import Hint, Started

_REQ: Final = "https://github.com/SchedMD/slurm/blob/master/src/slurmd/slurmstepd/req.c"
_SRUN: Final = "https://github.com/SchedMD/slurm/blob/master/src/srun/launch.c"
_OOM: Final = (
    "https://github.com/SchedMD/slurm/blob/master/src/plugins/task/cgroup/task_cgroup_memory.c"
)
_ERRNO: Final = "https://github.com/SchedMD/slurm/blob/master/src/common/slurm_errno.c"

TELLING: Final = ("NODE FAILURE", "PREEMPTION", "TIME LIMIT", "JOB REQUEUE", "TASK FAILURE")
"""Reasons on slurmstepd's banner that explain why a job was cancelled."""


_line: Final = Table(prefix="slurm.said", source=_REQ, confidence=LIKELY).row


_SUBMIT: Final = "Correct what the message of sbatch names."
_MEMORY: Final = "Ask for more memory (--mem), or make the job need less."

# fmt: off
MESSAGES: Final = (
    _line(
        "node-failure", {"slurm.banner": "NODE FAILURE"}, INFRA, "NODE_FAIL",
        "slurmstepd ended the job because a node failed.", source=_REQ,
        next_step="Look at the node: scontrol show node, and its log.", deterministic=False,
    ),
    _line(
        "preemption", {"slurm.banner": "PREEMPTION"}, INFRA, "PREEMPTED",
        "slurmstepd ended the job for one of higher priority.", source=_REQ,
        next_step="Nothing, or use a partition or QOS that is not preempted.", deterministic=False,
    ),
    _line(
        "time-limit", {"slurm.banner": "TIME LIMIT"}, TIMEOUT, "TIMEOUT",
        "slurmstepd ended the job at its time limit.", source=_REQ,
        next_step="Ask for more time (--time), or write checkpoints.",
    ),
    _line(
        "out-of-memory",
        {"slurm.said": like(r"^Detected \d{1,9} oom.kill event|have been OOM Killed")},
        APPLICATION, "OUT_OF_MEMORY",
        "slurmstepd saw the kernel kill for memory in the cgroup of the job.", source=_OOM,
        next_step=_MEMORY, hint=Hint.MORE_MEMORY,
    ),
    _line(
        "memory-limit",
        {"slurm.said": like(r"(?i)exceeded (?:job )?memory limit|: Out Of Memory$")},
        APPLICATION, "OUT_OF_MEMORY", "Slurm ended the job at its memory limit.", source=_OOM,
        next_step=_MEMORY, hint=Hint.MORE_MEMORY,
    ),
    _line(
        "task-failure", {"slurm.banner": "TASK FAILURE"}, APPLICATION, "TaskFailure",
        "One task of the step failed, and srun ended the others.", source=_REQ,
        next_step="Look for the first task that failed: its exit code is in the output above.",
    ),
    _line(
        "node-failure.srun", {"slurm.said": like(r"^Node failure on ")}, INFRA, "NODE_FAIL",
        "srun was told that a node failed.", source=_SRUN,
        next_step="Look at the node: scontrol show node, and its log.", deterministic=False,
    ),
    _line(
        "requeue", {"slurm.banner": "JOB REQUEUE"}, UNKNOWN, "JobRequeue",
        "The job was requeued, by preemption, a failed node, or a person.", source=_REQ,
        next_step="Read slurmctld.log for who requeued the job.", confidence=GUESS,
    ),
    _line(
        "spool-lost",
        {"slurm.said": like(r"^execve\(\): \S{1,250}/slurm_script: No such file")},
        INFRA, "LaunchFailed", "The node lost the copy that slurmd keeps of the batch script.",
        source=_REQ, next_step="Look at SlurmdSpoolDir on the node.",
    ),
    _line(
        "no-executable",
        {
            "slurm.said": like(
                r"^execve\(\): .{0,250}(?:No such file|Permission denied|Exec format)"
            )
        },
        APPLICATION, "SpecError", "The program of the step cannot be executed.", source=_ERRNO,
        next_step="Check the path of the program on the node, its mode, and its interpreter line.",
        deterministic=True,
    ),
    _line(
        "no-output-file",
        {"slurm.said": like(r"(?i)could not open std(?:out|err|in) file|Unable to open file")},
        APPLICATION, "SpecError", "A file that the job was told to use cannot be opened.",
        source=_ERRNO,
        next_step="Check the paths of --output, --error and --input.", deterministic=True,
        started=Started.NO,
    ),
    _line(
        "submit.refused",
        {
            "slurm.said": like(
                r"(?i)^(?:Batch job submission failed|Unable to allocate resources|"
                r"Job submit/allocate failed): (?:.{0,60}Invalid |Requested (?:node configuration|"
                r"time limit|nodes not|topology)|Job violates accounting|More processors|"
                r"Memory (?:required|specification)|Access/permission denied|User's group|"
                r"Node count specification|Pathname of a file|No partition|Task count|CPU count|"
                r"Job script|Job size|Time limit specification)"
            )
        },
        APPLICATION, "SpecError", "Slurm refused the job for what it asks for.", source=_ERRNO,
        next_step=_SUBMIT, deterministic=True, started=Started.NO,
    ),
    _line(
        "controller-unreachable",
        {
            "slurm.said": like(
                r"(?i)Unable to contact slurm controller|Socket timed out on send/recv|"
                r"controller not responding|Rate limit exceeded|"
                r"submission failed: (?:Communication|Zero Bytes|Message send|Message receive)"
            )
        },
        INFRA, "OrchestratorUnreachable", "Slurm's controller did not answer.", source=_ERRNO,
        next_step="Look at slurmctld: scontrol ping.", deterministic=False, executor_side=True,
    ),
    _line(
        "launch",
        {
            "slurm.said": like(
                r"(?i)job credential (?:expired|revoked|replayed)|invalid job credential|"
                r"^task \d{1,9} launch failed: (?!Slurmd could not execve)|"
                r"(?:job|task) prolog failed|^Prolog failed|Slurmd could not (?:create|set up|"
                r"connect|set UID)|Slurm backup controller in standby"
            )
        },
        INFRA, "LaunchFailed", "The node could not start the job, for reasons of its own.",
        source=_ERRNO,
        next_step="Read slurmd.log of the node.", deterministic=False, started=Started.NO,
        hint=Hint.OTHER_NODE,
    ),
    _line(
        "signalled", {"slurm.banner": like(r"^SIGNAL |^CANCELLED$")}, UNKNOWN, "Terminated",
        "Somebody ended the job: the banner does not say who.", source=_REQ,
        next_step="Look at the job's state in sacct: it tells a cancel from a limit.",
        confidence=GUESS,
    ),
    _line(
        "failed", {"slurm.banner": "FAILED"}, APPLICATION, "NonZeroExit",
        "slurmstepd ended the job because a part of it had failed.", source=_REQ,
        next_step="Look for the first task that failed: its exit code is in the output above.",
    ),
    _line(
        "job-killed", {"slurm.said": has("Job killed due node failure")}, INFRA, "NODE_FAIL",
        "Slurm ended the job because a node failed.", source=_ERRNO, deterministic=False,
    ),
)
# fmt: on
