"""LSF: termination reasons as bjobs, bhist, bacct and the job report print them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT
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

_TERMS: Final = (
    "https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic="
    "bhist-termination-reasons-displayed-by-bacct-bhist-bjobs"
)
_STATES: Final = "https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=execution-job-states"
_RECORDS: Final = (
    *("bjobs", "bjobs_stdout", "bhist", "bhist_stdout", "bacct", "bacct_stdout", "EXIT_REASON"),
    *("exit_reason", "exitInfo", "TERM"),
)
_REPORT: Final = ("stdout", "stdout_tail", "log_tail", "log", "mail")
_TERM: Final = re.compile(r"\bTERM_[A-Z]{2,20}+(?:_[A-Z]{2,20}+){0,3}+\b")
_TERM_LINE: Final = re.compile(r"(?m)^[ \t]{0,8}(TERM_[A-Z_]{2,60})(?:: [^\n]{1,200}|[ \t]{0,8})$")
_CODE: Final = re.compile(r"(?m)^[ \t]{0,8}Exited with exit code (\d{1,3})\.")
_SAID_CODE: Final = re.compile(r"\bExited with exit code (\d{1,3})\.")
_SIGNAL: Final = re.compile(r"(?m)^[ \t]{0,8}Exited with signal termination: (\d{1,3})\b")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the termination reason; a report is read only where LSF itself writes."""
    document = Record(evidence.facts)
    job = document.record("bjobs", "job") or document
    records = joined(
        *document.beginning("bjobs", "bhist", "bacct"),
        *(document.get(name) for name in ("EXIT_REASON", "exitInfo", "TERM")),
        *(job.get(name) for name in ("EXIT_REASON", "TERM_REASON", "exitReason", "comment")),
    )
    report = joined(*(document.get(name) for name in _REPORT))
    if evidence.system != "lsf" and not records and "TERM_" not in report:
        return
    recorded = _TERM.search(records)
    found = recorded or _TERM_LINE.search(_summary(report))
    if found is not None:
        facts["lsf.term"] = found[found.lastindex or 0].rstrip("_")
        facts["lsf.sure"] = "confirmed" if recorded else "likely"
        if not recorded:
            facts.quote("lsf.term")  # the job could have written the same line
    facts.read("lsf.state", job.text("STAT", "stat", "status"))
    code = _SAID_CODE.search(records)
    signal = None
    if evidence.system == "lsf" or "exit_code" not in facts:
        code = _CODE.search(_summary(report)) or code
        signal = _SIGNAL.search(_summary(report))
    number = job.whole("EXIT_CODE", "exit_code", "exit_status", "exitStatus")
    if signal is not None:
        facts["signal"] = int(signal[1])
    elif code is not None or number:
        facts["exit_code"] = number or int(code[1] if code else 0)


def _summary(report: str) -> str:
    """Return LSF's part of a job report: what the job printed follows it, or precedes it."""
    head, follows, _ = report.partition("The output (if any) follows:")
    if follows:
        return head
    _, sender, summary = report.rpartition("Sender: LSF System")
    return summary if sender else report


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job as ``bjobs -json`` prints it."""
    for job in Record(record).records("RECORDS")[:1]:
        if "jobid" in job and "stat" in job:
            return Evidence("lsf", {"bjobs": dict(record)["RECORDS"][0]})
    return None


def _term(
    term: str,
    kind: Kind,
    because: str,
    *,
    deterministic: bool | None = None,
    confidence: Confidence = CONFIRMED,
    started: Started | None = None,
) -> Rule:
    return Rule(
        id=f"lsf.{term.lower().replace('_', '-')}",
        tier=Tier.DISRUPTION,
        when={"lsf.term": term},
        kind=kind,
        reason=term,
        deterministic=False if kind is INFRA else deterministic,
        confidence=Take("lsf.sure") if confidence is CONFIRMED else confidence,
        started=started,
        hint=Hint.MORE_MEMORY if term in ("TERM_MEMLIMIT", "TERM_SWAP") else None,
        because=because,
        source=_TERMS,
        next_step="Read the job's history: bhist -l JOBID.",
    )


# fmt: off
RULES: Final = (
    _term("TERM_PREEMPT", INFRA, "A job of higher priority took the slots."),
    _term("TERM_WINDOW", INFRA, "The run window of the queue closed."),
    _term("TERM_LOAD", INFRA, "The load of the host passed its threshold."),
    _term("TERM_RMS", INFRA, "The resource manager under LSF ended the job."),
    _term("TERM_ZOMBIE", INFRA, "LSF lost the job: its host did not answer."),
    _term("TERM_RC", INFRA, "A host of the resource connector was taken back."),
    _term("TERM_RC_RECLAIM", INFRA, "A host of the resource connector was taken back."),
    _term("TERM_REQUEUE_RC", INFRA, "A host of the resource connector was taken back."),
    _term("TERM_CSM_ALLOC", INFRA, "The cluster's system manager did not give the nodes."),
    _term("TERM_KUBE", INFRA, "The Kubernetes under LSF ended the job.", confidence=LIKELY),
    _term("TERM_MC_RECALL", INFRA, "The job was recalled to the cluster that submitted it."),
    _term("TERM_REMOVE_HUNG_JOB", INFRA, "The job hung on a host that does not answer.",
          confidence=LIKELY),
    _term("TERM_RUNLIMIT", TIMEOUT, "The job reached its run time limit."),
    _term("TERM_CPULIMIT", TIMEOUT, "The job reached its limit of CPU time."),
    _term("TERM_DEADLINE", TIMEOUT, "The deadline of the job or queue passed."),
    _term("TERM_MEMLIMIT", APPLICATION, "The job passed its memory limit."),
    _term("TERM_SWAP", APPLICATION, "The job passed its swap limit."),
    _term("TERM_THREADLIMIT", APPLICATION, "The job passed its limit of threads."),
    _term("TERM_PROCESSLIMIT", APPLICATION, "The job passed its limit of processes."),
    *(
        _term(term, MANUAL, "The owner or an administrator ended the job.")
        for term in (
            "TERM_OWNER", "TERM_FORCE_OWNER", "TERM_ADMIN", "TERM_FORCE_ADMIN",
            "TERM_REQUEUE_OWNER", "TERM_REQUEUE_ADMIN", "TERM_BUCKET_KILL",
        )
    ),
    _term("TERM_CWD_NOTEXIST", APPLICATION, "The working directory is not there on the host.",
          confidence=LIKELY, started=Started.NO),
    _term("TERM_PRE_EXEC_FAIL", UNKNOWN, "The command before the job failed.", confidence=GUESS,
          started=Started.NO),
    _term("TERM_DATA", UNKNOWN, "The job's data could not be staged.", confidence=GUESS,
          started=Started.NO),
    _term("TERM_ORPHAN_SYSTEM", APPLICATION, "A job that this one depended on is no more.",
          confidence=LIKELY, started=Started.NO),
    _term("TERM_CHKPNT", MANUAL, "The job was ended after a checkpoint that was asked for.",
          confidence=LIKELY),
    _term("TERM_EXTERNAL_SIGNAL", UNKNOWN, "A signal from outside LSF ended the job.",
          confidence=GUESS),
    *(
        _term(term, UNKNOWN, "LSF does not know why the job ended.", confidence=GUESS)
        for term in ("TERM_UNKNOWN", "TERM_OTHER", "TERM_SLURM")
    ),
    Rule(
        id="lsf.state.lost",
        tier=Tier.DISRUPTION,
        when={"lsf.state": ("ZOMBI", "UNKWN")},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        because="The host of the job does not answer.",
        source=_STATES,
        next_step="Look at sbatchd on the host: bhosts -l.",
    ),
    Rule(
        id="lsf.term.other",
        tier=Tier.NOTHING,
        when={"lsf.term": PRESENT},
        kind=UNKNOWN,
        reason=Take("lsf.term"),
        confidence=GUESS,
        because="This termination reason does not tell whose fault it was.",
        source=_TERMS,
        next_step="Read the job's history: bhist -l JOBID.",
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="hpc.lsf",
    systems=frozenset({"lsf"}),
    fields=frozenset({*_RECORDS, *_REPORT}),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
