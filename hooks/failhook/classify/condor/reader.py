"""Reads HTCondor jobs: their ClassAd, ``condor_q -hold``, and events of the job's log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined, text, whole
from failhook.evidence import Evidence

SYSTEMS: Final = frozenset({"htcondor", "condor", "condor-dagman"})
FIELDS: Final = (
    *("HoldReasonCode", "HoldReasonSubCode", "HoldReason", "CODE_SUB", "VacateReasonCode"),
    *("event_log", "user_log"),
    *("JobStatus", "RemoveReason", "ExitBySignal", "event", "EventTypeNumber", "MyType"),
)

_EVENT: Final = re.compile(r"(?m)^[ \t]{0,4}(\d{3}) \(\d{1,12}\.\d{1,12}\.\d{1,12}\)")
_TELLING: Final = frozenset({2, 4, 5, 7, 9, 12, 21, 22, 24, 26})
_CODE_SUB: Final = re.compile(r"\s{0,4}(\d{1,5})\s{0,2}/\s{0,2}(-?\d{1,6})\s{0,4}")
_SAID_CODE: Final = re.compile(r"\bCode (\d{1,5}) Subcode (-?\d{1,6})")
_NORMAL: Final = re.compile(
    r"Normal termination \(return value (-?\d{1,6})\)|exit-code (\d{1,4})\b"
)
_ABNORMAL: Final = re.compile(r"Abnormal termination \(signal (\d{1,3})\)|by signal (\d{1,3})\b")
_ERRNO: Final = re.compile(r"errno[ =]{1,3}(\d{1,3})\b")
_REMOVED: Final = 3
_HELD: Final = 5


def read(evidence: Evidence, facts: Facts) -> None:
    """Read why the job was held, vacated, removed or ended."""
    document = Record(evidence.facts).holder("JobStatus", "HoldReasonCode", "CODE_SUB", "event")
    event, number = _event(
        joined(document.get("event"), *document.beginning("eventlog", "userlog"))
    )
    if number is None:
        number = document.whole("EventTypeNumber")
    if evidence.system not in SYSTEMS and number is None and not _is_ad(document):
        return
    said = joined(
        *(document.get(name) for name in ("HoldReason", "RemoveReason", "VacateReason", "Reason")),
        event,
        document.texts("details", "body", "lines"),
    )
    facts.read("condor.said", said or None)
    if number is not None:
        facts["condor.event"] = number
    facts.read("condor.status", _status(document))
    _read_codes(document, said, number, facts)
    _read_end(document, said, facts)


def _is_ad(document: Record) -> bool:
    return any(
        name in document
        for name in ("holdreasoncode", "codesub", "vacatereasoncode", "exitbysignal", "holdreason")
    ) or ("jobstatus" in document and ("clusterid" in document or "procid" in document))


def _event(log: str) -> tuple[str, int | None]:
    """Return the last event that tells of an end, with its number; of others the last one."""
    found = list(_EVENT.finditer(log))
    telling = [event for event in found if int(event[1]) in _TELLING] or found
    if not telling:
        return log, None
    last = telling[-1]
    after = next((event.start() for event in found if event.start() > last.start()), len(log))
    return log[last.start() : after], int(last[1])


def _status(document: Record) -> str | None:
    status = document.whole("JobStatus", "LastJobStatus")
    return {_REMOVED: "removed", _HELD: "held"}.get(status) if status is not None else None


def _read_codes(document: Record, said: str, event: int | None, facts: Facts) -> None:
    hold = document.whole("HoldReasonCode", "HoldReasonCodes")
    sub = document.whole("HoldReasonSubCode", "HoldReasonSubcode")
    vacate = document.whole("VacateReasonCode")
    printed = _CODE_SUB.fullmatch((text(document.get("CODE_SUB")) or "")[:40])
    if hold is None and printed:
        hold, sub = int(printed[1]), int(printed[2])
    found = _SAID_CODE.search(said)
    if found and hold is None and vacate is None:
        hold, sub = int(found[1]), int(found[2])
    if hold is not None and hold >= 1_000:
        hold, vacate = None, hold
    if hold is not None and event != 4:
        facts["condor.hold"] = hold
        if sub:
            facts["condor.errno"] = sub
        elif number := _ERRNO.search(said):
            facts["condor.errno"] = int(number[1])
    if vacate:
        facts["condor.vacate"] = vacate


def _read_end(document: Record, said: str, facts: Facts) -> None:
    """Read how the program ended, where it ended by itself or by a signal."""
    normal = _NORMAL.search(said)
    abnormal = _ABNORMAL.search(said)
    signal = document.whole("ExitSignal") if document.flag("ExitBySignal") else None
    code = None if document.flag("ExitBySignal") else document.whole("ExitCode", "ReturnValue")
    if abnormal is not None:
        signal = whole(abnormal[1] or abnormal[2])
    elif normal is not None:
        code = whole(normal[1] or normal[2])
    if signal:
        facts["signal"] = signal
    elif code:
        facts["exit_code"] = code


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job's ClassAd as ``condor_q -json`` and ``condor_history -json`` print it."""
    document = Record(record)
    if "clusterid" in document and "jobstatus" in document:
        return Evidence("htcondor", record)
    return None
