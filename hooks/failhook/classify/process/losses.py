"""Attempts that were lost: never begun, not heard of again, or finished without a report."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, is_not, one_of
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    MANUAL,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.details import Started

_EXEC: Final = "https://man7.org/linux/man-pages/man2/execve.2.html"
_AIP97: Final = "https://cwiki.apache.org/confluence/display/AIRFLOW/AIP-97"
_OURS: Final = "docs/concepts.md"
_STATES: Final = (
    "The executor says {mismatch.executor_state}, the record {mismatch.recorded_state}."
)

_QUEUED: Final = one_of("queued", "scheduled", "pending", "submitted", "waiting", "starting")
_RUNNING: Final = one_of("running", "restarting", "started")

LOSSES: Final = (
    Rule(
        id="process.exec.bad-command",
        tier=Tier.DISRUPTION,
        # EPERM ENOENT E2BIG ENOEXEC EACCES ENOTDIR EISDIR EINVAL ENAMETOOLONG ELOOP
        when={"exec.errno": one_of(1, 2, 7, 8, 13, 20, 21, 22, 36, 40)},
        kind=APPLICATION,
        reason="SpecError",
        deterministic=True,
        confidence=CONFIRMED,
        started=Started.NO,
        ended_by_itself=True,
        message="The command cannot be executed: {exec.message}",
        because="The command does not exist or may not be executed, and stays so.",
        source=_EXEC,
        next_step="Check the path of the command, its mode and its interpreter line.",
    ),
    Rule(
        id="process.exec.no-resources",
        tier=Tier.DISRUPTION,
        when={"exec.errno": one_of(11, 12, 23, 24)},  # EAGAIN ENOMEM ENFILE EMFILE
        kind=INFRA,
        reason="ResourceExhausted",
        deterministic=False,
        started=Started.NO,
        ended_by_itself=True,
        message="The machine could not start the command: {exec.message}",
        because="The machine had no processes, memory or descriptors left to start a command.",
        source=_EXEC,
        next_step="Look at the load and the limits of the worker.",
    ),
    Rule(
        id="process.exec.other",
        tier=Tier.DISRUPTION,
        when={"exec": PRESENT},
        kind=INFRA,
        reason="SubmitFailure",
        confidence=GUESS,
        started=Started.NO,
        ended_by_itself=True,
        message="The command was not started: {exec.message}",
        because="The command was not started, and its error does not blame the command.",
        source=_EXEC,
        next_step="Read the error of the supervisor.",
    ),
    Rule(
        id="process.lost.rebooted",
        tier=Tier.MISMATCH,
        when={"lost.why": "rebooted"},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        message="{lost.host} was restarted while the attempt was open.",
        because="The machine was restarted under the attempt.",
        source=_OURS,
        next_step="Read the machine's log of the restart.",
    ),
    Rule(
        id="process.lost",
        tier=Tier.MISMATCH,
        when={"lost": PRESENT},
        kind=INFRA,
        reason="WorkerLost",
        message="Whoever supervised the attempt (process {lost.pid} on {lost.host}) is gone.",
        because="The supervisor of an open attempt is gone, and nobody reported an end.",
        source=_OURS,
        next_step="Find out how the supervisor ended, from its log and the kernel's.",
    ),
    Rule(
        id="process.heartbeat.node-lost",
        tier=Tier.DISRUPTION,
        when={"heartbeat.node_ready": False},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        message="The heartbeat stopped and the node does not answer.",
        because="Attempt and node went silent together.",
        source=_OURS,
        next_step="Look at the state and the log of the node.",
    ),
    Rule(
        id="process.heartbeat.lost",
        tier=Tier.MISMATCH,
        when={"heartbeat": PRESENT},
        kind=INFRA,
        reason="HeartbeatTimeout",
        message="No heartbeat for more than {heartbeat.timeout} s.",
        because="The attempt was not heard of any more; that does not prove that it is dead.",
        source=_OURS,
        next_step="Make sure that the old attempt is dead; look for memory pressure or a held GIL.",
    ),
    Rule(
        id="mismatch.marked-failed",
        tier=Tier.MISMATCH,
        when={"mismatch.recorded": one_of("failed", "failure", "upstream_failed", "error")},
        kind=MANUAL,
        reason="MarkedFailed",
        message="The record already said {mismatch.recorded_state}.",
        because="The recorded state was final before the executor reported: somebody marked it.",
        source=_AIP97,
        next_step="Look into the audit log for who set the state.",
    ),
    Rule(
        id="mismatch.cancelled",
        tier=Tier.MISMATCH,
        when={
            "mismatch.recorded": one_of(
                "cancelled", "canceled", "cancelling", "canceling", "revoked"
            )
        },
        kind=MANUAL,
        reason="Cancelled",
        message="The record already said {mismatch.recorded_state}.",
        because="The run was cancelled, and the end that the executor saw carries that out.",
        source=_AIP97,
        next_step="Look into the audit log for who cancelled it.",
    ),
    Rule(
        id="mismatch.already-final",
        tier=Tier.MISMATCH,
        when={
            "mismatch.recorded": one_of("success", "succeeded", "skipped", "removed", "completed")
        },
        kind=MANUAL,
        reason="ExternalStateChange",
        message="The record already said {mismatch.recorded_state}.",
        because="The recorded state was final before the executor reported; nothing is left to do.",
        source=_AIP97,
        next_step="Look into the audit log for who set the state, and at the run's own time limit.",
    ),
    Rule(
        id="mismatch.no-report-channel",
        tier=Tier.MISMATCH,
        when={"mismatch.can_report": False},
        kind=UNKNOWN,
        reason="StateMismatch",
        confidence=GUESS,
        because="The task had no working way to report; a failure of its own looks just like this.",
        source=_AIP97,
        next_step="Repair the way to report, then read the task's log.",
    ),
    Rule(
        id="mismatch.never-started",
        tier=Tier.MISMATCH,
        when={"mismatch.recorded": _QUEUED, "mismatch.executor": is_not("success", "succeeded")},
        kind=INFRA,
        reason="NeverStarted",
        deterministic=False,
        started=Started.NO,
        message=_STATES,
        because="The executor reports an end although the task never left the queue.",
        source=_AIP97,
        next_step="Read the executor's log around this attempt.",
    ),
    Rule(
        id="mismatch.never-reported",
        tier=Tier.MISMATCH,
        when={"mismatch.recorded": _RUNNING, "mismatch.executor": is_not("success", "succeeded")},
        kind=INFRA,
        reason="WorkerLost",
        started=Started.YES,
        message=_STATES,
        because="The worker died before the task reported anything.",
        source=_AIP97,
        next_step="Find out how the worker ended: its log, the kernel's log, the pod.",
    ),
    Rule(
        id="mismatch.clean-end-without-report",
        tier=Tier.MISMATCH,
        when={"mismatch.recorded": PRESENT, "mismatch.executor": one_of("success", "succeeded")},
        kind=UNKNOWN,
        reason="StateMismatch",
        confidence=GUESS,
        message=_STATES,
        because="A clean end without a report: a lost report and an early exit look alike.",
        source=_AIP97,
        next_step="Read the end of the task's log.",
    ),
    Rule(
        id="mismatch.state-changed",
        tier=Tier.MISMATCH,
        when={"mismatch.recorded": one_of("up_for_retry", "up_for_reschedule", "deferred", "none")},
        kind=UNKNOWN,
        reason="ExternalStateChange",
        confidence=GUESS,
        message="The record says {mismatch.recorded_state}.",
        because="Somebody or something else changed the recorded state while the task ran.",
        source=_AIP97,
        next_step="Look into the scheduler's log for the change of state.",
    ),
    Rule(
        id="mismatch.other",
        tier=Tier.MISMATCH,
        when={"mismatch": PRESENT},
        kind=UNKNOWN,
        reason="StateMismatch",
        confidence=GUESS,
        because="Executor and record disagree in a way that tells nothing.",
        source=_AIP97,
        next_step="Read the logs of executor and scheduler.",
    ),
)
