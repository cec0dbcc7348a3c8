"""Names that tell which container of a pod is the task, and which are helpers of a platform."""

from __future__ import annotations

from typing import Final

DEFAULT_CONTAINER: Final = (
    "kubectl.kubernetes.io/default-container",
    "kubectl.kubernetes.io/default-logs-container",
)
"""The annotations that name a pod's main container, the present one and the one before it."""

SIDECARS: Final = frozenset(
    (
        *("istio-proxy", "linkerd-proxy", "envoy", "consul-dataplane", "kuma-sidecar", "daprd"),
        *("wait", "supervisor"),  # Argo Workflows
        *("airflow-xcom-sidecar", "git-sync", "s3-sync"),
        *("vault-agent", "cloud-sql-proxy", "cloudsql-proxy", "gke-gcsfuse-sidecar"),
        *(
            "aux-cook-sidecar-container",
            "gke-metadata-server",
            "aws-otel-collector",
            "otc-container",
            "datadog-agent",
        ),
        *("fluent-bit", "fluentbit", "fluentd", "filebeat", "promtail", "vector", "queue-proxy"),
    )
)
"""Helpers that platforms put beside the task; never the task where another candidate is there."""

_TEKTON_SIDECAR: Final = "sidecar-"
"""Tekton's prefix of containers that are not steps."""

INJECTED_INITS: Final = frozenset(
    (
        *("istio-init", "istio-validation", "linkerd-init", "linkerd-network-validator"),
        *("kuma-init", "consul-connect-inject-init", "vault-agent-init", "place-scripts"),
        *("working-dir-initializer", "prepare", "place-tools"),  # Tekton
    )
)
"""Init containers that platforms put before the task."""

SUPERVISOR: Final = "supervisor"
SUPERVISOR_FAILED: Final = 65
"""Argo Workflows: the main container's exit code when its supervisor failed before the task ran."""


def is_helper(name: object) -> bool:
    """Return whether a container of this name is a helper of a platform, not the task."""
    return type(name) is str and (name in SIDECARS or name.startswith(_TEKTON_SIDECAR))
