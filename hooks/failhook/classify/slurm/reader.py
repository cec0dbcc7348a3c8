"""Reads the record of a Slurm job, and what Slurm's daemons wrote into its output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record, records
from failhook.classify.slurm.forms import Row, known, read_row, read_rows
from failhook.evidence import Evidence
from failhook.text import cut

SYSTEMS: Final = frozenset({"slurm", "submitit"})
FORMS: Final = (
    *("sacct", "sacct_stdout", "sacct_json", "sacct_X", "sacct_all", "scontrol", "scontrol_stdout"),
    *("squeue", "squeue_stdout", "seff", "seff_stdout"),
)
COMMANDS: Final = ("sacct", "scontrol", "squeue", "seff")
OWN: Final = ("JobState", "DerivedExitCode", "derived_exit_code", "state_reason")
"""Fields that hold, or are part of, a Slurm job's record."""

_LINE: Final = re.compile(
    r"[ \t]{0,8}(?:\d{1,7}: )?(?:\[\d{4}-[^\]\n]{1,40}\] (?:\[[^\]\n]{1,60}\] )?error: |"
    r"(?:(?:slurmstepd|slurmd|srun|sbatch|salloc|squeue|sacct|scontrol|scancel)(?:-[\w.-]{1,80}|"
    r"\[[^\]\n]{1,80}\])?|slurm_load_jobs? error): (?:(?:error|fatal|warning): )?|"
    r"(?=Batch job submission failed: |Unable to allocate resources: ))(.++)"
)
"""How a line of Slurm's begins: srun's label, the time of a daemon's log, its name, a level."""

_BANNER: Final = re.compile(r"\*\*\* ((?:JOB|STEP|StepId)[^*\n]{1,300}) \*\*\*")
_LAST: Final = 400
_MANY: Final = 40


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the job's own row, its steps, and the lines of slurmstepd, srun and sbatch."""
    document = evidence.facts
    rows = [row for name in FORMS if name in document for row in read_rows(document[name])]
    if not rows and (evidence.system in SYSTEMS or any(name in document for name in OWN)):
        told = Record(document)
        rows = [row for value in told.beginning(*COMMANDS) for row in read_rows(value)]
        rows = rows or [read_row(told.holder("State", "JobState", "ST"))]
    if rows:
        _read_job(rows, facts)
    log = facts.get("log")
    if isinstance(log, str):
        _read_lines(log, facts)


def _read_job(rows: list[Row], facts: Facts) -> None:
    row = _deciding([row for row in rows if not row.step])
    steps = [
        state
        for step in rows
        if step.step and step.ended and (row is None or step.job.startswith(f"{row.job}."))
        for state in step.states
    ]
    facts.read_texts("slurm.step", steps)
    reason = next((row.reason for row in rows if row.reason and row.reason != "None"), None)
    facts.read("slurm.reason", reason)
    if row is None:
        return
    facts.read_texts("slurm.state", row.states)
    facts.read("slurm.cancelled_by", row.cancelled_by)
    if row.never_ran:
        facts["slurm.never_ran"] = True
    if row.node is not None and not row.node.startswith(("None", "(")):
        facts.read("node", row.node)
    if not row.states or "FAILED" in row.states:
        if row.signal:
            facts["signal"] = row.signal
        elif row.exit_code:
            facts["exit_code"] = row.exit_code


def _deciding(rows: list[Row]) -> Row | None:
    """Return the row that tells how the attempt ended.

    A job that ran again has a row for each run; the last one that failed is what is asked about,
    whatever a later run did. Of an array it is the first task that failed.
    """
    ended = [row for row in rows if row.ended]
    if ended:
        return [row for row in ended if row.job in ("", ended[0].job)][-1]
    return next((row for row in rows if row.states), rows[0] if rows else None)


def _read_lines(log: str, facts: Facts) -> None:
    """Read the lines that begin as Slurm's own do; the job may have written such lines too."""
    banners: list[str] = []
    spoken: list[str] = []
    for line in log.splitlines()[-_LAST:]:
        found = _LINE.match(line)
        if found is None:
            continue
        banner = _BANNER.match(found[1])
        if banner is not None:
            banners.append(_said(banner[1]))
        else:
            spoken.append(cut(found[1], 300))
    facts.read_texts("slurm.banner", banners[-_MANY:])
    facts.read_texts("slurm.said", spoken[-_MANY:])
    facts.quote("slurm.banner", "slurm.said")


def _said(banner: str) -> str:
    """Return what slurmstepd gives as the reason: ``TIME LIMIT``, ``SIGNAL TERMINATED``, ..."""
    _, found, reason = banner.upper().partition(" DUE TO ")
    if found:
        return reason.partition(",")[0].strip()
    return "FAILED" if " FAILED " in banner else "CANCELLED"


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know ``sacct --json``, ``scontrol show job --json``, and one job of either."""
    jobs = Record(record).records("jobs") or records(record)
    return Evidence("slurm", record) if jobs and known(jobs[0]) else None


def text_shape(source: str) -> Evidence | None:
    """Know what sacct and ``scontrol show job`` print."""
    head = source[:4_000]
    if "JobId=" in head and "JobState=" in head:
        return Evidence("slurm", {"scontrol": source})
    first = head.lstrip("\n").partition("\n")[0].replace("|", " ").split()
    if "State" in first and ("JobID" in first or "ExitCode" in first):
        return Evidence("slurm", {"sacct": source})
    return None
