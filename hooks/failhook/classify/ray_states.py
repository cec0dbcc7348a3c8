"""Ray's state records: the error type of a task, and how its worker ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, like
from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    UNKNOWN,
    Take,
    Tier,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Hint, Started
from failhook.evidence import Evidence

_TYPES: Final = "https://github.com/ray-project/ray/blob/master/src/ray/protobuf/common.proto"
_OOM: Final = "https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html"
_FAULTS: Final = "https://docs.ray.io/en/latest/ray-core/fault-tolerance.html"
_FIELDS: Final = (
    "error_type",
    "worker_exit_type",
    "worker_exit_detail",
    "death_cause",
    "exit_type",
)
_EXITED: Final = re.compile(r"exits with an? exit code (\d{1,3})\b")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the error type, under the name of the protocol or of the exception."""
    document = Record(evidence.facts)
    kind = document.text("error_type")
    how = document.text("worker_exit_type", "exit_type")
    if kind is None and how is None:
        return
    facts.read("ray.error", _name(kind) if kind else None, "error_type")
    facts.read("ray.exit", how.upper() if how else None, "worker_exit_type")
    said = joined(
        *(document.get(name) for name in ("worker_exit_detail", "exit_detail", "error_message")),
        *(document.get(name) for name in ("message", "death_cause", "death_cause_message")),
    )
    facts.read("ray.said", said or None, "error_message")
    found = _EXITED.search(said)
    if found is not None and found[1] != "0":
        facts["ray.exit_code"] = int(found[1])


def _name(kind: str) -> str:
    """Return ``OUT_OF_MEMORY`` for both that and ``OutOfMemoryError``."""
    kind = kind.rpartition(".")[2]
    if not kind.isupper():
        kind = _CAMEL.sub("_", kind).upper()
    return kind.removesuffix("_ERROR")


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a task or worker as ``ray list ... --format json --detail`` prints it."""
    document = Record(record)
    task = "task_id" in document and "error_type" in document
    worker = "worker_id" in document and "exit_type" in document
    return Evidence("ray", record) if task or worker else None


_rule: Final = Table(
    prefix="ray.state",
    source=_TYPES,
    next_step="Look at the worker and its node: ray list workers --detail, ray list nodes.",
).row


_TYPE: Final = Take("ray.error")

# fmt: off
RULES: Final = (
    _rule("cancelled", {"ray.error": ("TASK_CANCELLED", "TASK_CANCELED")}, MANUAL, "Cancelled",
          "Somebody cancelled the task."),
    _rule("placement-group", {"ray.error": ("TASK_PLACEMENT_GROUP_REMOVED",
                                            "ACTOR_PLACEMENT_GROUP_REMOVED")},
          MANUAL, _TYPE, "Somebody removed the placement group of the task.", confidence=LIKELY),
    _rule("node-memory", {"ray.error": "OUT_OF_MEMORY"}, INFRA, "NodeOOM",
          "Ray's memory monitor killed the task because the node was short of memory.",
          source=_OOM, deterministic=False, confidence=LIKELY, hint=Hint.MORE_MEMORY),
    _rule("node-memory.exit", {"ray.exit": "NODE_OUT_OF_MEMORY"}, INFRA, "NodeOOM",
          "Ray's memory monitor killed the worker because the node was short of memory.",
          source=_OOM, deterministic=False, confidence=LIKELY, hint=Hint.MORE_MEMORY),
    _rule("node-died", {"ray.error": ("NODE_DIED", "LOCAL_RAYLET_DIED")}, INFRA, _TYPE,
          "The node under the task is gone.", deterministic=False),
    _rule("preempted", {"ray.said": like(r"AUTOSCALER_DRAIN_PREEMPTED|its node was preempted")},
          INFRA, "Preempted", "The node was preempted.", deterministic=False),
    _rule("actor-node", {"ray.error": ("ACTOR_DIED", "RAY_ACTOR"),
                         "ray.said": like(r"its node has died|node_died")},
          INFRA, "NodeLost", "The node under the actor is gone.", deterministic=False),
    _rule("actor-init",
          {"ray.error": ("ACTOR_DIED", "ACTOR_CREATION_FAILED", "RAY_ACTOR"),
           "ray.said": like(r"error raised in its creation task|creation task failed|__init__")},
          APPLICATION, "UserException", "The actor's own constructor raised.", source=_FAULTS),
    _rule("actor-killed",
          {"ray.error": ("ACTOR_DIED", "RAY_ACTOR"),
           "ray.said": like(r"killed by `?ray\.kill|references to the actor were removed")},
          MANUAL, "Cancelled", "The program itself ended the actor.", source=_FAULTS,
          confidence=LIKELY),
    _rule("user-exit", {"ray.exit_code": PRESENT}, APPLICATION, "UserExit",
          "The worker ended with an exit code that the task's code chose.", source=_FAULTS,
          confidence=LIKELY),
    _rule("user-exit.type", {"ray.exit": ("USER_ERROR", "INTENDED_USER_EXIT")}, APPLICATION,
          "UserExit", "The task's own code ended the worker."),
    _rule("runtime-env", {"ray.error": ("RUNTIME_ENV_SETUP_FAILED", "RUNTIME_ENV_SETUP")},
          APPLICATION, "EnvSetupFailure", "The environment that the task asks for was not set up.",
          started=Started.NO, confidence=LIKELY),
    _rule("unschedulable", {"ray.error": ("TASK_UNSCHEDULABLE", "ACTOR_UNSCHEDULABLE")},
          APPLICATION, _TYPE, "No node can ever run what the task asks for.", started=Started.NO),
    _rule("raised", {"ray.error": ("TASK_EXECUTION_EXCEPTION", "RAY_TASK", "ACTOR_CREATION_FAILED",
                                   "DEPENDENCY_RESOLUTION_FAILED")},
          APPLICATION, "UserException", "The task's own code raised.", tier=Tier.REPORT),
    _rule("objects",
          {"ray.error": like(r"^(?:OBJECT_|OWNER_DIED$|REFERENCE_COUNTING|GENERATOR_TASK_FAILED)")},
          INFRA, "ResultLost", "An object that the task needs was lost with its node or owner.",
          confidence=LIKELY),
    _rule("disk", {"ray.error": "OUT_OF_DISK"}, INFRA, "DiskFull", "The node's disk is full.",
          confidence=LIKELY),
    _rule("worker-lost",
          {"ray.error": ("WORKER_DIED", "WORKER_CRASHED", "ACTOR_UNAVAILABLE", "ACTOR_DIED",
                         "WORKER_STARTUP_FAILED", "RAY_ACTOR")},
          INFRA, "WorkerLost", "The worker was lost, and nobody saw how.", source=_FAULTS,
          tier=Tier.MISMATCH, confidence=LIKELY),
    _rule("worker-lost.exit", {"ray.exit": "SYSTEM_ERROR"}, INFRA, "WorkerLost",
          "The worker was lost, and nobody saw how.", source=_FAULTS, tier=Tier.MISMATCH,
          confidence=LIKELY),
    _rule("other", {"ray.error": PRESENT}, UNKNOWN, _TYPE,
          "This error type does not tell whose fault it was.", tier=Tier.NOTHING, confidence=GUESS),
    _rule("exit.other", {"ray.exit": PRESENT}, UNKNOWN, Take("ray.exit"),
          "Ray ended the worker for a reason of its own.", tier=Tier.NOTHING, confidence=GUESS),
)
# fmt: on

SOURCE: Final = Source(
    name="ray_states",
    systems=frozenset({"ray"}),
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
