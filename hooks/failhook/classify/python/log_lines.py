"""Log lines in which an engine says what it did to a task, or saw of its end."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.details import Hint

_FAQ: Final = "https://airflow.apache.org/docs/apache-airflow/stable/faq.html"
_SIGNAL: Final = (
    "https://airflow.apache.org/docs/apache-airflow/stable/troubleshooting.html"
    "#process-terminated-by-signal"
)
_CELERY: Final = "https://docs.celeryq.dev/en/stable/userguide/workers.html"
_RAY: Final = "https://docs.ray.io/en/latest/ray-core/fault-tolerance.html"
_DASK: Final = "https://distributed.dask.org/en/stable/killed.html"
_KILLED: Final = (
    r"Negsignal\.SIGKILL|(?:return|exit|status) code:? -9\b|\(code -9\)|signal_name=SIGKILL"
    r"|(?:terminated by|killed by|exited with '?|exited on) ?signal:? ?9\b|\(signal 9\)"
    r"|was killed before it finished \(likely due to running out of memory\)"
)
_CRASHED: Final = (
    r"Negsignal\.SIG(?:SEGV|ABRT|BUS|ILL|FPE)|(?:return|exit|status) code:? -(?:4|6|7|8|11)\b"
    r"|\(code -(?:4|6|7|8|11)\)|signal_name=SIG(?:SEGV|ABRT|BUS|ILL|FPE)"
    r"|(?:terminated by|killed by|exited with '?) ?signal:? ?(?:4|6|7|8|11)\b"
    r"|Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Illegal instruction)"
)
_TERMINATED: Final = (
    r"Received SIGTERM\. Terminating subprocesses|Negsignal\.SIGTERM|Task received SIGTERM"
    r"|(?:return|exit|status) code:? -15\b|signal_name=SIGTERM|aborted by a termination signal"
    r"|(?:terminated by|killed by|exited with '?) ?signal:? ?15\b"
)

LOG_LINES: Final = (
    Rule(
        id="log.celery.time-limit",
        tier=Tier.DEADLINE,
        when={"words": like(r"(?:Hard|Soft) time limit \(\S{1,12}s\) exceeded")},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        because="The pool enforced the task's time limit.",
        source=f"{_CELERY}#time-limits",
    ),
    Rule(
        id="log.dramatiq.time-limit",
        tier=Tier.DEADLINE,
        when={"words": has("Time limit exceeded. Raising exception in worker thread")},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        because="The time limit of the actor was enforced.",
        source="https://dramatiq.io/reference.html",
    ),
    Rule(
        id="log.celery.revoked",
        tier=Tier.CANCEL,
        when={"words": like(r"Discarding revoked task: |\bTerminating \S{1,80} \(Signals\.SIG")},
        kind=MANUAL,
        reason="Cancelled",
        because="Somebody revoked the task.",
        source=f"{_CELERY}#revoke-revoking-tasks",
    ),
    Rule(
        id="log.ray.node-memory",
        tier=Tier.LOG,
        when={
            "words": like(
                r"killed due to (?:memory pressure|the node running low on memory)"
                r"|NODE_OUT_OF_MEMORY"
            )
        },
        kind=INFRA,
        reason="OutOfMemoryKill",
        hint=Hint.MORE_MEMORY,
        because="The node was nearly out of memory; its monitor chose this task.",
        source=_RAY,
    ),
    Rule(
        id="log.ray.worker-died",
        tier=Tier.LOG,
        when={
            "words": like(r"A worker died or was killed while executing a task by an unexpected")
        },
        kind=INFRA,
        reason="WorkerLost",
        because="The worker process went away without an end of its own.",
        source=_RAY,
    ),
    Rule(
        id="log.dask.workers-died",
        tier=Tier.LOG,
        when={"words": like(r"marked as failed because \d{1,4} workers died")},
        kind=INFRA,
        reason="WorkerLost",
        hint=Hint.POISON_TASK,
        because="Each worker that took the task died; the task itself may be what kills them.",
        source=_DASK,
    ),
    Rule(
        id="log.killed",
        tier=Tier.LOG,
        when={"words": like(_KILLED)},
        kind=INFRA,
        reason="KilledBySignal",
        confidence=GUESS,
        because="The supervisor's line names SIGKILL; whether for memory is not known.",
        source=_SIGNAL,
    ),
    Rule(
        id="log.crash",
        tier=Tier.LOG,
        when={"words": like(_CRASHED)},
        kind=APPLICATION,
        reason="NativeCrash",
        ended_by_itself=True,
        because="The supervisor's line names a crash.",
        source=_SIGNAL,
    ),
    Rule(
        id="log.terminated",
        tier=Tier.LOG,
        when={"words": like(_TERMINATED)},
        kind=UNKNOWN,
        reason="Terminated",
        confidence=GUESS,
        because="The line says that SIGTERM came; who asked for it is not known.",
        source=_SIGNAL,
    ),
    Rule(
        id="log.exit-in-task",
        tier=Tier.LOG,
        when={"words": like(r"Task failed due to SystemExit\(|aborted by Python system exit call")},
        kind=APPLICATION,
        reason="UserExit",
        ended_by_itself=True,
        because="The code ended itself with sys.exit().",
        source="https://docs.python.org/3/library/sys.html#sys.exit",
    ),
    Rule(
        id="log.shell-killed",
        tier=Tier.LOG,
        when={"log": like(r"line \d{1,6}:\s{1,20}\d{1,10} Killed\s")},
        kind=UNKNOWN,
        reason="KilledBySignal",
        confidence=GUESS,
        because="A shell saw that its child was killed; the number is a process id.",
        source="https://www.gnu.org/software/bash/manual/html_node/Job-Control-Basics.html",
    ),
    Rule(
        id="log.terminated-externally",
        tier=Tier.LOG,
        when={"log": has("Likely it has been terminated by the external system")},
        kind=UNKNOWN,
        reason="TerminatedExternally",
        confidence=GUESS,
        because="The engine saw no exit status and guesses.",
        source="https://www.nextflow.io/docs/latest/executor.html",
    ),
    Rule(
        id="log.code",
        tier=Tier.LOG,
        when={
            "log": like(
                r"Broken DAG: \[|No module named '|cannot import name '|invalid syntax \("
                r"|unexpected indent \(|Either the dag did not exist or it failed to parse"
            )
        },
        kind=APPLICATION,
        reason="CodeLoadError",
        deterministic=True,
        ended_by_itself=True,
        because="The log holds Python's own sentence about code that cannot be loaded.",
        source=_FAQ,
    ),
    Rule(
        id="log.upstream-failed",
        tier=Tier.NOTHING,
        when={"state.ti_state": "upstream_failed"},
        kind=APPLICATION,
        reason="UpstreamFailed",
        because="An upstream task failed, so this one never ran.",
        source="https://airflow.apache.org/docs/apache-airflow/stable/core-concepts/tasks.html",
    ),
    Rule(
        id="record.host-terminated",
        tier=Tier.DISRUPTION,
        when={"state.status_reason": like(r"^Host EC2")},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        because="AWS Batch says that the machine under the job was taken away.",
        source="https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",
    ),
)
