"""SageMaker training, processing and transform jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, has, like
from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Take,
    Tier,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Hint, Started
from failhook.evidence import Evidence

_JOB: Final = (
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html"
)
_STATUS: Final = (
    *("TrainingJobStatus", "ProcessingJobStatus", "TransformJobStatus"),
    *("HyperParameterTuningJobStatus", "AutoMLJobStatus", "CompilationJobStatus"),
)
_FIELDS: Final = (*_STATUS, "FailureReason", "failure_reason", "SecondaryStatus")
_CODE: Final = re.compile(r"^\s{0,4}([A-Z]\w{3,40}(?:Error|Exceeded|Exception))\b")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the status, and the failure reason with the code that it begins with."""
    document = Record(evidence.facts).holder(*_STATUS, "FailureReason")
    status = document.text(*_STATUS)
    if status is None and evidence.system != "sagemaker":
        return
    facts.read("sagemaker.status", status or document.text("status"))
    changes = document.records("SecondaryStatusTransitions")
    last = changes[-1].text("Status") if changes else None
    facts.read("sagemaker.secondary", document.text("SecondaryStatus") or last)
    reason = document.text("FailureReason", "ExitMessage", "StatusMessage", "message")
    facts.read("sagemaker.reason", reason, "FailureReason")
    if reason is not None:
        facts.setdefault("text.gpu", reason)  # it quotes the program: a broken device shows there
    found = _CODE.match(reason or "")
    if found is not None:
        facts["sagemaker.code"] = found[1]


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know what ``aws sagemaker describe-*-job`` prints."""
    document = Record(record)
    return Evidence("sagemaker", record) if any(name in document for name in _STATUS) else None


_rule: Final = Table(prefix="sagemaker", source=_JOB).row


# fmt: off
RULES: Final = (
    _rule(
        "capacity", {"sagemaker.code": "CapacityError"}, INFRA, "CapacityError",
        "AWS had no machines of this type.", next_step="Allow another instance type, or wait.",
        deterministic=False, started=Started.NO,
    ),
    _rule(
        "internal",
        {"sagemaker.code": ("InternalServerError", "InternalError", "InternalServerException")},
        INFRA, Take("sagemaker.code"), "SageMaker failed by itself.", deterministic=False,
    ),
    _rule(
        "quota", {"sagemaker.code": ("ResourceLimitExceeded", "ThrottlingException")}, INFRA,
        Take("sagemaker.code"), "The account's quota has no room for the job now.",
        next_step="Ask for more quota, or run fewer jobs at a time.", deterministic=False,
        confidence=LIKELY, started=Started.NO,
    ),
    _rule(
        "spot", {"sagemaker.secondary": "Interrupted"}, INFRA, "Interrupted",
        "Managed spot capacity was taken back.", deterministic=False,
    ),
    _rule(
        "max-runtime", {"sagemaker.secondary": has("MaxRuntimeExceeded", "MaxWaitTimeExceeded")},
        TIMEOUT, Take("sagemaker.secondary"), "The job reached the limit of its StoppingCondition.",
        next_step="Compare MaxRuntimeInSeconds and MaxWaitTimeInSeconds with earlier runs.",
    ),
    _rule(
        "max-pending", {"sagemaker.secondary": has("MaxPendingTimeExceeded")}, INFRA,
        "StartTimeout", "The job waited for capacity longer than it may.", deterministic=False,
        started=Started.NO,
    ),
    _rule(
        "stopped", {"sagemaker.status": ("Stopped", "Stopping")}, MANUAL, "Stopped",
        "Somebody stopped the job.", confidence=LIKELY,
    ),
    _rule(
        "memory",
        {
            "sagemaker.code": ("ClientError", "AlgorithmError"),
            "sagemaker.reason": like(r"(?i)out of memory|more memory|OutOfMemory"),
        },
        APPLICATION, "OutOfMemory", "The job needs more memory than its instances have.",
        tier=Tier.REPORT, hint=Hint.MORE_MEMORY,
    ),
    _rule(
        "algorithm", {"sagemaker.code": "AlgorithmError"}, APPLICATION, "AlgorithmError",
        "The code in the container failed.",
        next_step="Read the job's log in CloudWatch.", tier=Tier.REPORT,
    ),
    _rule(
        "client", {"sagemaker.code": ("ClientError", "ValidationException", "ValidationError")},
        APPLICATION, Take("sagemaker.code"), "The job's input or settings are wrong.",
        next_step="Correct what the message names.", tier=Tier.REPORT,
    ),
    _rule(
        "other", {"sagemaker.status": PRESENT}, UNKNOWN,
        Take("sagemaker.code", "Failed"), "SageMaker does not say whose fault it was.",
        tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="aws.sagemaker",
    systems=frozenset({"sagemaker", "aws-sagemaker"}),
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
