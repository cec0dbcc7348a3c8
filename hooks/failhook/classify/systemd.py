"""systemd: the Result of a unit, how its main process ended, and the manager's journal lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import ABSENT, PRESENT, Shorthand, between, like
from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined
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
from failhook.details import Confidence, Hint, Kind, Started
from failhook.evidence import Evidence

_EXEC: Final = "https://www.freedesktop.org/software/systemd/man/systemd.exec.html"
_SERVICE: Final = "https://www.freedesktop.org/software/systemd/man/systemd.service.html"
_OOMD: Final = "https://www.freedesktop.org/software/systemd/man/systemd-oomd.service.html"
_OOM: Final = "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory"
_FIELDS: Final = (
    *("Result", "ExecMainStatus", "ExecMainCode", "SERVICE_RESULT", "EXIT_CODE", "EXIT_STATUS"),
    *("ActiveState", "SubState", "unit", "systemctl_show", "systemctl_status", "journal"),
)
_RESULT: Final = re.compile(r"(?:Failed with result '|\(Result: )([a-z-]{3,30})['\)]")
_PROPERTY: Final = re.compile(r"(?m)^(Result|ExecMainCode|ExecMainStatus|ActiveState)=(\S++)")
_ENDED: Final = re.compile(r"code=(exited|killed|dumped), (?:status|signal)=(\d{1,3}|[A-Z]{2,6})")
_SIGNALS: Final = {
    name: number
    for number, name in (
        *((1, "HUP"), (2, "INT"), (3, "QUIT"), (4, "ILL"), (5, "TRAP"), (6, "ABRT"), (7, "BUS")),
        *((8, "FPE"), (9, "KILL"), (11, "SEGV"), (13, "PIPE"), (14, "ALRM"), (15, "TERM")),
        *((24, "XCPU"), (31, "SYS")),
    )
}
_KILLED: Final = frozenset({"killed", "dumped", "2", "3"})


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the unit's properties, or the environment that ExecStopPost= gets."""
    document = Record(evidence.facts)
    shown = document.text("systemctl_show")
    if shown is not None:
        document = Record(dict(_PROPERTY.findall(shown)))
    document = document.holder("Result", "ExecMainStatus", "SERVICE_RESULT")
    result = document.text("Result", "SERVICE_RESULT")
    journal = joined(*document.beginning("journal", "systemctlstatus"))
    told = "execmainstatus" in document or "serviceresult" in document or "unit" in document
    if evidence.system != "systemd" and not told:
        return
    if found := _RESULT.search(journal):
        result = result or found[1]
    facts.read("systemd.result", result, "Result")
    facts.read("systemd.journal", journal or None, "journal")
    how = document.text("ExecMainCode", "EXIT_CODE") or str(document.whole("ExecMainCode") or "")
    status = document.whole("ExecMainStatus", "EXIT_STATUS")
    if status is None:
        status = _SIGNALS.get(document.text("EXIT_STATUS") or "")
    if status is None and (ended := _ENDED.search(journal)):
        how = ended[1]
        status = int(ended[2]) if ended[2].isdigit() else _SIGNALS.get(ended[2])
    if not status:
        return
    if how in _KILLED:
        facts["signal"] = status
    else:
        facts["exit_code"] = status


def text_shape(source: str) -> Evidence | None:
    """Know what ``systemctl show`` prints."""
    names = {found[1] for found in _PROPERTY.finditer(source[:16_000])}
    shown = {"Result", "ExecMainStatus"} <= names
    return Evidence("systemd", {"systemctl_show": source}) if shown else None


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know the properties of a unit as an object."""
    document = Record(record)
    return Evidence("systemd", record) if "execmainstatus" in document else None


def _result(
    result: str | tuple[str, ...],
    kind: Kind,
    because: str,
    *,
    name: str = "",
    tier: Tier = Tier.DISRUPTION,
    deterministic: bool | None = None,
    confidence: Confidence = CONFIRMED,
    reason: str | None = None,
    source: str = _EXEC,
    hint: Hint | None = None,
    started: Started | None = None,
    by_itself: bool | None = None,
    when: Mapping[str, Shorthand] | None = None,
) -> Rule:
    return Rule(
        id=f"systemd.{name or result}",
        tier=tier,
        when={**(when or {}), **({"systemd.result": result} if result else {})},
        kind=kind,
        reason=Take("systemd.result") if reason is None else reason,
        deterministic=deterministic,
        confidence=confidence,
        started=started,
        ended_by_itself=by_itself,
        hint=hint,
        because=because,
        source=source,
        next_step="Read the unit's journal: journalctl -u UNIT.",
    )


# fmt: off
RULES: Final = (
    _result(
        ("oom-kill", "signal"), INFRA, "The whole machine was out of memory.",
        name="oom.machine", reason="NodeOOM", source=_OOM, deterministic=False, confidence=LIKELY,
        when={"systemd.journal": like(r"constraint=CONSTRAINT_NONE\b|\bOut of memory: Kill")},
    ),
    _result(
        "oom-kill", APPLICATION, "The kernel killed in the unit's cgroup for memory.",
        hint=Hint.MORE_MEMORY,
    ),
    _result(
        "signal", INFRA, "systemd-oomd killed the unit for the pressure of its slice.",
        name="oomd", reason="OOMKill", source=_OOMD, deterministic=False, confidence=LIKELY,
        when={"systemd.journal": like(r"(?i)\boomd\b[^\n]{0,80}\bkill")},
    ),
    _result(
        "timeout", MANUAL, "Somebody stopped the unit; only its stop took too long.",
        name="stop-timeout", confidence=LIKELY,
        when={
            "systemd.journal": like(r"(?m)^[^\n]{0,120}Stopping [^\n]{0,200}\n"),
            "signal": ABSENT, "exit_code": ABSENT,
        },
    ),
    _result("timeout", TIMEOUT, "A start, stop or run of the unit took longer than it may."),
    _result("watchdog", TIMEOUT, "The unit did not report to the watchdog in time."),
    _result("core-dump", APPLICATION, "The main process crashed and left a core dump.",
            tier=Tier.CONTAINER, by_itself=True),
    _result("resources", APPLICATION, "A file that the unit names is not there, or not for it.",
            name="resources.missing", deterministic=True, confidence=LIKELY, started=Started.NO,
            when={"systemd.journal": like(r"(?i)no such file|permission denied|bad unit file")}),
    _result("resources", INFRA, "systemd had not the resources to start the unit.",
            deterministic=False, confidence=LIKELY, started=Started.NO),
    _result("protocol", APPLICATION, "The unit did not keep to the protocol of its Type=."),
    _result(
        "exit-code", APPLICATION, "systemd could not set the unit up as it is written.",
        name="set-up", source=_EXEC, deterministic=True, started=Started.NO, tier=Tier.CONTAINER,
        when={"exit_code": between(200, 243)},
    ),
    _result("exit-code", APPLICATION, "The main process ended with a code that is a failure.",
            tier=Tier.CONTAINER, by_itself=True, when={"exit_code": between(1, 123)}),
    _result("exit-code", APPLICATION, "The main process ended with a code that is a failure.",
            name="exit-code.bare", tier=Tier.CONTAINER, by_itself=True, when={"exit_code": ABSENT}),
    _result("signal", UNKNOWN, "A signal ended the unit; which one is not known.",
            name="signal.bare", tier=Tier.MISMATCH, confidence=GUESS,
            when={"signal": ABSENT, "exit_code": ABSENT}),
    _result(
        ("start-limit-hit", "exec-condition"), UNKNOWN,
        "This only ends a loop of restarts; the cause came before.", name="loop-breaker",
        source=_SERVICE, tier=Tier.MISMATCH, confidence=GUESS,
    ),
    _result("", UNKNOWN, "This result does not tell whose fault it was.", name="other",
            tier=Tier.NOTHING, confidence=GUESS, when={"systemd.result": PRESENT}),
)
# fmt: on

SOURCE: Final = Source(
    name="systemd",
    systems=frozenset({"systemd"}),
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
    texts=(text_shape,),
)
