"""GitLab CI: failure reasons of the API, and the last lines that gitlab-runner writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, like
from failhook.classify.facts import Facts, lines
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

_REASONS: Final = (
    "https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/models/concerns/enums/ci/"
    "commit_status.rb"
)
_RETRY: Final = "https://docs.gitlab.com/ci/yaml/#retrywhen"
_RUNNER: Final = "https://gitlab.com/gitlab-org/gitlab-runner/-/blob/main/common/build.go"
_JOBS: Final = "https://docs.gitlab.com/api/jobs/"
_SYSTEMS: Final = frozenset({"gitlab-ci", "gitlab", "gitlab-runner"})
_FIELDS: Final = ("failure_reason", "trace_tail", "build_failure_reason", "trace")
_VERDICT: Final = re.compile(r"(?m)^[^\n]{0,60}?ERROR: (?:Job|Build) failed([^\n]*+)")
_PREPARED: Final = re.compile(r"(?m)^[^\n]{0,60}?ERROR: Preparation failed([^\n]*+)")
_EXIT: Final = re.compile(r"exit (?:code|status) (\d{1,3})\b")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the failure reason, and what the runner says last in the job's trace."""
    document = Record(evidence.facts)
    trace = lines(document.get("trace_tail", "trace", "log_tail", "log", "message"))
    reason = document.text("failure_reason", "build_failure_reason")
    found = _VERDICT.findall(trace) or _PREPARED.findall(trace)
    if evidence.system not in _SYSTEMS and reason is None and not found:
        return
    facts.read("gitlab.reason", reason, "failure_reason")
    facts.read("gitlab.status", document.text("status", "build_status"), "status")
    if not found:
        return
    said = found[-1].strip()
    facts.read("gitlab.said", said, "trace_tail")
    if "pull image" in said or "ErrImagePull" in said:
        facts.read("container.error", said, "trace_tail")
        facts.read("container.token", reason, "failure_reason")
    elif "system failure" in said:
        facts.read("gitlab.system", said, "trace_tail")
    elif exit_code := _EXIT.search(said):
        facts["exit_code"] = int(exit_code[1])


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job as the API and webhooks give it."""
    document = Record(record)
    api = "failurereason" in document and "pipeline" in document
    return Evidence("gitlab-ci", record) if api or "buildfailurereason" in document else None


_rule: Final = Table(
    prefix="gitlab",
    source=_REASONS,
    next_step="Read the end of the job's log, and the runner's own log.",
).row


_REASON: Final = Take("gitlab.reason")
_SYSTEM: Final = Take("gitlab.reason", "runner_system_failure")

# fmt: off
RULES: Final = (
    _rule("system.said", {"gitlab.system": PRESENT}, INFRA,
          _SYSTEM, "The runner says that it failed by itself.", source=_RUNNER,
          deterministic=False),
    _rule("execution-timeout.said", {"gitlab.said": like(r"execution took longer than")}, TIMEOUT,
          "job_execution_timeout", "The job reached its time limit.", source=_RUNNER),
    _rule("runner-stopped", {"gitlab.said": like(r"(?i)^:? ?aborted: (?:terminated|interrupt)")},
          INFRA, "RunnerShutdown", "The runner itself was told to stop.", source=_RUNNER,
          deterministic=False),
    _rule("cancelled.said", {"gitlab.said": like(r"(?i)^:? ?(?:cancell?ed|aborted)\b")}, MANUAL,
          "Cancelled", "The job was cancelled while it ran.", source=_RUNNER, confidence=LIKELY),
    _rule("runner",
          {"gitlab.reason": ("runner_system_failure", "scheduler_failure", "api_failure",
                             "data_integrity_failure", "stuck_pending_with_matching_runners",
                             "no_updates_running", "runner_provisioning_timeout")},
          INFRA, _REASON, "GitLab or its runner failed around the job.", source=_RETRY,
          deterministic=False),
    _rule("execution-timeout",
          {"gitlab.reason": ("job_execution_timeout", "job_execution_server_timeout",
                             "server_timeout_running", "server_timeout_canceling")},
          TIMEOUT, _REASON, "The job reached its time limit.", source=_RETRY),
    _rule("stuck", {"gitlab.reason": ("stuck_or_timeout_failure", "no_updates_canceling")},
          UNKNOWN, _REASON,
          "GitLab uses this reason for a job that nobody took and for one that hung.",
          source=_RETRY, confidence=GUESS),
    _rule("settings",
          {"gitlab.reason": ("runner_unsupported", "unmet_prerequisites", "archived_failure",
                             "missing_dependency_failure", "secrets_provider_not_found",
                             "invalid_bridge_trigger", "downstream_bridge_project_not_found",
                             "insufficient_bridge_permissions", "pipeline_loop_detected",
                             "reached_max_descendant_pipelines_depth", "builds_disabled",
                             "protected_environment_failure", "bridge_pipeline_is_child_pipeline",
                             "downstream_pipeline_creation_failed", "environment_creation_failure",
                             "no_matching_runner", "stuck_pending_no_matching_runners")},
          APPLICATION, _REASON, "The job is not set up as it must be to run here.", source=_RETRY,
          deterministic=True, confidence=LIKELY, started=Started.NO),
    _rule("quota", {"gitlab.reason": ("ci_quota_exceeded", "trace_size_exceeded",
                                      "reached_max_pipeline_hierarchy_size")},
          APPLICATION, _REASON, "The job or its project used up what it may use.",
          confidence=LIKELY),
    _rule("outdated", {"gitlab.reason": ("forward_deployment_failure", "stale_schedule",
                                         "failed_outdated_deployment_job", "user_blocked",
                                         "project_deleted")},
          MANUAL, _REASON, "Somebody or something newer made the job pointless.",
          confidence=LIKELY),
    _rule("cancelled", {"gitlab.status": ("canceled", "cancelled", "canceling")}, MANUAL,
          "Cancelled", "Somebody cancelled the job.", source=_JOBS),
    _rule("script", {"gitlab.reason": "script_failure"}, APPLICATION,
          _REASON, "The job's own script failed.", tier=Tier.MISMATCH, source=_RETRY,
          by_itself=True),
    _rule("other", {"gitlab.status": PRESENT}, UNKNOWN, Take("gitlab.reason", "unknown_failure"),
          "GitLab does not say why.", tier=Tier.NOTHING, confidence=GUESS),
)
# fmt: on

SOURCE: Final = Source(
    name="ci.gitlab",
    systems=_SYSTEMS,
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
