"""Images that could not be pulled, told apart by what registry and runtime said about it.

What the texts mean is in `phrases`. They are read only where the kubelet says that a container
waits for its image: from the waiting message, or, where kubelets before 1.32 say no more than
"Back-off", from the newest event.
"""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import Condition, is_not, like, one_of
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.details import Hint, Started

_IMAGES: Final = "https://kubernetes.io/docs/concepts/containers/images/"
_BACK_OFF: Final = f"{_IMAGES}#imagepullbackoff"
_SPEC: Final = "https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes"
_LIMITS: Final = "https://docs.docker.com/docker-hub/usage/"
_CONTAINERD: Final = "https://github.com/containerd/containerd/blob/main/core/remotes/docker"
_TYPES: Final = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/images/types.go"
_REASON: Final = Take("pod.image_reason", "ErrImagePull")
_CHECK_NAME: Final = "Check name, tag and platform of the image, with the pull secret of the pod."
_CHECK_REGISTRY: Final = "Look at the registry's status and at the network of the node."

PULLING: Final = one_of(
    *("ErrImagePull", "ImagePullBackOff", "RegistryUnavailable"),
    "TaskRunImagePullFailed",  # of a run of Tekton, which quotes what its pod waited for
)
"""Reasons of a container that waits for an image which could not be pulled."""


_WAITS: Final[dict[str, Condition]] = {"pod.waiting": PULLING}
_BESIDE: Final[dict[str, Condition]] = {"pod.sidecar.waiting": PULLING}
_ONLY_EVENT: Final[dict[str, Condition]] = {
    "pod.event.Failed": like(r"^Failed to pull image"),
    "pod.waiting": is_not("ErrImagePull", "ImagePullBackOff", "RegistryUnavailable"),
    "pod.ended": one_of("waiting", "nothing"),
}


def _table() -> tuple[Rule, ...]:
    """Return the verdicts on what a failed pull said, for each place where it can be said."""
    return tuple(
        Rule(
            id=f"kubernetes.image.{name}{suffix}",
            tier=Tier.CONTAINER,
            when={**where, "pod.pull.says": name},
            kind=kind,
            reason=_REASON,
            deterministic=deterministic,
            confidence=confidence,
            started=Started.NO,
            hint=hint,
            message="{pod.pull.said}",
            because=because,
            source=source,
            next_step=next_step,
        )
        for suffix, where in (
            ("", _WAITS),
            (".event", _ONLY_EVENT),
            (".sidecar", _BESIDE),
        )
        for name, kind, deterministic, confidence, hint, because, source, next_step in (
            (
                *("throttled", INFRA, False, CONFIRMED, None),
                "The registry, or the kubelet's own throttle, asked to come again later.",
                *(_LIMITS, "Pull with an account or through a mirror; raise the pull limits."),
            ),
            (
                *("registry", INFRA, False, CONFIRMED, None),
                "The registry failed by itself while it was asked for the image.",
                *(_CONTAINERD, _CHECK_REGISTRY),
            ),
            (
                *("node", INFRA, False, LIKELY, Hint.OTHER_NODE),
                "The node could not store or unpack the image.",
                *(_CONTAINERD, "Look at the node's disk and at its container runtime."),
            ),
            (
                *("network", INFRA, False, LIKELY, None),
                "The registry could not be reached.",
                *(_CONTAINERD, _CHECK_REGISTRY),
            ),
            (
                *("expired", APPLICATION, None, LIKELY, None),
                "The token to pull with had expired.",
                *(_SPEC, "Renew the pull secret of the pod, or the node's own credentials."),
            ),
            (
                *("missing", APPLICATION, True, LIKELY, None),
                "There is no such image, tag or platform, and a retry asks for the same.",
                *(_SPEC, _CHECK_NAME),
            ),
            (
                *("denied", APPLICATION, True, LIKELY, None),
                "The registry does not give the image to the pod's credentials.",
                *(_SPEC, _CHECK_NAME),
            ),
        )
        if not (suffix == ".sidecar" and kind is APPLICATION)
    )


IMAGES: Final = (
    Rule(
        id="kubernetes.image.invalid-name",
        tier=Tier.CONTAINER,
        when={"pod.waiting": "InvalidImageName"},
        kind=APPLICATION,
        reason="InvalidImageName",
        deterministic=True,
        confidence=CONFIRMED,
        started=Started.NO,
        message="{pod.waiting.said}",
        because="The image's name in the specification cannot be a name of an image.",
        source=_TYPES,
        next_step="Correct the name of the image: no capitals, no blanks, one tag.",
    ),
    Rule(
        id="kubernetes.image.never-pull",
        tier=Tier.CONTAINER,
        when={"pod.waiting": "ErrImageNeverPull"},
        kind=APPLICATION,
        reason="ErrImageNeverPull",
        deterministic=True,
        confidence=CONFIRMED,
        started=Started.NO,
        message="{pod.waiting.said}",
        because="imagePullPolicy is Never, and the node does not have the image.",
        source=f"{_IMAGES}#image-pull-policy",
        next_step="Put the image on every node, or let it be pulled.",
    ),
    Rule(
        id="kubernetes.image.signature",
        tier=Tier.CONTAINER,
        when={"pod.waiting": "SignatureValidationFailed"},
        kind=APPLICATION,
        reason="SignatureValidationFailed",
        deterministic=True,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.waiting.said}",
        because="The runtime's policy does not accept the signature of this image.",
        source="https://github.com/kubernetes/kubernetes/pull/117717",
        next_step="Sign the image, or correct the policy of the runtime.",
    ),
    *_table(),
    Rule(
        id="kubernetes.image.registry-unavailable",
        tier=Tier.CONTAINER,
        when={"pod.waiting": "RegistryUnavailable"},
        kind=INFRA,
        reason="RegistryUnavailable",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.waiting.said}",
        because="The runtime says that the registry could not be reached.",
        source=_TYPES,
        next_step=_CHECK_REGISTRY,
    ),
    Rule(
        id="kubernetes.image.inspect",
        tier=Tier.CONTAINER,
        when={"pod.waiting": "ImageInspectError"},
        kind=INFRA,
        reason="ImageInspectError",
        deterministic=False,
        confidence=LIKELY,
        started=Started.NO,
        hint=Hint.OTHER_NODE,
        message="{pod.waiting.said}",
        because="The node's runtime could not look up its own images.",
        source=_TYPES,
        next_step="Look at the node's container runtime.",
    ),
    Rule(
        id="kubernetes.image.unexplained",
        tier=Tier.NOTHING,
        when={"pod.waiting": PULLING},
        kind=UNKNOWN,
        reason=Take("pod.waiting"),
        confidence=GUESS,
        started=Started.NO,
        message="{pod.pull.said}",
        because="The image could not be pulled, and nothing says why.",
        source=_BACK_OFF,
        next_step="Read the pod's events: the first failed pull says why.",
    ),
)
