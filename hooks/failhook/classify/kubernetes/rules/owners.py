"""Owners of pods: a Job's failure policy says something, most reasons only wrap the cause."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, between, one_of
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)

_POLICY: Final = "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy"
_LIMIT: Final = (
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy"
)
_LOOK_AT_PODS: Final = "Look at the job's pods: the last of them says why it failed."

OWNERS: Final = (
    Rule(
        id="kubernetes.job.policy.disrupted",
        tier=Tier.DISRUPTION,
        when={"kube.policy.condition": "DisruptionTarget"},
        kind=INFRA,
        reason="DisruptionTarget",
        deterministic=False,
        confidence=LIKELY,
        message="{kube.owner.said}",
        because="The job's failure policy matched a pod that the platform had disrupted.",
        source=_POLICY,
        next_step="Let the policy ignore DisruptionTarget, so that a new pod is made.",
    ),
    Rule(
        id="kubernetes.job.policy.killed",
        tier=Tier.CONTAINER,
        when={"kube.policy.exit_code": one_of(137, 143, 255)},
        kind=UNKNOWN,
        reason=Take("kube.owner.failed"),
        confidence=GUESS,
        message="{kube.owner.said}",
        because="The failure policy matched an exit code that tells not who stopped the container.",
        source=_POLICY,
        next_step=_LOOK_AT_PODS,
    ),
    Rule(
        id="kubernetes.job.policy.exit-code",
        tier=Tier.CONTAINER,
        when={
            "kube.policy.action": one_of("FailJob", "FailIndex"),
            "kube.policy.exit_code": between(1, 254),
        },
        kind=APPLICATION,
        reason=Take("kube.owner.failed"),
        deterministic=True,
        confidence=LIKELY,
        ended_by_itself=True,
        message="{kube.owner.said}",
        because="The container ended by itself, with an exit code that the job calls final.",
        source=_POLICY,
        next_step="Read the end of the container's log.",
    ),
    Rule(
        id="kubernetes.job.failed",
        tier=Tier.NOTHING,
        when={"kube.owner.failed": PRESENT},
        kind=UNKNOWN,
        reason=Take("kube.owner.failed"),
        message="{kube.owner.said}",
        because="The owner gave up after its pods had failed; it does not say why they did.",
        source=_LIMIT,
        next_step=_LOOK_AT_PODS,
    ),
    Rule(
        id="kubernetes.job.suspended",
        tier=Tier.NOTHING,
        when={"kube.owner.suspended": PRESENT},
        kind=UNKNOWN,
        reason=Take("kube.owner.suspended"),
        message="The job is suspended, which deletes its pods.",
        because="A person or a queue suspended the job; the job does not say who.",
        source="https://kubernetes.io/docs/concepts/workloads/controllers/job/#suspending-a-job",
        next_step="Look for a queue such as Kueue, or ask who suspended the job.",
    ),
)
