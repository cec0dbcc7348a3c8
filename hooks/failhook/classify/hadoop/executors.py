"""Why Spark lost an executor: the loss reasons of its schedulers and of Kubernetes."""

from __future__ import annotations

from typing import Any, Final

from failhook.classify.conditions import Shorthand, like, one_of
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.classify.table import Table
from failhook.details import Hint, Kind

_LOSS: Final = (
    "https://github.com/apache/spark/blob/master/core/src/main/scala/org/apache/spark/scheduler/"
    "ExecutorLossReason.scala"
)
_ENDS: Final = (
    "https://github.com/apache/spark/blob/master/core/src/main/scala/org/apache/spark/"
    "TaskEndReason.scala"
)
_CODES: Final = (
    "https://github.com/apache/spark/blob/master/core/src/main/scala/org/apache/spark/executor/"
    "ExecutorExitCode.scala"
)
_K8S: Final = (
    "https://github.com/apache/spark/blob/master/resource-managers/kubernetes/core/src/main/scala/"
    "org/apache/spark/scheduler/cluster/k8s/ExecutorPodsLifecycleManager.scala"
)


_TABLE: Final = Table(prefix="spark", source=_LOSS, confidence=LIKELY)


def _loss(
    name: str, when: dict[str, Shorthand] | str, kind: Kind, reason: str, because: str, **more: Any
) -> Rule:
    """Make a rule on what Spark says; a text as `when` is a pattern for it."""
    asked: dict[str, Shorthand] = {"hadoop.said": like(when)} if isinstance(when, str) else when
    return _TABLE.row(name, {"hadoop.spark": True, **asked}, kind, reason, because, **more)


_EXECUTOR: Final = "Read the executor's own log, and its container's or pod's last state."

# fmt: off
EXECUTORS: Final = (
    _loss(
        "oom-killed", r"reason[=:] ?\(?OOMKilled\b|\(SIGKILL, possible container OOM\)[^\n]{0,80}"
        r"OOMKilled", APPLICATION, "OOMKilled", "The executor's container passed its limit.",
        next_step="Raise spark.executor.memoryOverhead, or make the tasks need less.", source=_K8S,
        confidence=CONFIRMED, hint=Hint.MORE_MEMORY,
    ),
    _loss(
        "pod-evicted", r"brief reason: (?:Evicted|Preempting|NodeLost|NodeShutdown|Shutdown|"
        r"Terminated|PreemptionByScheduler)\b", INFRA, "Evicted",
        "Kubernetes took the executor's pod off its node.", source=_K8S, deterministic=False,
    ),
    _loss(
        "decommissioned", r"(?i)executor decommission|\bdecommissioned\b|worker decommission|"
        r"spot instance", INFRA, "NodeShutdown",
        "The node of the executor was being taken down.", deterministic=False,
        confidence=CONFIRMED,
    ),
    _loss(
        "pod-deleted", r"(?i)action DELETED for pod|received delete pod|was deleted by a user or "
        r"the framework|not found in the (?:k8s )?cluster|pod (?:was )?deleted|missing in the "
        r"cluster", INFRA, "PodDeleted", "The executor's pod was deleted while it ran.",
        source=_K8S, deterministic=False,
    ),
    _loss(
        "killed-by-driver", r"(?i)killed by driver|another attempt succeeded|stage cancelled|"
        r"Job \d{1,9} cancelled", MANUAL, "Cancelled",
        "The driver itself ended the executor or task.", confidence=LIKELY,
    ),
    _loss(
        "task-killed", {"spark.ended": ("TaskKilled", "TaskCommitDenied")}, MANUAL, "Cancelled",
        "The driver itself ended the task.", source=_ENDS,
    ),
    _loss(
        "result-lost", {"spark.ended": ("TaskResultLost", "Resubmitted", "FetchFailed")}, INFRA,
        "ResultLost", "The result of a task was lost with its executor.", source=_ENDS,
        deterministic=False,
    ),
    _loss(
        "exception", {"spark.ended": "ExceptionFailure"}, APPLICATION, "UserException",
        "The task itself raised.", source=_ENDS, tier=Tier.REPORT,
    ),
    _loss(
        "released", r"(?i)explicit termination request", MANUAL, "Cancelled",
        "The driver gave the executor back.",
    ),
    _loss(
        "heartbeat", r"(?i)heartbeat timed out after|no recent heartbeats|did not send a heartbeat",
        INFRA, "HeartbeatTimeout", "The driver did not hear of the executor any more.",
        next_step=_EXECUTOR, deterministic=None,
    ),
    _loss(
        "not-by-app", {"spark.caused_by_app": False}, INFRA, "WorkerLost",
        "Spark says that the application did not cause the executor's end.",
        source=_ENDS, deterministic=False,
    ),
    _loss(
        "unrelated", r"(?i)exited unrelated to the running tasks", INFRA, "WorkerLost",
        "The cluster manager says that the tasks did not cause the end.", next_step=_EXECUTOR,
        deterministic=False,
    ),
    _loss(
        "exit-code.memory", {"exit_code": 52}, APPLICATION, "OutOfMemory",
        "The executor's JVM ran out of memory.",
        next_step="Raise spark.executor.memory.", source=_CODES,
        tier=Tier.SIGNAL, confidence=CONFIRMED, by_itself=True, hint=Hint.MORE_MEMORY,
    ),
    _loss(
        "exit-code.disk", {"exit_code": one_of(53, 54, 55)}, INFRA, "DiskFull",
        "The executor could not make its local directories.", source=_CODES, tier=Tier.SIGNAL,
        hint=Hint.OTHER_NODE,
    ),
    _loss(
        "exit-code.heartbeat", {"exit_code": 56}, INFRA, "HeartbeatTimeout",
        "The executor could not reach the driver for too long.", source=_CODES, tier=Tier.SIGNAL,
    ),
    _loss(
        "exit-code.uncaught", {"exit_code": one_of(50, 51)}, APPLICATION, "UserException",
        "The executor ended with an exception that nobody caught.", source=_CODES, tier=Tier.SIGNAL,
        by_itself=True,
    ),
    _loss(
        "raised",
        r"executor \S{1,60}\): (?!ExecutorLostFailure|FetchFailed|TaskResultLost)[\w.$]{1,200}"
        r"(?:Exception|Error)\b|api\.python\.PythonException",
        APPLICATION, "UserException", "The task itself raised, and Spark gave up on it.",
        tier=Tier.REPORT,
    ),
    _loss(
        "lost", r"(?i)executor (?:\S{1,20} )?(?:is )?lost\b|lost executor|worker lost|slave lost|"
        r"lost for unknown reasons|RPC client disassociated|worker shutting down|"
        r"ExecutorLostFailure", INFRA, "WorkerLost",
        "The executor was lost, and nobody saw how.", next_step=_EXECUTOR, tier=Tier.MISMATCH,
    ),
    _loss(
        "other", {}, UNKNOWN, "ExecutorLost", "Nothing tells how the executor ended.",
        next_step=_EXECUTOR, tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on
