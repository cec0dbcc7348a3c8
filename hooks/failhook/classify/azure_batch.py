"""Azure Batch: a task's executionInfo, failureInfo, and the exit codes of Windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, like
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
from failhook.details import Started
from failhook.evidence import Evidence

_CODES: Final = "https://learn.microsoft.com/dotnet/api/microsoft.azure.batch.common.taskfailureinformationcodes"
_ERRORS: Final = "https://learn.microsoft.com/azure/batch/error-handling"
_NTSTATUS: Final = (
    "https://learn.microsoft.com/openspecs/windows_protocols/ms-erref/"
    "596a1078-e883-4972-9bbc-49e60bebca55"
)
_JOB: Final = "https://learn.microsoft.com/rest/api/batchservice/job/get"
_32_BITS: Final = 1 << 32
_FIRST_NTSTATUS: Final = 0xC0000000


def read(evidence: Evidence, facts: Facts) -> None:
    """Read how a task ended; an exit code of Windows gets its name."""
    document = Record(evidence.facts)
    info = document.holder("executionInfo").record("executionInfo")
    if not info and evidence.system not in ("azure-batch", "azure_batch"):
        return
    info = info or document
    failure = info.record("failureInfo", "schedulingError")
    code = failure.text("code")
    facts.read("azure.code", code, "executionInfo.failureInfo.code")
    category = (failure.text("category") or "").lower().replace("_", "")
    facts.read("azure.category", category or None, "executionInfo.failureInfo.category")
    details = " ".join(
        text for detail in failure.records("details") for text in detail.texts("name", "value")
    )
    message = " ".join((failure.text("message") or "", details)).strip()
    facts.read("azure.message", message or None, "executionInfo.failureInfo.message")
    facts.read("azure.terminated", info.text("terminateReason"), "executionInfo.terminateReason")
    error = info.record("containerInfo").text("error")
    if error is not None and "container.error" not in facts:
        facts.read("container.error", error, "executionInfo.containerInfo.error")
    number = info.whole("exitCode", "exit_code")
    if number is not None and number % _32_BITS >= _FIRST_NTSTATUS:
        facts["azure.ntstatus"] = f"0x{number % _32_BITS:08X}"
        facts.pop("exit_code", None)
        facts.pop("signal", None)
    elif number:
        facts["exit_code"] = number


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a task as ``az batch task show`` prints it."""
    document = Record(record)
    info = document.record("executionInfo")
    if info and ("exitcode" in info or "failureinfo" in info or "commandline" in document):
        return Evidence("azure-batch", record)
    return None


_rule: Final = Table(
    prefix="azure-batch",
    source=_CODES,
    next_step="Look at the task's failureInfo and at stderr.txt on its node.",
).row


_CODE: Final = Take("azure.code")

# fmt: off
RULES: Final = (
    _rule(
        "wall-clock",
        {"azure.message": like(r"(?i)max ?wall ?clock ?time|wall.?clock|maximum (?:run|execution) "
                               r"time|time ?limit")},
        TIMEOUT, "MaxWallClockTime", "The task reached its maxWallClockTime.", source=_ERRORS,
    ),
    _rule(
        "wall-clock.code",
        {"azure.ntstatus": "0xC000013A", "azure.code": "TaskEnded",
         "azure.category": "servererror"},
        TIMEOUT, "MaxWallClockTime",
        "Batch reports a task that passed its maxWallClockTime just like this.", source=_ERRORS,
    ),
    _rule(
        "wall-clock.job", {"azure.terminated": "MaxWallClockTimeExpiry"}, TIMEOUT,
        Take("azure.terminated"), "The job reached its maxWallClockTime.", source=_JOB,
    ),
    _rule(
        "terminated", {"azure.terminated": ("UserTerminate", "TerminateJob")}, MANUAL,
        Take("azure.terminated"), "Somebody terminated the job.", source=_JOB,
    ),
    _rule(
        "ended-by-user", {"azure.code": "TaskEnded", "azure.category": "usererror"}, MANUAL,
        _CODE, "Somebody ended the task through the API.", confidence=LIKELY,
    ),
    _rule(
        "ended-by-user.said",
        {"azure.code": "TaskEnded", "azure.message": like(r"(?i)user request|by user|terminated")},
        MANUAL, _CODE, "Somebody ended the task through the API.", confidence=LIKELY,
    ),
    _rule(
        "bad-container",
        {"azure.code": ("ContainerInvalidImage", "ContainerInvalidRegistry",
                        "ContainerInvalidSettings")},
        APPLICATION, _CODE, "The container that the task asks for is wrong.", deterministic=True,
        started=Started.NO,
    ),
    _rule(
        "bad-files",
        {"azure.code": ("BlobNotFound", "BlobAccessDenied", "ResourceFileNotFound",
                        "ResourceContainerNotFound", "ResourceContainerAccessDenied",
                        "AutoStorageContainerNotFound")},
        APPLICATION, _CODE, "A file that the task asks for is not there, or may not be read.",
        deterministic=True, started=Started.NO,
    ),
    _rule(
        "bad-command",
        {"azure.code": ("CommandProgramNotFound", "CommandLaunchFailed", "InvalidCommandLine",
                        "ApplicationPackageError", "ApplicationPackageReferenceNotFound")},
        APPLICATION, _CODE, "The command or package of the task cannot be started.",
        deterministic=True, started=Started.NO,
    ),
    _rule(
        "download",
        {"azure.code": ("BlobDownloadTimedOut", "BlobDownloadMiscError",
                        "ResourceContainerListMiscError")},
        INFRA, _CODE, "A file of the task could not be fetched.", deterministic=False,
        confidence=LIKELY, started=Started.NO,
    ),
    _rule(
        "disk",
        {"azure.code": ("DiskFull", "ResourceDirectoryCreateFailed", "ResourceFileCreateFailed",
                        "ResourceFileWriteFailed")},
        INFRA, _CODE, "The node's disk is full or fails.", deterministic=False, confidence=LIKELY,
    ),
    _rule(
        "preempted",
        {"azure.message": like(r"(?i)preempt|node (?:is |was )?(?:unavailable|unusable|lost)|"
                               r"low-?priority|evict")},
        INFRA, "NodePreempted", "The node was taken away or lost.", deterministic=False,
        confidence=LIKELY,
    ),
    _rule(
        "preparation", {"azure.code": ("JobPreparationTaskFailed", "JobPreparationFailed")},
        APPLICATION, _CODE, "The preparation task of the job failed.", confidence=LIKELY,
        started=Started.NO,
    ),
    _rule(
        "crash",
        {"azure.ntstatus": ("0xC0000005", "0xC00000FD", "0xC0000409", "0xC0000374", "0xC000001D",
                            "0xC0000094", "0xC0000096", "0xC0000420")},
        APPLICATION, "NativeCrash", "Windows ended the program for what it did.",
        source=_NTSTATUS, tier=Tier.SIGNAL, by_itself=True,
    ),
    _rule(
        "missing-library", {"azure.ntstatus": ("0xC0000135", "0xC0000139", "0xC0000142",
                                               "0xC000007B")},
        APPLICATION, "CodeLoadError",
        "A library that the program needs is not there or does not fit.", source=_NTSTATUS,
        tier=Tier.SIGNAL, deterministic=True,
    ),
    _rule(
        "control-c", {"azure.ntstatus": "0xC000013A"}, UNKNOWN,
        "CtrlCExit", "The program was told to stop: by a limit, a person, or a shutdown.",
        source=_NTSTATUS, tier=Tier.SIGNAL, confidence=GUESS,
    ),
    _rule(
        "ntstatus", {"azure.ntstatus": PRESENT}, UNKNOWN,
        Take("azure.ntstatus"),
        "Windows ended the program; the code does not tell whose fault it was.", source=_NTSTATUS,
        tier=Tier.SIGNAL, confidence=GUESS,
    ),
    _rule(
        "user-error", {"azure.category": "usererror", "azure.code": "FailureExitCode"},
        APPLICATION, _CODE, "The program ended with an exit code that is a failure.",
        tier=Tier.MISMATCH, by_itself=True,
    ),
    _rule(
        "task-ended", {"azure.code": "TaskEnded"}, UNKNOWN,
        _CODE, "The task was ended: by a limit or by a person.", tier=Tier.MISMATCH,
        confidence=GUESS,
    ),
    _rule(
        "category.user", {"azure.category": "usererror"}, APPLICATION,
        Take("azure.code", "UserError"), "Batch puts the error on the side of the task.",
        tier=Tier.MISMATCH, confidence=LIKELY,
    ),
    _rule(
        "category.server", {"azure.category": "servererror"}, INFRA,
        Take("azure.code", "ServerError"), "Batch puts the error on its own side.",
        tier=Tier.MISMATCH, confidence=LIKELY,
    ),
    _rule(
        "other", {"azure.code": PRESENT}, UNKNOWN, _CODE,
        "The code does not tell whose fault it was.",
        tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="azure_batch",
    systems=frozenset({"azure-batch", "azure_batch"}),
    fields=frozenset({"executionInfo", "execution_info"}),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
