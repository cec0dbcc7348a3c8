"""How the task's container, or an init container before it, ended."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, is_not, one_of
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

_KEP: Final = (
    "https://github.com/kubernetes/enhancements/tree/master/keps/sig-apps/"
    "3329-retriable-and-non-retriable-failures"
)
_CONTAINERD: Final = (
    "https://github.com/containerd/containerd/blob/main/internal/cri/server/helpers.go"
)
_MEMORY: Final = (
    "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
    "#how-pods-with-resource-limits-are-run"
)
_QOS: Final = "https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/#besteffort"
_NODE_OOM: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/"
    "#node-out-of-memory-behavior"
)
_STATES: Final = (
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-state-terminated"
)
_SHELL: Final = "https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html"
_UNKNOWN_STATUS: Final = (
    "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/status/status_manager.go"
)
_PROBES: Final = (
    "https://kubernetes.io/docs/tasks/configure-pod-container/"
    "configure-liveness-readiness-startup-probes/"
)
_READ_LOG: Final = "Read the end of the container's log."
_WHO_KILLED: Final = (
    "Look at the pod's events, the node's kernel log, and who may stop containers there."
)

ENDS: Final = (
    Rule(
        id="kubernetes.oom.no-limit",
        tier=Tier.CONTAINER,
        when={"pod.ended": "oom", "pod.best_effort": True},
        kind=INFRA,
        reason="NodeOOM",
        deterministic=False,
        confidence=LIKELY,
        hint=Hint.MORE_MEMORY,
        message="{pod.container.said}",
        because="A BestEffort pod has no limit that it could pass: it was the node's memory.",
        source=_QOS,
        next_step="Give the container a request and a limit; see what else filled the node.",
    ),
    Rule(
        id="kubernetes.oom.node",
        tier=Tier.CONTAINER,
        when={
            "pod.ended": "oom",
            "kube.node.event": one_of("SystemOOM"),
            "pod.memory_limit": False,
        },
        kind=INFRA,
        reason="NodeOOM",
        deterministic=False,
        confidence=LIKELY,
        hint=Hint.MORE_MEMORY,
        message="{pod.container.said}",
        because="The node itself ran out of memory, and the container has no limit of its own.",
        source=_NODE_OOM,
        next_step="Give the container a request and a limit; see what else filled the node.",
    ),
    Rule(
        id="kubernetes.oom.pod",
        tier=Tier.CONTAINER,
        when={"pod.reason": "OOMKilled", "pod.ended": is_not("oom")},
        kind=APPLICATION,
        reason="OOMKilled",
        confidence=LIKELY,
        hint=Hint.MORE_MEMORY,
        message="{pod.said}",
        because="A provider without container states says so of the pod: it passed its own limit.",
        source=_MEMORY,
        next_step="Raise the memory limit, or make the task need less.",
    ),
    Rule(
        id="kubernetes.oom",
        tier=Tier.CONTAINER,
        when={"pod.ended": "oom"},
        kind=APPLICATION,
        reason="OOMKilled",
        confidence=CONFIRMED,
        hint=Hint.MORE_MEMORY,
        message="{pod.container.said}",
        because="The kernel killed in the container's own memory cgroup: it passed its own limit.",
        source=_MEMORY,
        next_step="Raise the memory limit, or make the task need less.",
    ),
    Rule(
        id="kubernetes.probe",
        tier=Tier.CONTAINER,
        when={
            "pod.ended": one_of("signal", "error"),
            "pod.probe": PRESENT,
        },
        kind=APPLICATION,
        reason="LivenessProbeFailed",
        confidence=LIKELY,
        message="{pod.probe}",
        because="The kubelet stopped the container because it failed its own health check.",
        source=_PROBES,
        next_step="Look at what the probe asks for and how long it waits; see what the task did.",
    ),
    Rule(
        id="kubernetes.init.injected",
        tier=Tier.CONTAINER,
        when={
            "pod.container.role": "init",
            "pod.container.injected": True,
            "pod.ended": one_of("error", "crash", "signal"),
        },
        kind=INFRA,
        reason="InitContainerFailed",
        confidence=LIKELY,
        started=Started.NO,
        message="{pod.container.said}",
        because="An init container that the platform puts in failed before the task began.",
        source="https://kubernetes.io/docs/concepts/workloads/pods/init-containers/",
        next_step="Look at the mesh or the engine that puts the init container in.",
    ),
    Rule(
        id="kubernetes.exit.bad-command",
        tier=Tier.EXIT,
        when={"exit_code": one_of(126, 127), "pod.ended": "error"},
        kind=APPLICATION,
        reason=Take("pod.container.reason", "SpecError"),
        deterministic=True,
        confidence=LIKELY,
        ended_by_itself=True,
        message="{pod.container.said}",
        because="Shells use 127 for a command that is not found and 126 for one they may not run.",
        source=_SHELL,
        next_step="Check the command, PATH and file modes in the image.",
    ),
    Rule(
        id="kubernetes.exit.crash",
        tier=Tier.CONTAINER,
        when={"pod.ended": "crash"},
        kind=APPLICATION,
        reason="NativeCrash",
        confidence=LIKELY,
        ended_by_itself=True,
        message="{pod.container.said}",
        because="The exit code is that of a signal which a process brings on itself.",
        source=_SHELL,
        next_step="Get a core dump or run with faulthandler; look at native extensions.",
    ),
    Rule(
        id="kubernetes.exit.error",
        tier=Tier.EXIT,
        when={"pod.ended": "error"},
        kind=APPLICATION,
        reason=Take("pod.container.reason", "NonZeroExit"),
        confidence=CONFIRMED,
        ended_by_itself=True,
        message="{pod.container.said}",
        because="The container ended by itself and said that it failed.",
        source=_STATES,
        next_step=_READ_LOG,
    ),
    Rule(
        id="kubernetes.lost.runtime",
        tier=Tier.CONTAINER,
        when={"pod.container.reason": "Unknown", "pod.ended": "lost"},
        kind=INFRA,
        reason="Unknown",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.container.said}",
        because="The runtime was restarted, or its node was, and no longer knows how it ended.",
        source=_CONTAINERD,
        next_step="Look at the uptime of the node and of its container runtime.",
    ),
    Rule(
        id="kubernetes.lost.kubelet",
        tier=Tier.CONTAINER,
        when={
            "pod.container.reason": "ContainerStatusUnknown",
            "pod.ended": "lost",
            "pod.phase": is_not("Pending"),
        },
        kind=INFRA,
        reason="ContainerStatusUnknown",
        deterministic=False,
        confidence=LIKELY,
        message="{pod.container.said}",
        because="The kubelet could not find the container any more; its exit code is made up.",
        source=_UNKNOWN_STATUS,
        next_step="Look at the node: restarts of the kubelet, evictions, its disk.",
    ),
    Rule(
        id="kubernetes.lost.never-ran",
        tier=Tier.EXIT,
        when={"pod.container.reason": "ContainerStatusUnknown", "pod.phase": "Pending"},
        kind=UNKNOWN,
        reason="ContainerStatusUnknown",
        confidence=GUESS,
        started=Started.NO,
        message="{pod.container.said}",
        because="The pod never left Pending, so there was no container; the exit code is made up.",
        source=_UNKNOWN_STATUS,
        next_step="Read the pod's events for what it waited for.",
    ),
    Rule(
        id="kubernetes.exit.signal",
        tier=Tier.EXIT,
        when={"pod.ended": "signal", "pod.container.reason": PRESENT},
        kind=UNKNOWN,
        reason=Take("pod.container.reason"),
        confidence=GUESS,
        message="{pod.container.said}",
        because="Somebody stopped the container; preemption, drain and a hand look all alike.",
        source=_KEP,
        next_step=_WHO_KILLED,
    ),
    Rule(
        id="kubernetes.exit.unclear",
        tier=Tier.EXIT,
        when={"pod.ended": "unclear", "pod.container.reason": PRESENT},
        kind=UNKNOWN,
        reason=Take("pod.container.reason"),
        confidence=GUESS,
        message="{pod.container.said}",
        because="A lost status, a wrapper's own failure and exit(-1) all look like this.",
        source=_STATES,
        next_step=f"{_READ_LOG} Look at the node as well.",
    ),
    Rule(
        id="kubernetes.exit.clean",
        tier=Tier.EXIT,
        when={"pod.ended": "clean"},
        kind=UNKNOWN,
        reason=Take("pod.container.reason", "Completed"),
        confidence=GUESS,
        message="{pod.container.said}",
        because="The container ended cleanly; whatever called it failed saw something else.",
        source=_STATES,
        next_step="Ask what reported the failure, and why.",
    ),
)
