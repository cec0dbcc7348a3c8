"""Where nothing better is known: the log, restart loops, reasons that nobody documents."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, like, one_of
from failhook.classify.rule import APPLICATION, GUESS, LIKELY, UNKNOWN, Rule, Take, Tier

_STATES: Final = (
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-state-terminated"
)

LEFTOVERS: Final = (
    Rule(
        id="kubernetes.log.exec-format",
        tier=Tier.LOG,
        when={
            "pod.ended": one_of("blocked", "error"),
            "log": like(r"(?m)^(\S{1,80} )?exec .{1,300}: exec format error"),
        },
        kind=APPLICATION,
        reason="ExecFormatError",
        deterministic=True,
        confidence=LIKELY,
        message="The image was built for another kind of processor.",
        because="The kernel cannot run the image's program: it is for another architecture.",
        source="https://man7.org/linux/man-pages/man2/execve.2.html",
        next_step="Build the image for the architecture of the nodes, or for several.",
    ),
    Rule(
        id="kubernetes.crash-loop",
        tier=Tier.NOTHING,
        when={"pod.waiting": "CrashLoopBackOff", "pod.container.reason": ABSENT},
        kind=UNKNOWN,
        reason="CrashLoopBackOff",
        confidence=GUESS,
        message="{pod.waiting.said}",
        because="CrashLoopBackOff says only that the container failed before, never why.",
        source=_STATES,
        next_step="Look at lastState, or at the log of the container before: kubectl logs -p.",
    ),
    Rule(
        id="kubernetes.waiting.other",
        tier=Tier.NOTHING,
        when={"pod.waiting": PRESENT, "pod.container.reason": ABSENT},
        kind=UNKNOWN,
        reason=Take("pod.waiting"),
        confidence=GUESS,
        message="{pod.waiting.said}",
        because="The container waits; its reason alone does not say whose fault that is.",
        source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states",
        next_step="Read the pod's events.",
    ),
    Rule(
        id="kubernetes.pod.other-reason",
        tier=Tier.NOTHING,
        when={"pod.reason": PRESENT},
        kind=UNKNOWN,
        reason=Take("pod.reason"),
        confidence=GUESS,
        message="{pod.said}",
        because="The pod's reason is none that Kubernetes documents.",
        source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/",
        next_step="Find out which component writes this reason.",
    ),
    Rule(
        id="kubernetes.pod.failed",
        tier=Tier.NOTHING,
        when={"pod.phase": "Failed"},
        kind=UNKNOWN,
        reason="PodFailed",
        confidence=GUESS,
        message="The pod failed, and neither it nor its containers say why.",
        because="The pod's phase is Failed, and nothing in it says why.",
        source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase",
        next_step="Read the pod's events and the task's log.",
    ),
)
