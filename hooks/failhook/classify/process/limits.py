"""A process that ends badly under a memory limit which its supervisor had set."""

from __future__ import annotations

from typing import Any, Final

from failhook.classify.conditions import PRESENT, Shorthand, at_least, between, one_of
from failhook.classify.facts import Facts, Value
from failhook.classify.rule import APPLICATION, LIKELY, Rule, Tier
from failhook.details import Hint, Started

_RLIMIT: Final = "https://man7.org/linux/man-pages/man2/getrlimit.2.html"
_RUSAGE: Final = "https://man7.org/linux/man-pages/man2/getrusage.2.html"
_RAISE: Final = "Raise the memory limit, or make the task need less."
_NEARLY: Final = 0.9
_CRASHES: Final = one_of(4, 5, 6, 7, 11)
"""ILL TRAP ABRT BUS SEGV: how programs die of an allocation that fails (signal(7))."""
_ENDINGS: Final[dict[str, tuple[Tier, dict[str, Shorthand], str]]] = {
    "crash": (Tier.SIGNAL, {"signal": _CRASHES}, "{signal.name}"),
    "exit": (Tier.EXIT, {"exit_code": between(1, 255)}, "Exit code {exit_code}"),
}
_OUT_OF_MEMORY: Final[dict[str, Any]] = {
    "kind": APPLICATION,
    "reason": "OutOfMemory",
    "confidence": LIKELY,
    "ended_by_itself": True,
    "hint": Hint.MORE_MEMORY,
    "next_step": _RAISE,
}
_CRASHED: Final[dict[str, Any]] = {
    **_OUT_OF_MEMORY,
    "reason": "NativeCrash",
    "because": "A program that cannot allocate memory often crashes; nothing else tells if it did.",
    "source": _RLIMIT,
    "next_step": "Try once with a higher memory limit, else get a core dump.",
}

LIMITS: Final = (
    Rule(
        id="process.memory-limit.exec",
        tier=Tier.DISRUPTION,
        when={"exec.errno": 12, "memory_limit.bytes": PRESENT},  # ENOMEM
        started=Started.NO,
        message="The command does not fit into its memory limit of {memory_limit.bytes} bytes.",
        because="The system had no memory for the command under the limit that it was given.",
        source=_RLIMIT,
        **_OUT_OF_MEMORY,
    ),
    *(
        Rule(
            id=f"process.memory-limit.{name}.peak",
            tier=tier,
            when={**when, "memory_limit.share": at_least(_NEARLY)},
            message=f"{what}, with {{memory_limit.peak}} of {{memory_limit.bytes}} bytes in use.",
            because="The process had used up nearly all the memory that it might use.",
            source=_RUSAGE,
            **_OUT_OF_MEMORY,
        )
        for name, (tier, when, what) in _ENDINGS.items()
    ),
    *(
        Rule(
            id=f"process.memory-limit.{name}.said",
            tier=tier,
            when={**when, "memory_limit.bytes": PRESENT, "memory_limit.said": PRESENT},
            message=f"{what}, and the end of its output says: {{memory_limit.said}}.",
            because="It had a memory limit, and complained of memory before it ended.",
            source=_RLIMIT,
            **_OUT_OF_MEMORY,
        )
        for name, (tier, when, what) in _ENDINGS.items()
    ),
    Rule(
        id="process.memory-limit.crash.own-oom",
        tier=Tier.SIGNAL,
        when={"signal": _CRASHES, "oom_own": at_least(1)},
        message="{signal.name}, after an OOM kill in the task's own memory cgroup.",
        because="A child of the task was killed for the task's own memory limit, and it gave up.",
        source="https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files",
        **_OUT_OF_MEMORY,
    ),
    Rule(
        id="process.memory-limit.crash",
        tier=Tier.SIGNAL,
        when={"signal": _CRASHES, "memory_limit.bytes": PRESENT},
        message="{signal.name}, under a memory limit of {memory_limit.bytes} bytes.",
        **_CRASHED,
    ),
    Rule(
        id="process.memory-limit.shell-crash",
        tier=Tier.EXIT,
        when={"exit_code": one_of(132, 133, 134, 135, 139), "memory_limit.bytes": PRESENT},
        message="Exit code {exit_code}, under a memory limit of {memory_limit.bytes} bytes.",
        **_CRASHED,
    ),
)


def share(facts: Facts) -> Value:
    """Return how much of its limit a process had in use at most, 1 being all of it."""
    limit, peak = facts["memory_limit.bytes"], facts["memory_limit.peak"]
    if type(limit) is int and type(peak) is int and limit > 0:
        return peak / limit
    return None
