"""GitHub Actions: conclusions, and the annotations that runner and service write.

Azure Pipelines runs the same agent and writes the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, one_of
from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Tier,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Started
from failhook.evidence import Evidence

_RUNNER: Final = "https://github.com/actions/runner/blob/main/src/Runner.Worker/JobRunner.cs"
_LIMITS: Final = "https://docs.github.com/en/actions/reference/limits"
_JOBS: Final = "https://docs.github.com/en/rest/actions/workflow-jobs"
_CHECKS: Final = "https://docs.github.com/en/rest/checks/runs"
_SYSTEMS: Final = frozenset({"github-actions", "github", "gha", "azure-pipelines", "azure-devops"})
_FIELDS: Final = ("annotations", "conclusion", "workflow_job", "check_run")
_EXIT: Final = re.compile(
    r"(?m)^(?:##\[error\]|Error: )?(?:Process completed with|Bash exited with|The process .{1,200} "
    r"failed with|PowerShell exited with) (?:exit )?code '?(-?\d{1,6})"
)


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the conclusion and the annotations of a job."""
    document = Record(evidence.facts)
    job = document.holder("conclusion", "annotations")
    notes = job.get("annotations") or document.get("annotations")
    conclusion = job.text("conclusion")
    if evidence.system not in _SYSTEMS and notes is None and conclusion is None:
        return
    said = joined(
        notes,
        *(note.text("message") for note in job.records("annotations")),
        *(job.get(name) for name in ("message", "error", "log_tail", "issues")),
    )
    facts.read("github.said", said or None, "annotations")
    facts.read("github.conclusion", (conclusion or "").lower() or None, "conclusion")
    found = _EXIT.search(said)
    if found is not None:
        facts.quote("github.said")  # a step that ended by itself can have written annotations
        facts.setdefault("exit_code", abs(int(found[1])))


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job or check run as the REST API and webhooks give it."""
    document = Record(record)
    job = document.record("workflow_job", "check_run") or document
    if "conclusion" in job and ("runnername" in job or "headsha" in job or "annotations" in job):
        return Evidence("github-actions", record)
    return None


_rule: Final = Table(
    prefix="github",
    source=_RUNNER,
    next_step="Look at the run's annotations, and at the runner's own log.",
    said="github.said",
    ignore_case=True,
).row


# fmt: off
RULES: Final = (
    _rule("max-time", r"exceeded the maximum execution time|ran longer than the maximum time|"
          r"maximum execution time of \d", TIMEOUT, "JobTimeout", "The job reached its time limit.",
          source=_LIMITS),
    _rule("action-timeout", r"the action .{0,200}has timed out|\bthe action has timed out",
          TIMEOUT, "StepTimeout", "A step reached its timeout-minutes.", source=_LIMITS),
    _rule("shutdown", r"runner has received a shutdown signal", INFRA, "RunnerShutdown",
          "The runner was told to stop: its machine or service went down.", deterministic=False,
          confidence=LIKELY),
    _rule("lost", r"lost communication with the server|stopped hearing from agent",
          UNKNOWN, "RunnerLostCommunication",
          "The service says that a lost machine and a job that starves it look the same.",
          confidence=GUESS),
    _rule("service", r"hosted runner encountered an error|GitHub Actions has encountered an "
          r"internal error|internal server error\b.{0,40}correlation|error type: disconnect|"
          r"TF400898|service unavailable\b.{0,40}correlation", INFRA, "PlatformError",
          "The service failed by itself.", deterministic=False),
    _rule("billing", r"account payments have failed|spending limit needs to be increased|"
          r"recent account payments", INFRA, "QuotaExceeded",
          "The account may not start jobs now.", started=Started.NO, confidence=LIKELY),
    _rule("no-runner", r"job was not (?:acquired|started|picked up)|no (?:hosted )?(?:runner|agent|"
          r"hosted parallelism)[^\n]{0,60}(?:available|found|could be found|purchased)|"
          r"waiting for a runner[^\n]{0,80}(?:time|cancel)", INFRA, "NeverStarted",
          "No runner took the job.", deterministic=False, started=Started.NO, confidence=LIKELY),
    _rule("disk", r"no space left on device|not enough space on the disk", UNKNOWN, "DiskFull",
          "The runner's disk is full: of this job, or of what earlier ones left on it.",
          confidence=GUESS),
    _rule("superseded", r"canceling since a (?:higher priority|deployment)", MANUAL, "Superseded",
          "A newer run of the same concurrency group took its place.", source=_JOBS),
    _rule("fail-fast", r"strategy configuration was canceled because|job was cancell?ed because "
          r"\S{1,200} (?:failed|cancell?ed)", APPLICATION, "UpstreamFailed",
          "Another job of the matrix failed, and ended this one.", source=_JOBS, confidence=LIKELY),
    _rule("cancelled.by", r"run was cancell?ed by|cancell?ed by (?:@|user)", MANUAL, "Cancelled",
          "Somebody cancelled the run.", source=_JOBS),
    _rule("workflow", r"invalid workflow file|unable to resolve action|can't find '?action\.ya?ml|"
          r"unrecognized named-value|unexpected value '|repository not found, or", APPLICATION,
          "SpecError", "The workflow is not written as it must be.", deterministic=True,
          source=_JOBS, started=Started.NO),
    _rule("cancelled", {"github.conclusion": "cancelled"}, MANUAL, "Cancelled",
          "The run was cancelled.", source=_CHECKS, confidence=LIKELY),
    _rule("timed-out", {"github.conclusion": "timed_out"}, TIMEOUT, "JobTimeout",
          "The job reached its time limit.", source=_CHECKS),
    _rule("startup", {"github.conclusion": "startup_failure"}, APPLICATION, "SpecError",
          "The workflow could not be started as it is written.", source=_CHECKS, confidence=LIKELY,
          deterministic=True, started=Started.NO),
    _rule("operation-cancelled", r"operation was cancell?ed|task was cancell?ed", UNKNOWN,
          "Cancelled", "The step was cancelled: by a person, a limit, or a lost runner.",
          tier=Tier.CONTAINER, confidence=GUESS),
    _rule("stale", {"github.conclusion": one_of("stale", "neutral", "action_required", "skipped")},
          UNKNOWN, "NoResult", "This conclusion is no failure of the job.", source=_CHECKS,
          tier=Tier.NOTHING, confidence=GUESS),
    _rule("failure", {"github.conclusion": PRESENT}, UNKNOWN, "failure",
          "No annotation tells why.", source=_CHECKS, tier=Tier.NOTHING, confidence=GUESS),
)
# fmt: on

SOURCE: Final = Source(
    name="ci.github",
    systems=_SYSTEMS,
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
