"""Reads YARN's application and attempt reports, MapReduce attempts, and Spark's lost executors.

All three quote the same container exit statuses, so all of them are read into the same facts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined, whole
from failhook.evidence import Evidence

YARN: Final = frozenset({"yarn", "hadoop", "mapreduce", "emr"})
SPARK: Final = frozenset({"spark", "spark-k8s", "spark-yarn", "pyspark"})
FIELDS: Final = (
    *(
        "diagnostics",
        "finalStatus",
        "final_status",
        "yarnApplicationState",
        "app",
        "diagnosticsInfo",
    ),
    *("event", "Event", "Task End Reason", "exitStatus", "exit_status", "container_diagnostics"),
)

_STATUS: Final = re.compile(
    r"(?i)(?:exited with\s{1,4}exit ?code|exit ?status|exited with a non-zero exit code|"
    r"exit code(?: from container \S{1,80}+)?(?: is)?|exited with(?: exit)? code|exitCode)"
    r"\s{0,4}[:=]?\s{0,4}(-?\d{1,10})\b"
)
_EXECUTOR: Final = re.compile(
    r"(?i)executor|lost task|container marked as failed|SparkListenerTaskEnd|ExceptionFailure"
)
_RAISED: Final = re.compile(
    r"(?im)(?:(?:executor \S{1,60}\)|lost task \S{1,40} in stage [^:\n]{1,200}|^Error): "
    r"(?!ExecutorLostFailure|FetchFailed|TaskResultLost|[\w.$]{1,200}ShuffleError|"
    r"java\.io\.IOException: No space left on device)[\w.$]{1,200}(?:Exception|Error)\b|"
    r"user class threw exception: (?!org\.apache\.spark\.SparkException: Job )[\w.$]{1,200})"
)
"""Where a task's own exception begins; what it says after that is the program's, not Spark's."""

_YARN_STATUSES: Final = range(-1_100, -99)


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the state, the diagnostics, and the exit status that they quote."""
    document = Record(evidence.facts)
    document = document.holder("diagnostics", "finalStatus", "message", "exitStatus")
    ended = document.record("Task End Reason", "end_reason", "reason")
    event = document.text("event", "type") or ended.text("Reason") or ""
    spark = evidence.system in SPARK or bool(_EXECUTOR.match(event))
    told = any(name in document for name in ("diagnostics", "finalStatus", "yarnApplicationState"))
    if not spark and not told and evidence.system not in YARN:
        return
    said = joined(
        *(document.get(name) for name in ("diagnostics", "diagnosticsInfo", "message", "messages")),
        *(document.get(name) for name in ("reason", "lossReason", "loss_reason", "error")),
        *(ended.get(name) for name in ("Reason", "Loss Reason", "Class Name")),
        event if " " in event else None,
    )
    if spark and ended.get("Exit Caused By App") is False:
        facts["spark.caused_by_app"] = False
    facts.read("spark.ended", ended.text("Reason"), "Task End Reason")
    if said:
        facts.setdefault("text.gpu", said)  # it quotes the program: a broken device shows there
    raised = _RAISED.search(said)
    if raised is not None:
        said = said[: raised.end()]
    facts.read("hadoop.said", said or None, "message" if spark else "diagnostics")
    facts["hadoop.spark"] = spark
    if not spark:
        facts.read("yarn.state", document.text("yarnApplicationState", "appState", "state"))
        facts.read("yarn.final", document.text("finalStatus"))
    found = _STATUS.findall(said)
    code = document.whole("exitStatus", "exitCode")
    if code is None and found:
        code = whole(found[-1])
    if code is None:
        return
    if code in _YARN_STATUSES:
        facts["yarn.exit_status"] = code
    elif code:
        facts["exit_code"] = code
    else:
        facts["yarn.exit_status"] = 0


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know an application's report, as the ResourceManager's REST API has it."""
    document = Record(record)
    document = document.record("app") or document
    if "diagnostics" in document and ("finalstatus" in document or "amcontainerlogs" in document):
        return Evidence("yarn", record)
    return None
