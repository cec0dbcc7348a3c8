"""Reads the node that a pod ran on: does it answer, is it short of something, is it going away?"""

from __future__ import annotations

from typing import Final

from failhook.classify.facts import Facts
from failhook.classify.kubernetes.fields import Object, mapping, members, text
from failhook.classify.kubernetes.pods import holds

_PRESSURE: Final = ("MemoryPressure", "DiskPressure", "PIDPressure")
LEAVING: Final = frozenset(
    (
        *("node.kubernetes.io/out-of-service", "node.cloudprovider.kubernetes.io/shutdown"),
        *("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"),
        *("ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"),
        *("cloud.google.com/impending-node-termination", "aws-node-termination-handler/spot-itn"),
        *("aws-node-termination-handler/scheduled-maintenance", "kubernetes.azure.com/evicting"),
    )
)
"""Taints of a node that is lost or about to go."""


def read_node_object(node: Object, facts: Facts) -> None:
    """Read a Node, as the API writes it."""
    status = mapping(node.get("status"))
    for each in members(status.get("conditions")):
        condition = mapping(each)
        kind = text(condition.get("type"))
        if kind == "Ready" and not holds(condition) and condition.get("status") is not None:
            facts["kube.node.lost"] = True
            facts.origins["kube.node.lost"] = "node.status.conditions[type=Ready].status"
            facts.read("kube.node.reason", text(condition.get("reason")))
        elif kind in _PRESSURE and holds(condition):
            facts.read("kube.node.pressure", kind)
    for each in members(mapping(node.get("spec")).get("taints")):
        key = text(mapping(each).get("key"))
        if key in LEAVING:
            facts.read("kube.node.leaving", key, "node.spec.taints")
