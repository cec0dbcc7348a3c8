"""Containers beside the task: their end never blames the task's code."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like, one_of
from failhook.classify.rule import GUESS, INFRA, LIKELY, UNKNOWN, Rule, Take, Tier

_IMAGES: Final = "https://kubernetes.io/docs/concepts/containers/images/"
_BACK_OFF: Final = f"{_IMAGES}#imagepullbackoff"
_SIDECARS: Final = "https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/"

SIDECAR_ENDS: Final = (
    Rule(
        id="kubernetes.sidecar.oom",
        tier=Tier.CONTAINER,
        when={"pod.sidecar.ended": "oom"},
        kind=UNKNOWN,
        reason="SidecarOOMKilled",
        message="The container {pod.sidecar.name} beside the task passed its memory limit.",
        because="It is a helper's limit that was passed: neither the task's code nor the node.",
        source=_SIDECARS,
        next_step="Raise the helper's memory limit.",
    ),
    Rule(
        id="kubernetes.sidecar.killed",
        tier=Tier.CONTAINER,
        when={"pod.sidecar.ended": one_of("signal", "lost")},
        kind=INFRA,
        reason="SidecarKilled",
        deterministic=False,
        confidence=GUESS,
        message="The container {pod.sidecar.name} beside the task was stopped.",
        because="Nothing of the task failed; a helper was stopped, often as the pod wound down.",
        source=_SIDECARS,
        next_step="See whether the task had already done its work.",
    ),
    Rule(
        id="kubernetes.sidecar.network",
        tier=Tier.CONTAINER,
        when={
            "pod.sidecar.ended": one_of("error", "unclear"),
            "pod.sidecar.known": True,
            "pod.sidecar.message": like(
                r"timed out|timeout|connection (refused|reset)|no such host|unexpected eof|"
                r"service unavailable|internal server error|context deadline exceeded",
                ignore_case=True,
            ),
        },
        kind=INFRA,
        reason="SidecarFailed",
        confidence=LIKELY,
        message="{pod.sidecar.name}: {pod.sidecar.message}",
        because="The platform's own helper could not reach what it needs; the task did not fail.",
        source=_SIDECARS,
        next_step="Read the helper's log.",
    ),
    Rule(
        id="kubernetes.sidecar.failed",
        tier=Tier.CONTAINER,
        when={"pod.sidecar.ended": one_of("error", "crash", "unclear", "start")},
        kind=UNKNOWN,
        reason="SidecarFailed",
        message="The container {pod.sidecar.name} beside the task failed.",
        because="A helper failed, not the task; whether the platform is at fault is not said.",
        source=_SIDECARS,
        next_step="Read the helper's log.",
    ),
    Rule(
        id="kubernetes.sidecar.blocked",
        tier=Tier.NOTHING,
        when={"pod.sidecar.ended": "blocked"},
        kind=UNKNOWN,
        reason=Take("pod.sidecar.waiting"),
        confidence=GUESS,
        message="{pod.waiting.said}",
        because="A container beside the task cannot start; that is not the task's own code.",
        source=_BACK_OFF,
        next_step="Look at who puts this container into the pod.",
    ),
)
