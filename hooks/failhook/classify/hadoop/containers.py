"""Exit statuses of YARN containers, and what YARN and MapReduce say of an application."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, between, like
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
from failhook.classify.table import Table
from failhook.details import Confidence, Hint, Kind, Started

_STATUS: Final = (
    "https://hadoop.apache.org/docs/stable/api/org/apache/hadoop/yarn/api/records/"
    "ContainerExitStatus.html"
)
_APP: Final = (
    "https://hadoop.apache.org/docs/stable/hadoop-yarn/hadoop-yarn-site/ResourceManagerRest.html"
)
_MAPREDUCE: Final = (
    "https://hadoop.apache.org/docs/stable/hadoop-mapreduce-client/hadoop-mapreduce-client-core/"
    "mapred-default.xml"
)
_SPARK: Final = "https://github.com/apache/spark/blob/master/core/src/main/scala/org/apache/spark/"


_rule: Final = Table(prefix="yarn", source=_APP, said="hadoop.said").row


def _status(
    code: int, name: str, kind: Kind, because: str, *, confidence: Confidence = CONFIRMED
) -> Rule:
    return _rule(
        f"status{code}",
        {"yarn.exit_status": code},
        kind,
        name,
        because,
        source=_STATUS,
        deterministic=False if kind is INFRA else None,
        confidence=confidence,
        hint=Hint.MORE_MEMORY if "MEM" in name else None,
    )


_MEMORY: Final = "Raise the container's memory (for Spark its memoryOverhead), or need less."

# fmt: off
CONTAINERS: Final = (
    _rule(
        "physical-memory",
        r"(?i)beyond (?:the )?'?physical'? memory limits?|exceeding (?:physical )?memory limits|"
        r"exceeding memory limits\.[^\n]{0,80}physical memory used|limits\. [^\n]{0,60}physical "
        r"memory used; [^\n]{0,80}OOM",
        APPLICATION, "KILLED_EXCEEDED_PMEM", "The container passed its physical memory.",
        next_step=_MEMORY, source=_STATUS, hint=Hint.MORE_MEMORY,
    ),
    _rule(
        "virtual-memory",
        r"(?i)beyond (?:the )?'?virtual'? memory limits?|exceeding virtual memory limits",
        APPLICATION, "KILLED_EXCEEDED_VMEM", "The container passed its virtual memory.",
        next_step=_MEMORY, source=_STATUS, hint=Hint.MORE_MEMORY,
    ),
    _rule(
        "lost-node", r"(?i)released on a \*?lost\*? node|node (?:was |is )?lost\b|unusable node|"
        r"\blost node\b|due to (?:a )?node (?:loss|failure)",
        INFRA, "NodeLost", "The node under the container was lost.",
        next_step="Look at the NodeManager.", source=_STATUS, deterministic=False,
    ),
    _rule(
        "preempted", r"(?i)container preempted by scheduler|\bwas preempted\b|preempted by the",
        INFRA, "PREEMPTED", "The scheduler took the container for another queue.",
        source=_STATUS, deterministic=False,
    ),
    _status(-100, "ABORTED", INFRA, "YARN released the container, or lost its node."),
    _status(-101, "DISKS_FAILED", INFRA, "Too many disks of the node are bad."),
    _status(-102, "PREEMPTED", INFRA, "The scheduler took the container for another queue."),
    _status(-103, "KILLED_EXCEEDED_VMEM", APPLICATION, "It passed its virtual memory."),
    _status(-104, "KILLED_EXCEEDED_PMEM", APPLICATION, "It passed its physical memory."),
    _status(-105, "KILLED_BY_APPMASTER", UNKNOWN, "The application master ended the container.",
            confidence=GUESS),
    _status(-106, "KILLED_BY_RESOURCEMANAGER", INFRA, "The ResourceManager ended the container."),
    _status(-107, "KILLED_AFTER_APP_COMPLETION", UNKNOWN, "The application had already ended.",
            confidence=GUESS),
    _status(-108, "KILLED_BY_CONTAINER_SCHEDULER", INFRA, "It made room for another container."),
    _status(-109, "KILLED_FOR_EXCESS_LOGS", APPLICATION, "It wrote more log than it may."),
    _rule(
        "lifetime", r"(?i)exceeding its lifetime|lifetime (?:period )?exceeded|ApplicationTimeout",
        TIMEOUT, "ApplicationLifetimeExceeded", "The application reached its lifetime.",
    ),
    _rule(
        "task-timeout", r"(?i)failed to report status for \d{1,8} seconds|"
        r"AttemptID:\S{1,80} Timed out after \d{1,8} secs",
        TIMEOUT, "TaskTimeout", "The attempt reported no progress for mapreduce.task.timeout.",
        source=_MAPREDUCE,
    ),
    _rule(
        "killed-by-user", r"(?i)killed by (?:the )?user\b|kill (?:job )?received from|"
        r"application (?:was )?killed by (?:admin|user)",
        MANUAL, "KILLED", "Somebody killed the application.",
    ),
    _rule(
        "am-expired", r"(?i)ApplicationMaster for attempt \S{1,80} timed out",
        INFRA, "HeartbeatTimeout", "The application master was not heard of any more.",
        confidence=LIKELY,
    ),
    _rule(
        "refused", r"(?i)to unknown queue|invalid resource request|AccessControlException|"
        r"cannot submit applications to queue|does not have permission to submit|is (?:a )?STOPPED "
        r"(?:queue|and)|application rejected",
        APPLICATION, "SpecError", "YARN refused the application for what it asks for.",
        next_step="Correct queue, rights or resources.", deterministic=True, started=Started.NO,
    ),
    _rule(
        "queue-full", r"(?i)already has \d{1,9} applications, cannot accept",
        INFRA, "ResourceExhausted", "The queue takes no more applications now.",
        deterministic=False, started=Started.NO, confidence=LIKELY,
    ),
    _rule(
        "localization.disk", r"(?i)no space left on device|disk.{0,40}(?:bad|full)|"
        r"DiskChecker\$DiskErrorException|No space available in any of the local directories",
        INFRA, "DiskFull", "A disk of the node is full or bad.", deterministic=False,
        confidence=LIKELY, hint=Hint.OTHER_NODE,
    ),
    _rule(
        "localization.missing", {
            "yarn.exit_status": -1000,
            "hadoop.said": like(
                r"(?i)FileNotFound|does not exist|Permission denied|changed on src"
            ),
        },
        APPLICATION, "SpecError", "A file that the application ships could not be read.",
        next_step="Check the paths of the files and jars that were submitted.", deterministic=True,
        started=Started.NO, confidence=LIKELY,
    ),
    _status(-1000, "INVALID", UNKNOWN, "The container ended before it had an exit status.",
            confidence=GUESS),
    _rule(
        "fetch-failures", r"(?i)too many fetch.?failures|MetadataFetchFailed|FetchFailed|"
        r"Missing an output location for shuffle",
        INFRA, "ResultLost", "The output of an earlier task was lost with its node.",
        source=_MAPREDUCE, confidence=LIKELY, deterministic=False,
    ),
    _rule(
        "killed", {"yarn.state": "KILLED"}, MANUAL, "KILLED", "Somebody killed the application.",
        confidence=LIKELY,
    ),
    _rule(
        "java-heap", r"(?i)java heap space|OutOfMemoryError|GC overhead limit",
        APPLICATION, "OutOfMemory", "The JVM ran out of memory.",
        next_step=_MEMORY, tier=Tier.REPORT, hint=Hint.MORE_MEMORY, confidence=LIKELY,
    ),
    _rule(
        "user-class", r"(?i)user class threw exception|User application exited with status|"
        r"Uncaught exception|(?m:^)Error: [\w.$]{1,200}(?:Exception|Error)\b",
        APPLICATION, "UserException", "The application's own code failed.",
        tier=Tier.REPORT, source=_SPARK,
    ),
    _rule(
        "am-exit",
        {"exit_code": between(1, 123), "hadoop.said": like(r"\bAM Container\b")}, APPLICATION,
        "AMContainerExited", "The application master ended by itself with a failure.",
        next_step="Read the log of the application master: yarn logs -applicationId.",
        tier=Tier.CONTAINER, by_itself=True,
    ),
    _rule(
        "am-exit-zero", {"yarn.exit_status": 0, "exit_code": ABSENT}, UNKNOWN,
        "AMContainerExited", "It ended with 0 and did not report: nothing tells why.",
        tier=Tier.EXIT, confidence=GUESS,
    ),
    _rule(
        "failed", {"yarn.state": PRESENT, "exit_code": ABSENT}, UNKNOWN, "FAILED",
        "YARN does not say why.", tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on
