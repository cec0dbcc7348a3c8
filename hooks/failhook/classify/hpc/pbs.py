"""PBS Professional, OpenPBS and TORQUE: Exit_status, and what pbs_mom writes when it kills."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.conditions import PRESENT, Shorthand, like
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

_JOB_H: Final = "https://github.com/openpbs/openpbs/blob/master/src/include/job.h"
_MOM: Final = "https://github.com/openpbs/openpbs/blob/master/src/resmom/mom_main.c"
_TORQUE: Final = "https://docs.adaptivecomputing.com/torque/3-0-5/2.7jobexitstatus.php"
_SYSTEMS: Final = frozenset({"pbs", "pbspro", "openpbs", "torque", "pbs-torque"})
_FIELDS: Final = ("Exit_status", "exit_status", "job_state", "qstat", "tracejob", "Jobs")
_KILLED: Final = re.compile(r"=>> PBS: job killed: ([^\n]++)")
_TIME: Final = re.compile(r"(\d{1,5}):(\d{2}):(\d{2})")
_WITH_SIGNAL: Final = range(257, 321)
_SENT_BY_PBS: Final = (9, 15)


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the exit status, in the ways that PBS uses the one number."""
    document = Record(evidence.facts)
    job = _job(document)
    named = evidence.system in _SYSTEMS
    if not named and not (("Exit_status" in evidence.facts or job is not document) and job):
        return
    log = facts.get("log")
    killed = _KILLED.search(log) if isinstance(log, str) else None
    said = joined(job.texts("comment"), killed[1] if killed else None)
    facts.read("pbs.said", said or None, "comment")
    if _over_walltime(job):
        facts["pbs.over_walltime"] = True
    code = job.whole("Exit_status", "exit_code")
    facts.pop("exit_code", None)
    if code is None:
        return
    if code < 0:
        facts.pop("signal", None)
        facts["pbs.torque" if evidence.system == "torque" else "pbs.exit"] = code
    elif code in _WITH_SIGNAL:
        number = code - 256
        facts["pbs.signal" if number in _SENT_BY_PBS else "signal"] = number
    elif code:
        facts["exit_code"] = code


def _job(document: Record) -> Record:
    jobs = document.record("Jobs")
    return (jobs or document).holder("Exit_status", "job_state")


def _over_walltime(job: Record) -> bool:
    """Return whether the job had used up the wall time that it asked for."""
    used = _seconds(job.record("resources_used").text("walltime"))
    asked = _seconds(job.record("Resource_List").text("walltime"))
    return used is not None and asked is not None and used >= asked > 0


def _seconds(time: str | None) -> int | None:
    found = _TIME.fullmatch(time or "")
    return int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]) if found else None


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know a job as ``qstat -x -f -F json`` prints it."""
    job = _job(Record(record))
    if "Exit_status" in job and ("job_state" in job or "Resource_List" in job):
        return Evidence("pbs", record)
    return None


def _code(
    path: str,
    code: int,
    name: str,
    kind: Kind,
    because: str,
    *,
    confidence: Confidence = CONFIRMED,
    deterministic: bool | None = None,
    started: Started | None = None,
) -> Rule:
    return Rule(
        id=f"{path}{code}",
        tier=Tier.DISRUPTION,
        when={path: code},
        kind=kind,
        reason=name,
        deterministic=False if kind is INFRA else deterministic,
        confidence=confidence,
        started=started,
        hint=Hint.MORE_MEMORY if name.endswith("MEM") else None,
        because=because,
        source=_TORQUE if path == "pbs.torque" else _JOB_H,
        next_step="Read the job's history: tracejob, and the log of pbs_mom on the node.",
    )


def _said(name: str, pattern: str, kind: Kind, reason: str, because: str) -> Rule:
    when: dict[str, Shorthand] = {"pbs.said": like(pattern, ignore_case=True)}
    return Rule(
        id=f"pbs.said.{name}",
        tier=Tier.DISRUPTION,
        when=when,
        kind=kind,
        reason=reason,
        confidence=LIKELY,
        deterministic=False if kind is INFRA else None,
        because=because,
        source=_MOM,
        next_step="Read the job's history: tracejob, and the log of pbs_mom on the node.",
    )


# fmt: off
RULES: Final = (
    _code("pbs.exit", -1, "JOB_EXEC_FAIL1", INFRA, "The node failed to start it, before files.",
          confidence=LIKELY, started=Started.NO),
    _code("pbs.exit", -2, "JOB_EXEC_FAIL2", INFRA, "The node failed to start it, after files.",
          confidence=LIKELY, started=Started.NO),
    _code("pbs.exit", -3, "JOB_EXEC_RETRY", INFRA, "The node failed to start it; try again.",
          started=Started.NO),
    _code("pbs.exit", -4, "JOB_EXEC_INITABT", INFRA, "pbs_mom was restarted under the job."),
    _code("pbs.exit", -5, "JOB_EXEC_INITRST", INFRA, "pbs_mom was restarted under the job."),
    _code("pbs.exit", -6, "JOB_EXEC_INITRMG", INFRA, "pbs_mom was restarted under the job."),
    _code("pbs.exit", -7, "JOB_EXEC_BADRESRT", INFRA, "The restart from a checkpoint failed.",
          confidence=LIKELY),
    _code("pbs.exit", -10, "JOB_EXEC_FAILUID", INFRA, "The user or group is not known on the node.",
          confidence=LIKELY, started=Started.NO),
    _code("pbs.exit", -11, "JOB_EXEC_RERUN", UNKNOWN, "The job is to run again.",
          confidence=GUESS),
    _code("pbs.exit", -12, "JOB_EXEC_CHKP", UNKNOWN, "The job was checkpointed and ended.",
          confidence=GUESS),
    _code("pbs.exit", -13, "JOB_EXEC_FAIL_PASSWORD", APPLICATION, "The user's password is wrong.",
          deterministic=True, started=Started.NO),
    _code("pbs.exit", -14, "JOB_EXEC_RERUN_SIS_FAIL", INFRA, "A sister node failed."),
    _code("pbs.exit", -15, "JOB_EXEC_QUERST", UNKNOWN, "The job restarts from a checkpoint.",
          confidence=GUESS),
    _code("pbs.exit", -16, "JOB_EXEC_FAILHOOK_RERUN", INFRA, "A hook of the site refused it now.",
          confidence=LIKELY, started=Started.NO),
    _code("pbs.exit", -17, "JOB_EXEC_FAILHOOK_DELETE", APPLICATION, "A hook refused the job.",
          confidence=LIKELY, started=Started.NO),
    _code("pbs.exit", -18, "JOB_EXEC_HOOK_RERUN", UNKNOWN, "A hook asked to run it again.",
          confidence=GUESS),
    _code("pbs.exit", -19, "JOB_EXEC_HOOK_DELETE", UNKNOWN, "A hook asked to delete it.",
          confidence=GUESS),
    _code("pbs.exit", -20, "JOB_EXEC_RERUN_MS_FAIL", INFRA, "The first node was lost."),
    _code("pbs.exit", -21, "JOB_EXEC_FAIL_SECURITY", INFRA, "A directory of PBS is not safe."),
    _code("pbs.exit", -22, "JOB_EXEC_HOOKERROR", INFRA, "A hook of the site failed.",
          started=Started.NO),
    _code("pbs.exit", -23, "JOB_EXEC_FAIL_KRB5", APPLICATION, "No Kerberos credentials were given.",
          deterministic=True, started=Started.NO),
    _code("pbs.exit", -24, "JOB_EXEC_KILL_NCPUS_BURST", APPLICATION, "It used too many CPUs."),
    _code("pbs.exit", -25, "JOB_EXEC_KILL_NCPUS_SUM", APPLICATION, "It used too many CPUs."),
    _code("pbs.exit", -26, "JOB_EXEC_KILL_VMEM", APPLICATION, "It passed its virtual memory."),
    _code("pbs.exit", -27, "JOB_EXEC_KILL_MEM", APPLICATION, "It passed its memory."),
    _code("pbs.exit", -28, "JOB_EXEC_KILL_CPUT", TIMEOUT, "It passed its CPU time."),
    _code("pbs.exit", -29, "JOB_EXEC_KILL_WALLTIME", TIMEOUT, "It passed its wall time."),
    _code("pbs.exit", -30, "JOB_EXEC_JOINJOB", INFRA, "The nodes of the job did not join.",
          started=Started.NO),
    _code("pbs.torque", -8, "JOB_EXEC_CMDFAIL", APPLICATION, "The command could not be executed.",
          deterministic=True, started=Started.NO),
    _code("pbs.torque", -9, "JOB_EXEC_STDOUTFAIL", APPLICATION, "The output file cannot be opened.",
          deterministic=True, started=Started.NO),
    _code("pbs.torque", -10, "JOB_EXEC_OVERLIMIT_MEM", APPLICATION, "It passed its memory."),
    _code("pbs.torque", -11, "JOB_EXEC_OVERLIMIT_WT", TIMEOUT, "It passed its wall time."),
    _code("pbs.torque", -12, "JOB_EXEC_OVERLIMIT_CPUT", TIMEOUT, "It passed its CPU time."),
    *(
        _code("pbs.torque", code, name, INFRA, "pbs_mom failed around the job.", confidence=LIKELY)
        for code, name in (
            (-1, "JOB_EXEC_FAIL1"), (-2, "JOB_EXEC_FAIL2"), (-3, "JOB_EXEC_RETRY"),
            (-4, "JOB_EXEC_INITABT"), (-5, "JOB_EXEC_INITRST"), (-6, "JOB_EXEC_INITRMG"),
            (-7, "JOB_EXEC_BADRESRT"),
        )
    ),
    _said("walltime", r"wall ?time.{0,40}exceed|exceed.{0,40}wall ?(?:clock|time)", TIMEOUT,
          "JOB_EXEC_KILL_WALLTIME", "pbs_mom ended the job at its wall time."),
    _said("cput", r"cput.{0,40}exceed|exceed.{0,30}cput", TIMEOUT, "JOB_EXEC_KILL_CPUT",
          "pbs_mom ended the job at its CPU time."),
    _said("vmem", r"vmem.{0,40}exceed|exceed.{0,30}vmem", APPLICATION, "JOB_EXEC_KILL_VMEM",
          "pbs_mom ended the job at its limit of virtual memory."),
    _said("mem", r"\bmem\b.{0,40}exceed|exceed.{0,30}\bmem\b|memory.{0,40}exceed", APPLICATION,
          "JOB_EXEC_KILL_MEM", "pbs_mom ended the job at its memory limit."),
    _said("ncpus", r"ncpus.{0,40}exceed", APPLICATION, "JOB_EXEC_KILL_NCPUS_SUM",
          "pbs_mom ended the job because it used more CPUs than it asked for."),
    _said("deleted", r"deleted at request of|terminated by .{0,40}qdel|job deleted", MANUAL,
          "Cancelled", "Somebody deleted the job."),
    _said("node", r"node (?:failed|fail requeue|down|lost)|unable to (?:contact|reach) .{0,40}mom",
          INFRA, "NodeLost", "The node of the job failed."),
    _said("held", r"too many failed attempts to", UNKNOWN, "Held",
          "PBS gave up starting the job; the attempts before tell why."),
    Rule(
        id="pbs.walltime-used-up",
        tier=Tier.DISRUPTION,
        when={"pbs.signal": PRESENT, "pbs.over_walltime": True},
        kind=TIMEOUT,
        reason="JOB_EXEC_KILL_WALLTIME",
        because="PBS ended the job by a signal, and its wall time was used up.",
        source=_TORQUE,
        next_step="Ask for more walltime, or write checkpoints.",
    ),
    Rule(
        id="pbs.signal",
        tier=Tier.EXIT,
        when={"pbs.signal": PRESENT},
        kind=UNKNOWN,
        reason="KilledBySignal",
        confidence=GUESS,
        take={"signal": "pbs.signal"},
        because="PBS ends a job by this signal at a limit, for qdel, and for preemption alike.",
        source=_TORQUE,
        next_step="Read the job's history: tracejob tells who ended it.",
    ),
    Rule(
        id="pbs.exit.other",
        tier=Tier.NOTHING,
        when={"pbs.exit": PRESENT},
        kind=UNKNOWN,
        reason=Take("pbs.exit"),
        confidence=GUESS,
        because="This negative exit status is PBS's own, and its meaning is not known.",
        source=_JOB_H,
        next_step="Look the number up in job.h of the PBS in use.",
    ),
)
# fmt: on

SOURCE: Final = Source(
    name="hpc.pbs",
    systems=_SYSTEMS,
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
    shapes=(shape,),
)
