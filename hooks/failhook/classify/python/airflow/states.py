"""What Airflow's scheduler, executors and supervisors say of an attempt: states, log lines."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, has, is_not, like, one_of
from failhook.classify.python.engines import AIRFLOW_OR_BELOW, SAID
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.details import Started

_DOCS: Final = "https://airflow.apache.org/docs/apache-airflow/stable"
_EXTERNALLY: Final = f"{_DOCS}/troubleshooting.html#task-state-changed-externally"
_ZOMBIE: Final = f"{_DOCS}/core-concepts/tasks.html#zombie-undead-tasks"
_TIMEOUTS: Final = f"{_DOCS}/core-concepts/tasks.html#timeouts"
_QUEUED: Final = f"{_DOCS}/configurations-ref.html#task-queued-timeout"
_SIGNAL: Final = f"{_DOCS}/troubleshooting.html#process-terminated-by-signal"
_SUPERVISOR: Final = "https://github.com/apache/airflow/blob/main/task-sdk/src/airflow/sdk/execution_time/supervisor.py"
_RUNNER: Final = (
    "https://github.com/apache/airflow/blob/v2-10-stable/airflow/jobs/local_task_job_runner.py"
)

STATES: Final = (
    # --- a run's own time limit, which skips what is unfinished
    Rule(
        id="airflow.run-timeout.state",
        tier=Tier.DEADLINE,
        when={"state.state_set_to": "skipped", "log": has("has timed-out", "DagRun timed out")},
        kind=TIMEOUT,
        reason="RunTimeout",
        because="The run passed dagrun_timeout, and the scheduler skips what is unfinished.",
        source=_TIMEOUTS,
    ),
    Rule(
        id="airflow.run-timeout.flag",
        tier=Tier.DEADLINE,
        when={
            "state.ti_state": one_of("skipped", "failed"),
            "airflow.run_timeout": True,
            "log": like(r"[Rr]eceived SIGTERM|externally set to skipped"),
        },
        kind=TIMEOUT,
        reason="RunTimeout",
        because="The run has a dagrun_timeout, which skips what is unfinished and sends SIGTERM.",
        source=_TIMEOUTS,
    ),
    Rule(
        id="airflow.run-timeout.logged",
        tier=Tier.DEADLINE,
        when={"log": like(r"DagRun timed out after|\bRun \S{1,300} of \S{1,300} has timed-out")},
        kind=TIMEOUT,
        reason="RunTimeout",
        because="The run passed dagrun_timeout.",
        source=_TIMEOUTS,
    ),
    # --- the task's own time limit
    Rule(
        id="airflow.execution-timeout.logged",
        tier=Tier.DEADLINE,
        when={"log": like(r"Process timed out, PID: ?\d|AirflowTaskTimeout: ")},
        kind=TIMEOUT,
        reason="ExecutionTimeout",
        because="Airflow enforced the task's execution_timeout.",
        source=_TIMEOUTS,
    ),
    Rule(
        id="airflow.sensor-timeout.logged",
        tier=Tier.DEADLINE,
        when={"log": has("Snap. Time is OUT", "Sensor has timed out; run duration of")},
        kind=TIMEOUT,
        reason="SensorTimeout",
        because="The sensor's own time limit was over.",
        source=_TIMEOUTS,
    ),
    # --- the heartbeat
    Rule(
        id="airflow.heartbeat.zombie",
        tier=Tier.DISRUPTION,
        when={
            "words": like(
                rf"{SAID}(?:[Dd]etected (?:zombie job\b|as zombie$"
                r"|a task instance without a heartbeat)"
                r"|(?:heartbeat timeout: )?Task did not emit heartbeat within time limit"
                r"|Failing \(\d{1,6}\) (?:jobs|TIs) without heartbeat after"
                r"|<TaskInstance: [^>\n]{1,300}> (?:detected|killed) as zombie)"
            ),
            "system": AIRFLOW_OR_BELOW,
        },
        kind=INFRA,
        reason="HeartbeatTimeout",
        because="The scheduler stopped hearing of a running task: its worker or link is lost.",
        source=_ZOMBIE,
    ),
    Rule(
        id="airflow.heartbeat.not-sent",
        tier=Tier.DISRUPTION,
        when={
            "words": like(
                rf"{SAID}(?:Too many failed heartbeats; terminating process"
                r"|Heartbeat time limit exceeded|Time since last heartbeat\()"
            ),
            "system": AIRFLOW_OR_BELOW,
        },
        kind=INFRA,
        reason="HeartbeatTimeout",
        deterministic=False,
        because="The supervisor could not reach Airflow any more, and ended the task.",
        source=_SUPERVISOR,
    ),
    # --- two processes for one attempt
    Rule(
        id="airflow.duplicate.pid",
        tier=Tier.DISRUPTION,
        when={
            "words": like(
                rf"{SAID}(?:Recorded pid \d{{1,10}} "
                r"(?:does not match|is not a descendant of) the current"
                r"|PID of job runner does not match"
                r"|The recorded hostname \S{1,200} does not match this instance's hostname)"
            ),
            "system": AIRFLOW_OR_BELOW,
        },
        kind=INFRA,
        reason="DuplicateExecution",
        deterministic=False,
        because="By Airflow's own bookkeeping another process runs this attempt.",
        source=_RUNNER,
    ),
    Rule(
        id="airflow.duplicate.queued-again",
        tier=Tier.DISRUPTION,
        when={
            "state.http_status": one_of(409, 410, 404),
            "state.current_state": one_of("queued", "scheduled", "running"),
        },
        kind=INFRA,
        reason="DuplicateExecution",
        deterministic=False,
        because="The server handed the attempt out again while it ran; nobody does that by hand.",
        source=_SUPERVISOR,
    ),
    Rule(
        id="airflow.duplicate.elsewhere",
        tier=Tier.DISRUPTION,
        when={"state.reason": one_of("running_elsewhere", "ti_running_elsewhere")},
        kind=INFRA,
        reason="DuplicateExecution",
        deterministic=False,
        because="The server says that another process runs this attempt.",
        source=_SUPERVISOR,
    ),
    # --- somebody changed the state
    Rule(
        id="airflow.set.failed",
        tier=Tier.CANCEL,
        when={"airflow.set_to": one_of("failed", "upstream_failed")},
        kind=MANUAL,
        reason="MarkedFailed",
        confidence=LIKELY,
        because="The task was marked failed while it ran, which a person does.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.set.skipped",
        tier=Tier.DEADLINE,
        when={"airflow.set_to": "skipped"},
        kind=TIMEOUT,
        reason="RunTimeout",
        confidence=GUESS,
        because="A running task is skipped when its run passes dagrun_timeout.",
        source=_TIMEOUTS,
    ),
    Rule(
        id="airflow.set.success",
        tier=Tier.CANCEL,
        when={"airflow.set_to": one_of("success", "shutdown", "restarting")},
        kind=MANUAL,
        reason="ExternalStateChange",
        confidence=LIKELY,
        because="A person marked the task or cleared it while it ran.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.set.queued-again",
        tier=Tier.DISRUPTION,
        when={"airflow.set_to": one_of("queued", "scheduled"), "system": AIRFLOW_OR_BELOW},
        kind=INFRA,
        reason="DuplicateExecution",
        deterministic=False,
        because="The scheduler handed the attempt out again while it ran.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.set.gone",
        tier=Tier.DISRUPTION,
        when={"state.http_status": one_of(404, 410), "state.current_state": ABSENT},
        kind=UNKNOWN,
        reason="ExternalStateChange",
        confidence=GUESS,
        because="The server knows this attempt no more: it was cleared, removed or replaced.",
        source=_SUPERVISOR,
    ),
    Rule(
        id="airflow.set.other",
        tier=Tier.DISRUPTION,
        when={"airflow.set_to": PRESENT},
        kind=UNKNOWN,
        reason="ExternalStateChange",
        confidence=GUESS,
        because="Scheduler and people both cause this change of state.",
        source=_EXTERNALLY,
    ),
    # --- executor and record disagree
    Rule(
        id="airflow.mismatch.queued",
        tier=Tier.MISMATCH,
        when={
            "executor_event.state": one_of("failed", "FAILED"),
            "state.ti_state": one_of("queued", "scheduled"),
        },
        kind=INFRA,
        reason="NeverStarted",
        deterministic=False,
        started=Started.NO,
        because="The executor reports a failure although the task never left the queue.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.mismatch.running",
        tier=Tier.MISMATCH,
        when={
            "executor_event.state": one_of("failed", "FAILED"),
            "state.ti_state": "running",
            "executor_event.container_reason": ABSENT,
            "executor_event.info": is_not("Pod failed because of None"),
        },
        kind=INFRA,
        reason="WorkerLost",
        because="The worker died before the task reported anything.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.mismatch.queued.logged",
        tier=Tier.MISMATCH,
        when={
            "words": like(
                r"> finished \(failed\) although the task says it'?s (?:state is )?\(?'?(?:queued"
                r"|scheduled)"
                r"|finished with state failed, but the task instance's state attribute is (?:queued"
                r"|scheduled)"
            ),
            "system": AIRFLOW_OR_BELOW,
        },
        kind=INFRA,
        reason="NeverStarted",
        deterministic=False,
        started=Started.NO,
        because="The executor reports a failure although the task never left the queue.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.mismatch.running.logged",
        tier=Tier.MISMATCH,
        when={
            "words": like(
                r"> finished \(failed\) although the task says it'?s (?:state is )?\(?'?running"
                r"|finished with state failed, but the task instance's state attribute is running"
            ),
            "system": AIRFLOW_OR_BELOW,
        },
        kind=INFRA,
        reason="WorkerLost",
        because="The worker died before the task reported anything.",
        source=_EXTERNALLY,
    ),
    Rule(
        id="airflow.queued-too-long",
        tier=Tier.MISMATCH,
        when={
            "words": like(
                r"<TaskInstance: [^>\n]{1,300}> (?:was )?stuck in queued|^stuck in queued\b"
                r"|Task was requeued more than \d{1,6} times|Task requeue attempts exceeded max"
                r"|<TaskInstance: [^>\n]{1,300}> [^\n]{0,60}in queued state for longer than"
            ),
            "system": AIRFLOW_OR_BELOW,
        },
        kind=INFRA,
        reason="NeverStarted",
        deterministic=False,
        started=Started.NO,
        because="The executor never began the task within the queue's time limit.",
        source=_QUEUED,
    ),
    Rule(
        id="airflow.queued-too-long.event",
        tier=Tier.MISMATCH,
        when={"state.log_event": has("stuck in queued")},
        kind=INFRA,
        reason="NeverStarted",
        deterministic=False,
        started=Started.NO,
        because="The executor never began the task within the queue's time limit.",
        source=_QUEUED,
    ),
    # --- how the task's process ended
    Rule(
        id="airflow.code-not-found.logged",
        tier=Tier.EXIT,
        when={
            "log": like(
                r"Dag not found during start ?up|Task not found in Dag during start ?up"
                r"|dag_id could not be found|Dag '?[\w.\-]{1,200}'? could not be found"
            )
        },
        kind=APPLICATION,
        reason="CodeLoadError",
        ended_by_itself=True,
        because="Where the task ran, its DAG is missing or does not parse.",
        source=f"{_DOCS}/troubleshooting.html",
    ),
    Rule(
        id="airflow.wrapper-exit",
        tier=Tier.EXIT,
        when={
            "exit_code": 1,
            "system": AIRFLOW_OR_BELOW,
            "log": like(
                r"(?i:(?:task|process|command) (?:exited (?:with|abnormally)|failed\b))"
                r"|died unexpectedly with exit code|non-zero status code"
            ),
        },
        kind=UNKNOWN,
        reason="GenericExit",
        confidence=GUESS,
        message="The wrapper around the task exited with code 1.",
        because="The code is the wrapper's own, and it says no more than that something failed.",
        source=_SIGNAL,
    ),
)
