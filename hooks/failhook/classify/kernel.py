"""The kernel's own lines: whom it killed for memory, and which hardware it complains of."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like
from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined
from failhook.classify.rule import APPLICATION, GUESS, INFRA, LIKELY, Rule, Tier
from failhook.classify.source import Source
from failhook.details import Confidence, Hint, Kind
from failhook.evidence import Evidence

_OOM: Final = "https://github.com/torvalds/linux/blob/master/mm/oom_kill.c"
_MCE: Final = "https://docs.kernel.org/arch/x86/x86_64/machinecheck.html"
_FIELDS: Final = ("dmesg", "dmesg_tail", "kernel_log", "kmsg", "syslog", "kern_log")

OWN_LIMIT: Final = r"Memory cgroup out of memory: Kill|constraint=CONSTRAINT_MEMCG\b"
_MACHINE: Final = r"\bOut of memory: Kill(?:ed)? process|constraint=CONSTRAINT_NONE\b"
_BROKEN: Final = (
    r"\[Hardware Error\]|Machine [Cc]heck|\bEDAC [^\n]{0,60}\bUE\b|blk_update_request: [^\n]{0,40}"
    r"I/O error|\bI/O error, dev |nvme\d{1,3}: controller is down|EXT4-fs error|"
    r"XFS [^\n]{0,60}[Cc]orruption|Remounting filesystem read-only"
)


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the kernel's log, where the caller names one."""
    document = Record(evidence.facts)
    said = joined(*(document.get(name) for name in _FIELDS))
    if said:
        facts["kernel.said"] = said
        told = facts.get("text.gpu")  # the driver of a device writes there too
        facts["text.gpu"] = f"{said}\n{told}" if isinstance(told, str) else said
        facts["gpu.sure"] = "confirmed"
        facts.quoted -= {"text.gpu", "gpu.xid"}


def _line(
    name: str,
    path: str,
    pattern: str,
    kind: Kind,
    reason: str,
    *,
    because: str,
    source: str,
    tier: Tier,
    hint: Hint,
    confidence: Confidence = LIKELY,
) -> Rule:
    return Rule(
        id=f"kernel.{name}",
        tier=tier,
        when={path: like(pattern)},
        kind=kind,
        reason=reason,
        deterministic=False if kind is INFRA else None,
        confidence=confidence,
        hint=hint,
        because=because,
        source=source,
        next_step="Read the kernel's log of the node: which process, which cgroup, which device.",
    )


RULES: Final = tuple(
    rule
    for path, tier, suffix in (
        ("kernel.said", Tier.DISRUPTION, ""),
        ("log", Tier.LOG, ".quoted"),
    )
    for rule in (
        _line(
            f"oom.cgroup{suffix}",
            path,
            OWN_LIMIT,
            APPLICATION,
            "OutOfMemory",
            because="The kernel killed in a memory cgroup that had reached its own limit.",
            source=_OOM,
            tier=tier,
            hint=Hint.MORE_MEMORY,
        ),
        _line(
            f"oom.machine{suffix}",
            path,
            _MACHINE,
            INFRA,
            "NodeOOM",
            because="The kernel killed because the whole machine was out of memory.",
            source=_OOM,
            tier=tier,
            hint=Hint.OTHER_NODE,
            confidence=LIKELY if tier is Tier.DISRUPTION else GUESS,
        ),
        _line(
            f"hardware{suffix}",
            path,
            _BROKEN,
            INFRA,
            "HardwareFailure",
            because="The kernel reports an error of processor, memory or disk.",
            source=_MCE,
            tier=Tier.HARDWARE if tier is Tier.DISRUPTION else tier,
            hint=Hint.OTHER_NODE,
        ),
    )
)

SOURCE: Final = Source(
    name="kernel", systems=frozenset({"kernel"}), fields=frozenset(_FIELDS), read=read, rules=RULES
)
