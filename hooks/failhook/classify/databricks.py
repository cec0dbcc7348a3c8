"""Databricks: runs of jobs, and the reasons for which clusters end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT
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

_RUNS: Final = "https://docs.databricks.com/api/workspace/jobs/getrun"
_CLUSTERS: Final = "https://docs.databricks.com/api/workspace/clusters/get"
_FIELDS: Final = (
    *("termination_reason", "state_message", "life_cycle_state", "result_state", "run_id"),
    *("termination_details", "cluster_id", "state"),
)
_WORKLOAD: Final = re.compile(r"(?i)workload failed|see run output for details")
"""What comes after these words are the program's."""

_QUOTED: Final = re.compile(
    r"\b([A-Z][A-Z0-9]{2,30}(?:_[A-Z0-9]{2,30}){1,10}) ?\((CLIENT_ERROR|CLOUD_FAILURE|"
    r"SERVICE_FAULT|SUCCESS)\)"
)


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the state of a run or cluster, with the code and type of its end."""
    if evidence.system != "databricks" and not _is_ours(evidence.facts):
        return
    document = Record(evidence.facts)
    state = document.record("state") or document
    status = document.record("status")
    reason = document.record("termination_reason") or status.record("termination_details")
    reason = reason or document.record("termination_details")
    message = state.text("state_message") or reason.text("message") or document.text("message")
    program = _WORKLOAD.search(message or "")
    if message is not None and program is not None:
        message = message[: program.end()]
    quoted = _QUOTED.search(message or "")
    facts.read("databricks.code", reason.text("code") or (quoted[1] if quoted else None))
    facts.read("databricks.type", reason.text("type") or (quoted[2] if quoted else None))
    facts.read("databricks.message", message, "state.state_message")
    facts.read("databricks.result", state.text("result_state"), "state.result_state")
    facts.read("databricks.life_cycle", state.text("life_cycle_state"), "state.life_cycle_state")
    if state.flag("user_cancelled_or_timedout"):
        facts["databricks.stopped"] = True


def _is_ours(document: Mapping[str, Any]) -> bool:
    """Return at once where no field is Databricks' own: many other records have a state."""
    state = document.get("state")
    return any(
        name in found
        for found in (document, state)
        if isinstance(found, Mapping)
        for name in _FIELDS[:-1]
    )


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a run or a cluster as the REST API and the CLI give them."""
    document = Record(record)
    run = "runid" in document and ("state" in document or "status" in document)
    cluster = "clusterid" in document and "terminationreason" in document
    return Evidence("databricks", record) if run or cluster else None


_rule: Final = Table(
    prefix="databricks",
    source=_RUNS,
    next_step="Read the run's output and the cluster's event log.",
    said="databricks.message",
    ignore_case=True,
).row


_CODE: Final = Take("databricks.code")

# fmt: off
RULES: Final = (
    _rule("code.cancelled", {"databricks.code": ("USER_CANCELED", "USER_REQUEST",
                             "USER_INITIATED_VM_TERMINATION", "WORKSPACE_CANCELLED_ERROR")},
          MANUAL, _CODE, "A user ended the run or the cluster."),
    _rule("code.memory", {"databricks.code": "DRIVER_OUT_OF_MEMORY"}, APPLICATION, _CODE,
          "The driver ran out of memory.", source=_CLUSTERS, hint=Hint.MORE_MEMORY),
    _rule("code.application",
          {"databricks.code": ("RUN_EXECUTION_ERROR", "LIBRARY_INSTALLATION_ERROR",
                               "INVALID_CLUSTER_REQUEST", "INVALID_RUN_CONFIGURATION",
                               "RESOURCE_NOT_FOUND", "UNAUTHORIZED_ERROR", "FEATURE_DISABLED",
                               "MAX_SPARK_CONTEXTS_EXCEEDED", "STORAGE_ACCESS_ERROR")},
          APPLICATION, _CODE, "The run's own code or settings failed.", by_itself=True),
    _rule("code.settings",
          {"databricks.code": ("INVALID_ARGUMENT", "INIT_SCRIPT_FAILURE", "INVALID_SPARK_IMAGE",
                               "IMAGE_PULL_PERMISSION_DENIED", "SECRET_RESOLUTION_ERROR",
                               "SECRET_PERMISSION_DENIED", "UNSUPPORTED_INSTANCE_TYPE",
                               "AWS_AUTHORIZATION_FAILURE", "DOCKER_INVALID_OS_EXCEPTION",
                               "SPARK_IMAGE_NOT_FOUND", "EOS_SPARK_IMAGE",
                               "INSTANCE_POOL_NOT_FOUND", "DYNAMIC_SPARK_CONF_SIZE_EXCEEDED",
                               "INVALID_AWS_PARAMETER",
                               "WORKSPACE_CONFIGURATION_ERROR", "NETWORK_CONFIGURATION_FAILURE",
                               "DOCKER_IMAGE_TOO_LARGE_FOR_INSTANCE_EXCEPTION",
                               "AZURE_INVALID_DEPLOYMENT_TEMPLATE", "GCP_SERVICE_ACCOUNT_DELETED")},
          APPLICATION, _CODE, "The cluster is not set up as it must be.", source=_CLUSTERS,
          deterministic=True, confidence=LIKELY, started=Started.NO),
    _rule("code.quota",
          {"databricks.code": ("WORKSPACE_RUN_LIMIT_EXCEEDED", "CLUSTER_REQUEST_LIMIT_EXCEEDED",
                               "MAX_JOB_QUEUE_SIZE_EXCEEDED", "REQUEST_THROTTLED", "RATE_LIMITED",
                               "CLUSTER_OPERATION_THROTTLED",
                               "INSTANCE_POOL_MAX_CAPACITY_REACHED")},
          INFRA, _CODE, "The workspace had no room for the run now.", deterministic=False,
          confidence=LIKELY, started=Started.NO),
    _rule("code.cloud",
          {"databricks.code": ("SPOT_INSTANCE_TERMINATION", "CLOUD_PROVIDER_SHUTDOWN",
                               "CLOUD_PROVIDER_LAUNCH_FAILURE", "INSTANCE_UNREACHABLE",
                               "CLOUD_PROVIDER_RESOURCE_STOCKOUT", "CLOUD_FAILURE",
                               "AWS_INSUFFICIENT_INSTANCE_CAPACITY_FAILURE",
                               "IP_EXHAUSTION_FAILURE", "GCP_INSUFFICIENT_CAPACITY",
                               "SUBNET_EXHAUSTED_FAILURE",
                               "AWS_INSUFFICIENT_FREE_ADDRESSES_IN_SUBNET_FAILURE",
                               "CLOUD_PROVIDER_DISK_SETUP_FAILURE", "CLOUD_OPERATION_CANCELLED",
                               "CLOUD_PROVIDER_INSTANCE_NOT_LAUNCHED", "AZURE_VM_EXTENSION_FAILURE",
                               "AZURE_EPHEMERAL_DISK_FAILURE", "AZURE_RESOURCE_MANAGER_THROTTLING",
                               "AZURE_RESOURCE_PROVIDER_THROTTLING", "AWS_REQUEST_LIMIT_EXCEEDED",
                               "AZURE_QUOTA_EXCEEDED_EXCEPTION", "GCP_QUOTA_EXCEEDED",
                               "AWS_MAX_SPOT_INSTANCE_COUNT_EXCEEDED_FAILURE", "DRIVER_EVICTION")},
          INFRA, _CODE, "The cloud did not give, or took back, the machines.", source=_CLUSTERS,
          deterministic=False),
    _rule("code.service",
          {"databricks.code": ("COMMUNICATION_LOST", "INTERNAL_CAPACITY_FAILURE",
                               "MAINTENANCE_MODE", "METASTORE_COMPONENT_UNHEALTHY",
                               "DBFS_COMPONENT_UNHEALTHY",
                               "EXECUTION_COMPONENT_UNHEALTHY", "BOOTSTRAP_TIMEOUT",
                               "SELF_BOOTSTRAP_FAILURE", "CONTROL_PLANE_REQUEST_FAILURE",
                               "CONTROL_PLANE_CONNECTION_FAILURE", "UNEXPECTED_LAUNCH_FAILURE",
                               "STORAGE_DOWNLOAD_FAILURE", "SPARK_IMAGE_DOWNLOAD_FAILURE",
                               "CONTAINER_LAUNCH_FAILURE", "NPIP_TUNNEL_SETUP_FAILURE",
                               "NPIP_TUNNEL_TOKEN_FAILURE", "SLOW_IMAGE_DOWNLOAD",
                               "SKIPPED_SLOW_NODES", "WORKER_SETUP_FAILURE", "ALLOCATION_TIMEOUT",
                               "TEMPORARILY_UNAVAILABLE", "CLUSTER_OPERATION_TIMEOUT",
                               "DRIVER_NODE_UNREACHABLE", "DRIVER_LAUNCH_TIMEOUT",
                               "UNEXPECTED_POD_RECREATION", "SPARK_IMAGE_DOWNLOAD_THROTTLED",
                               "REPOSITORY_CHECKOUT_FAILED", "SSH_BOOTSTRAP_FAILURE",
                               "DATABASE_CONNECTION_FAILURE", "K8S_DBR_CLUSTER_LAUNCH_TIMEOUT")},
          INFRA, _CODE, "Databricks itself failed around the run.", source=_CLUSTERS,
          deterministic=False, confidence=LIKELY),
    _rule("message.spot", r"^[^:\n]{0,80}\bspot (?:vm|instance)s?\b[^:\n]{0,60}"
          r"(?:lost|terminat|reclaim|interrupt)", INFRA, "SPOT_INSTANCE_TERMINATION",
          "The cloud took the spot machine back.", deterministic=False, confidence=LIKELY),
    _rule("type.client", {"databricks.type": "CLIENT_ERROR"}, APPLICATION,
          Take("databricks.code", "CLIENT_ERROR"), "Databricks puts the error on the user's side.",
          confidence=LIKELY),
    _rule("type.cloud", {"databricks.type": "CLOUD_FAILURE"}, INFRA,
          Take("databricks.code", "CLOUD_FAILURE"), "Databricks puts the error on the cloud.",
          deterministic=False, confidence=LIKELY),
    _rule("type.service", {"databricks.type": ("SERVICE_FAULT", "INTERNAL_ERROR")}, INFRA,
          Take("databricks.code", "SERVICE_FAULT"), "Databricks puts the error on its own side.",
          deterministic=False, confidence=LIKELY),
    _rule("timed-out", {"databricks.result": "TIMEDOUT"}, TIMEOUT, "TIMEDOUT",
          "The run reached its time limit."),
    _rule("timed-out.said", r"\btimed ?out\b[^\n]{0,60}run|run[^\n]{0,60}\btimed ?out\b|"
          r"maximum run duration|exceeded [^\n]{0,40}timeout", TIMEOUT, "TIMEDOUT",
          "The run reached its time limit.", confidence=LIKELY),
    _rule("cancelled", {"databricks.result": ("CANCELED", "CANCELLED")}, MANUAL, "CANCELED",
          "Somebody cancelled the run."),
    _rule("stopped", {"databricks.stopped": True}, MANUAL, "CANCELED",
          "The run was cancelled, or passed its time limit.", confidence=LIKELY),
    _rule("library", r"library installation failed[^\n]{0,80}user error|"
          r"library installation failed[^\n]{0,400}(?:permission|not found|could not find|invalid|"
          r"no matching|does not exist)", APPLICATION, "LibraryInstallationFailed",
          "A library of the run cannot be installed as it is asked for.", deterministic=True,
          started=Started.NO),
    _rule("library.other", r"library installation failed", UNKNOWN, "LibraryInstallationFailed",
          "A library could not be installed.", confidence=GUESS, started=Started.NO),
    _rule("not-found", r"(?:notebook|file|path|task|job|library|cluster|repo\w{0,10}) [^\n]{0,200}"
          r"(?:not found|does not exist)|RESOURCE_DOES_NOT_EXIST|PERMISSION_DENIED|"
          r"permission denied|is not authorized|unable to access the notebook|invalid parameter",
          APPLICATION, "SpecError", "Something that the run names is not there, or not for it.",
          deterministic=True, confidence=LIKELY, started=Started.NO),
    _rule("driver-lost", r"(?:could not|failed to) reach (?:the )?driver|"
          r"driver (?:is )?(?:unreachable|unresponsive)|"
          r"lost (?:connection to|the) (?:driver|cluster)|cluster [^\n]{0,80}(?:was )?terminated "
          r"(?:during|while)", INFRA, "DRIVER_UNREACHABLE",
          "The cluster was lost under the run.", confidence=LIKELY),
    _rule("upstream", {"databricks.result": ("UPSTREAM_FAILED", "UPSTREAM_CANCELED", "EXCLUDED")},
          APPLICATION, "UpstreamFailed", "A task that this one depends on did not succeed.",
          started=Started.NO, confidence=LIKELY),
    _rule("workload", r"workload failed|see run output for details|failed with error message|"
          r"command exited with code|task failed with", APPLICATION, "RUN_EXECUTION_ERROR",
          "The run's own code failed.", tier=Tier.REPORT, confidence=LIKELY),
    _rule("quota", {"databricks.result": "MAXIMUM_CONCURRENT_RUNS_REACHED"}, UNKNOWN,
          "MAXIMUM_CONCURRENT_RUNS_REACHED", "Too many runs of this job were under way.",
          confidence=GUESS, started=Started.NO),
    _rule("failed", {"databricks.result": "FAILED", "databricks.life_cycle": "TERMINATED"},
          APPLICATION, "FAILED", "The run ended by itself with a failure.", tier=Tier.MISMATCH,
          by_itself=True, confidence=LIKELY),
    _rule("other", {"databricks.code": PRESENT}, UNKNOWN, _CODE,
          "The code does not tell whose fault it was.", source=_CLUSTERS, tier=Tier.NOTHING,
          confidence=GUESS),
    _rule("life-cycle", {"databricks.life_cycle": PRESENT}, UNKNOWN, Take("databricks.life_cycle"),
          "The life-cycle state does not tell whose fault it was.", tier=Tier.NOTHING,
          confidence=GUESS),
)
# fmt: on

SOURCE: Final = Source(
    name="databricks",
    systems=frozenset({"databricks"}),
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
