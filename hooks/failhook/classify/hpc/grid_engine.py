"""Grid Engine (SGE, UGE, OGE): the field ``failed`` of qacct, as sge_status(5) explains it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT
from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.classify.source import Source
from failhook.details import Confidence, Kind, Started
from failhook.evidence import Evidence

_STATUS: Final = "https://manpages.debian.org/bookworm/gridengine-common/sge_status.5.en.html"
_SYSTEMS: Final = frozenset({"sge", "uge", "gridengine", "grid-engine", "oge"})
_FAILED: Final = re.compile(r"\s{0,8}(\d{1,3})\b")
_PAIR: Final = re.compile(r"(?m)^(failed|exit_status|deleted_by|hostname)[ \t]{1,40}(\S[^\n]*+)")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read ``failed``, and the exit status where the job ran."""
    document = Record(evidence.facts)
    if not document.get("qacct") and evidence.system not in _SYSTEMS:
        return
    printed = document.text("qacct", "qacct_stdout")
    record = Record(dict(_PAIR.findall(printed))) if printed else document.record("qacct")
    record = record or document.holder("failed")
    facts.read("node", record.text("hostname"))
    found = _FAILED.match(record.text("failed") or "")
    failed = int(found[1]) if found else record.whole("failed")
    if failed:
        facts["sge.failed"] = failed
        facts["sge.reason"] = f"failed {failed}"
    actor = record.text("deleted_by")
    if actor is not None and actor.upper() != "NONE":
        facts.read("sge.deleted_by", actor)
    status = record.whole("exit_status", "exit_code")
    if status:
        facts["exit_code"] = status


def text_shape(source: str) -> Evidence | None:
    """Know what ``qacct -j`` prints."""
    names = {found[1] for found in _PAIR.finditer(source[:8_000])}
    return Evidence("sge", {"qacct": source}) if {"failed", "exit_status"} <= names else None


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know the fields of ``qacct -j`` as an object."""
    document = Record(record)
    if "failed" in document and "exit_status" in document and "qname" in document:
        return Evidence("sge", record)
    return None


def _failed(
    codes: int | tuple[int, ...],
    kind: Kind,
    because: str,
    *,
    confidence: Confidence = CONFIRMED,
    deterministic: bool | None = None,
    started: Started | None = Started.NO,
) -> Rule:
    first = codes if isinstance(codes, int) else codes[0]
    return Rule(
        id=f"sge.failed.{first}",
        tier=Tier.DISRUPTION,
        when={"sge.failed": codes},
        kind=kind,
        reason=Take("sge.reason"),
        deterministic=deterministic,
        confidence=confidence,
        started=started,
        because=because,
        source=_STATUS,
        next_step="Read the messages file of the host, and the shepherd's trace.",
    )


# fmt: off
RULES: Final = (
    Rule(
        id="sge.deleted",
        tier=Tier.DISRUPTION,
        when={"sge.deleted_by": PRESENT},
        kind=MANUAL,
        reason="Cancelled",
        confidence=CONFIRMED,
        take={"actor": "sge.deleted_by"},
        because="qacct names who deleted the job.",
        source=_STATUS,
    ),
    _failed((1, 3, 4, 5, 6, 7, 9, 11, 16, 18, 20), INFRA,
            "Grid Engine failed before the job.", confidence=LIKELY, deterministic=False),
    _failed(8, INFRA, "The prolog of the queue failed.", deterministic=False),
    _failed(10, INFRA, "The start of the parallel environment failed.", deterministic=False),
    _failed((12, 13, 14, 15, 19), INFRA, "Grid Engine failed after the job.", confidence=LIKELY,
            started=Started.YES),
    _failed(17, UNKNOWN, "A signal ended the job.", confidence=GUESS, started=None),
    _failed((21, 22), INFRA, "The host does not know the job any more.", deterministic=False,
            started=None),
    _failed(24, UNKNOWN, "The job migrates with a checkpoint.", confidence=GUESS, started=None),
    _failed(25, INFRA, "The job was rescheduled.", confidence=LIKELY, deterministic=False,
            started=None),
    _failed(26, APPLICATION, "The input or output file cannot be opened.", deterministic=True),
    _failed(27, APPLICATION, "The shell that the job asks for is not there.", confidence=LIKELY),
    _failed(28, APPLICATION, "The working directory cannot be used.", confidence=LIKELY),
    _failed((29, 31, 32, 33, 34, 35, 36, 38), INFRA, "The host could not set the job up.",
            confidence=LIKELY),
    _failed(30, APPLICATION, "The job reported an application error.", started=Started.YES),
    _failed(37, TIMEOUT, "The master enforced h_rt, h_cpu or h_vmem.", confidence=LIKELY,
            started=Started.YES),
    Rule(
        id="sge.failed.100",
        tier=Tier.MISMATCH,
        when={"sge.failed": 100},
        kind=UNKNOWN,
        reason="failed 100",
        confidence=GUESS,
        because="The job ran and did not end well: a limit, a deletion, or a signal of its own.",
        source=_STATUS,
        next_step="Compare maxvmem and ru_wallclock with the limits of the job.",
    ),
    Rule(
        id="sge.failed.other",
        tier=Tier.NOTHING,
        when={"sge.failed": PRESENT},
        kind=UNKNOWN,
        reason=Take("sge.reason"),
        confidence=GUESS,
        because="This code does not tell whose fault it was.",
        source=_STATUS,
        next_step="Read the messages file of the host, and the shepherd's trace.",
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="hpc.grid_engine",
    systems=_SYSTEMS,
    fields=frozenset({"qacct", "qacct_stdout"}),
    read=read,
    rules=RULES,
    shapes=(shape,),
    texts=(text_shape,),
)
