"""Spark as its Python driver sees it: errors that came over the gateway from the JVM."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like
from failhook.classify.python.raised import raised
from failhook.classify.rule import APPLICATION, GUESS, INFRA, UNKNOWN
from failhook.details import Hint

_TUNING: Final = "https://spark.apache.org/docs/latest/tuning.html#memory-management-overview"
_JOBS: Final = "https://spark.apache.org/docs/latest/job-scheduling.html"
_ERRORS: Final = "https://spark.apache.org/docs/latest/api/python/reference/pyspark.errors.html"
_JVM: Final = (
    *("py4j.Py4JJavaError", "pyspark.SparkException", "pyspark.PySparkException"),
    *("pyspark.SparkRuntimeException", "pyspark.StreamingQueryException"),
)

SPARK: Final = (
    raised(
        "spark.memory",
        _JVM,
        APPLICATION,
        "OutOfMemory",
        when={
            "exception.message": like(
                r"java\.lang\.OutOfMemoryError|GC overhead limit exceeded"
                r"|killed by YARN for exceeding|running beyond (?:physical|virtual) memory limits"
                r"|Not enough memory to build and broadcast|SparkOutOfMemoryError"
            )
        },
        hint=Hint.MORE_MEMORY,
        because="The job passed the memory that its driver or executors have.",
        source=_TUNING,
    ),
    raised(
        "spark.node-lost",
        _JVM,
        INFRA,
        "NodeLost",
        when={
            "exception.message": like(
                r"Container released on a \*?lost\*? node|Exit status: -100\b"
                r"|[Ww]orker lost|Slave lost"
                r"|[Dd]ecommission(?:ed|ing)|spot (?:instance )?(?:terminat|interrupt|preempt)"
            )
        },
        deterministic=False,
        because="The cluster took the node from under an executor.",
        source=_JOBS,
    ),
    raised(
        "spark.executor-lost",
        _JVM,
        INFRA,
        "WorkerLost",
        when={"exception.message": like(r"ExecutorLostFailure|Executor heartbeat timed out")},
        confidence=GUESS,
        because="Executors went away, and the message does not say why.",
        source=_JOBS,
    ),
    raised(
        "spark.gateway",
        ("py4j.Py4JNetworkError", "py4j.Py4JError"),
        UNKNOWN,
        "WorkerLost",
        when={
            "exception.message": like(
                r"Answer from Java side is empty|Error while sending"
                r"|does not exist in the JVM"
            )
        },
        confidence=GUESS,
        because="The driver's JVM is gone: a crash, memory and a stop look alike.",
        source=_ERRORS,
    ),
    raised(
        "spark.analysis",
        (
            *("pyspark.AnalysisException", "pyspark.ParseException"),
            *("pyspark.IllegalArgumentException", "pyspark.PySparkTypeError"),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The query or a value in it is not valid.",
        source=_ERRORS,
    ),
    raised(
        "spark.failed",
        _JVM,
        APPLICATION,
        "UserException",
        fallback=True,
        because="The job's own code or data failed in the JVM.",
        source=_ERRORS,
    ),
)
