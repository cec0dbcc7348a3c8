"""What owns the pods: Jobs, JobSets, Kueue's Workloads and other kinds with a Failed condition."""

from __future__ import annotations

import re
from typing import Final

from failhook.classify.facts import Facts
from failhook.classify.kubernetes.fields import Object, mapping, members, text
from failhook.classify.kubernetes.messages import reason_of
from failhook.classify.kubernetes.pods import holds, read_sentence
from failhook.classify.kubernetes.runs import read_run, read_state

_POLICY_EXIT: Final = re.compile(
    r"Container (\S{1,253}) for pod \S{1,512} failed with exit code (-?\d{1,10})"
    r" matching (\w{1,20})"
)
_POLICY_CONDITION: Final = re.compile(
    r"Pod \S{1,512} has condition (\w{1,80}) matching (\w{1,20}) rule"
)


def read_owner(owner: Object, facts: Facts) -> None:
    """Read why an owner of pods failed; a Job's FailureTarget says it before Failed does."""
    status = mapping(owner.get("status"))
    read_state(status, facts)
    for each in members(status.get("conditions")):
        condition = mapping(each)
        kind = text(condition.get("type"))
        if kind is None:
            continue
        reason = text(condition.get("reason")) or kind
        at = f"status.conditions[type={kind}]"
        if not holds(condition):
            if kind == "Succeeded" and condition.get("status") == "False":  # as Tekton writes it
                facts.read("kube.run.failed", reason, f"{at}.reason")
                _read_message(condition, at, facts)
                read_run(status, reason, text(condition.get("message")) or "", at, facts)
        elif kind in ("Failed", "FailureTarget"):
            facts.read("kube.owner.failed", reason, f"{at}.reason")
            _read_message(condition, at, facts)
            _read_policy(condition.get("message"), facts)
        elif kind == "Suspended":
            facts.read("kube.owner.suspended", reason, f"{at}.reason")
        elif kind in ("Complete", "Completed", "SuccessCriteriaMet"):
            facts["kube.owner.complete"] = True


def _read_message(condition: Object, at: str, facts: Facts) -> None:
    """Read an owner's message; where it quotes the kubelet on its pod, that is read as well."""
    message = text(condition.get("message"))
    if message is None:
        return
    facts.read("kube.owner.message", message, f"{at}.message")
    if "pod.reason" not in facts and reason_of(message[:4_096]) is not None:
        facts.read("pod.message", message, f"{at}.message")
        read_sentence(facts)


def read_workload(workload: Object, facts: Facts) -> None:
    """Read why Kueue took a workload's quota away, or how the workload ended."""
    status = mapping(workload.get("status"))
    for each in members(status.get("conditions")):
        condition = mapping(each)
        kind = text(condition.get("type"))
        if kind is None or not holds(condition):
            continue
        reason = text(condition.get("reason")) or kind
        at = f"status.conditions[type={kind}].reason"
        if kind == "Evicted":
            facts.read("kube.eviction", reason, at)
        elif kind == "Preempted" and "kube.eviction" not in facts:
            facts.read("kube.eviction", kind, at)
        elif kind == "Finished" and reason == "Failed":
            facts.read("kube.owner.failed", reason, at)
            facts.read("kube.owner.message", text(condition.get("message")))


def _read_policy(message: object, facts: Facts) -> None:
    """Read what a rule of a Job's podFailurePolicy matched on; the sentence is the controller's."""
    if not isinstance(message, str):
        return
    matched = _POLICY_EXIT.search(message[:4_096])
    if matched is not None:
        facts.read("pod.container.name", matched[1], "status.conditions[type=Failed].message")
        facts["kube.policy.exit_code"] = facts["exit_code"] = int(matched[2])
        facts["kube.policy.action"] = matched[3]
        return
    matched = _POLICY_CONDITION.search(message[:4_096])
    if matched is not None:
        facts["kube.policy.condition"] = matched[1]
        facts["kube.policy.action"] = matched[2]
