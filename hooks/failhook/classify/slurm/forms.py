"""The forms in which Slurm tells of a job: sacct tables, scontrol and seff text, squeue, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from failhook.classify.facts import window
from failhook.classify.records import MAX_ITEMS, Record, records, texts

STATES: Final = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PENDING", "PREEMPTED", "RUNNING", "SUSPENDED", "TIMEOUT"),
    *("COMPLETING", "CONFIGURING", "LAUNCH_FAILED", "RECONFIG_FAIL", "REQUEUED", "REQUEUE_FED"),
    *("REQUEUE_HOLD", "RESIZING", "RESV_DEL_HOLD", "REVOKED", "SIGNALING", "SPECIAL_EXIT"),
    *("STAGE_OUT", "STOPPED"),
)
"""Base states and flags, as https://slurm.schedmd.com/job_state_codes.html lists them."""

UNFINISHED: Final = frozenset(
    {
        *("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "COMPLETING", "CONFIGURING", "RESIZING"),
        *("SIGNALING", "STAGE_OUT", "STOPPED"),
    }
)
"""States that are no end, or no failure."""

_SHORT: Final = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
}
"""What squeue prints in its column ST."""

_WORD: Final = re.compile(r"\s{0,8}([A-Za-z_]{1,20})(\+?)")
_BY: Final = re.compile(r"(?i)\bby (\w{1,64})")
_CODES: Final = re.compile(r"\s{0,8}(\d{1,5}):(\d{1,5})\s{0,8}")
_SEFF_CODE: Final = re.compile(r"\(exit code (\d{1,5})\)")
_RAISED: Final = re.compile(r"RaisedSignal:(\d{1,4})")
_TOKEN: Final = re.compile(r"[:,(]")
_ZERO: Final = re.compile(r"[0:.\-]{1,20}")
_OWNED: Final = re.compile(
    r"(?m)^[ \t]{1,40}((?:JobState|Requeue|RunTime|NodeList|BatchHost|DerivedExitCode)=.{0,2000})$"
)
_VALUE: Final = re.compile(
    r"(?<!\S)(JobState|Reason|ExitCode|DerivedExitCode|RunTime|NodeList|Restarts)=([^\s=]{1,200})(?=\s|$)"
)
_SEFF_STATE: Final = re.compile(r"(?m)^State: ([A-Z_]{1,20}[^\n]{0,40})")
_RULE: Final = re.compile(r"-{1,200}")


@dataclass(frozen=True, slots=True)
class Row:
    """What one row or record says of a job or of one of its steps."""

    job: str = ""
    states: tuple[str, ...] = ()
    cancelled_by: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    node: str | None = None
    never_ran: bool = False

    @property
    def step(self) -> bool:
        """Whether it is a step: ``123.batch``, ``123.0``."""
        return "." in self.job

    @property
    def ended(self) -> bool:
        """Whether it tells of an end other than success."""
        return not UNFINISHED.issuperset(self.states)


def read_rows(value: object) -> list[Row]:
    """Return the rows that a field holds, in whichever form, each job's steps after it."""
    found: list[Row] = []
    for record in _read_any(value):
        row = read_row(record)
        found.append(row)
        for number, step in enumerate(record.records("steps")):
            found.append(replace(read_row(step), job=f"{row.job}.{number}"))
    return found


def read_row(record: Record) -> Row:
    """Read a row of any form; names differ between commands, versions and output formats."""
    nested = record.record("state")
    raw = nested.get("current") if nested else record.get("State", "JobState", "ST", "status")
    said = texts(raw)[:8]
    exit_code, signal = _codes(record.get("ExitCode", "exit_code"))
    if exit_code is None and said and (found := _SEFF_CODE.search(said[0][:80])):
        exit_code = int(found[1])
    by = _BY.search(said[0][:100]) if said else None
    elapsed = record.text("Elapsed", "RunTime")
    reason = nested.text("reason") or record.text("Reason", "StateReason")
    if reason is None and (shown := record.text("NODELIST(REASON)")) and shown.startswith("("):
        reason = shown.strip("()")
    if signal is None and reason and (raised := _RAISED.match(reason)):
        signal = int(raised[1])
    return Row(
        job=_job(record),
        states=tuple(state for word in said if (state := read_state(word))),
        cancelled_by=by[1] if by else None,
        exit_code=exit_code,
        signal=signal,
        reason=None if reason is None else _TOKEN.split(reason, maxsplit=1)[0].strip(),
        node=record.text("NodeList", "nodes", "BatchHost", "failed_node"),
        never_ran=elapsed is not None and _ZERO.fullmatch(elapsed) is not None,
    )


def read_state(word: str) -> str:
    """Return a state's full name: ``CANCELLED by 1000``, ``OUT_OF_ME+`` and ``TO`` have one too."""
    found = _WORD.match(word[:60])
    if found is None:
        return ""
    name = found[1].upper()
    if found[2]:
        return next((state for state in STATES if state.startswith(name)), "")
    name = _SHORT.get(name, name)
    return name if name in STATES else ""


def read_table(source: str) -> Iterator[Record]:
    """Read what sacct or squeue print: columns between bars, or columns over dashes."""
    lines = [line for line in window(source).splitlines()[: MAX_ITEMS + 2] if line.strip()]
    if not lines:
        return
    if "|" in lines[0]:
        names = lines[0].split("|")
        for line in lines[1:]:
            yield Record(dict(zip(names, line.split("|"), strict=False)))
    elif len(lines) > 1 and set(lines[1]) <= {"-", " "}:
        spans = [found.span() for found in _RULE.finditer(lines[1])]
        names = [lines[0][start:end].strip() for start, end in spans]
        for line in lines[2:]:
            values = [line[start:end].strip() for start, end in spans]
            yield Record({name: value for name, value in zip(names, values, strict=True) if value})


def read_text(source: str) -> Record:
    """Read what ``scontrol show job`` or seff print; the user's own values are left out."""
    source = window(source)
    seff = _SEFF_STATE.search(source)
    if seff is not None:
        return Record({"State": seff[1]})
    # Names and paths come from the user, and may look like a field; so the lines that begin with a
    # field of Slurm's count, where there are such.
    owned = "\n".join(found[1] for found in _OWNED.finditer(source)) or source
    return Record({found[1]: found[2] for found in _VALUE.finditer(owned)})


def known(record: Record) -> bool:
    """Return whether an object is a job as Slurm's own JSON has it."""
    return (
        "job_id" in record
        and "exit_code" in record
        and ("job_state" in record or bool(record.record("state")))
    )


def _read_any(value: object) -> tuple[Record, ...]:
    if isinstance(value, str):
        shown = read_text(value)
        return tuple(read_table(value)) or ((shown,) if shown else ())
    rows = records(value)
    jobs = rows[0].records("jobs") if len(rows) == 1 else ()
    return jobs or rows


def _job(record: Record) -> str:
    name = record.text("JobID", "JOBID", "job_id")
    if name is not None:
        return name[:60]
    number = record.whole("JobID", "job_id")
    return "" if number is None else str(number)


def _codes(value: object) -> tuple[int | None, int | None]:
    """Read ``code:signal``, or the same as an object."""
    if isinstance(value, str):
        found = _CODES.fullmatch(value[:40])
        return (int(found[1]), int(found[2])) if found else (None, None)
    if isinstance(value, int) and not isinstance(value, bool):
        return value, None
    record = Record(value)
    signal = record.record("signal")
    return (
        record.whole("return_code") or record.record("return_code").whole("number"),
        signal.whole("signal_id", "id") or signal.record("id").whole("number"),
    )
