"""Events of the job's log, and jobs that were removed."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import ABSENT, PRESENT, Shorthand, like
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    UNKNOWN,
    Tier,
)
from failhook.classify.table import Table
from failhook.details import Started

_LOG: Final = (
    "https://htcondor.readthedocs.io/en/latest/codes-other-values/job-event-log-codes.html"
)
_STATUS: Final = (
    "https://htcondor.readthedocs.io/en/latest/codes-other-values/job-status-codes.html"
)


_event: Final = Table(
    prefix="condor",
    source=_LOG,
    next_step="Read the job's log around this event, and the StarterLog of the machine.",
).row


_ENDED: Final[dict[str, Shorthand]] = {"exit_code": ABSENT, "signal": ABSENT}
"""An evicted job may have ended by itself, and been requeued by its own policy."""

# fmt: off
EVENTS: Final = (
    _event(
        "removed.policy", {"condor.said": like(r"(?i)Periodic_?Remove|policy .{0,40}remove")},
        UNKNOWN, "PeriodicRemove", "A policy expression removed the job.", confidence=GUESS,
    ),
    _event(
        "removed.by-user", {"condor.said": like(r"(?i)via condor_rm|removed by (?:the )?user")},
        MANUAL, "JobRemoved", "Somebody removed the job.",
    ),
    _event("event.aborted", {"condor.event": 9}, MANUAL, "JobAborted", "Somebody removed the job.",
           confidence=LIKELY),
    _event(
        "event.bad-executable", {"condor.event": 2}, APPLICATION, "ExecutableError",
        "The job's program cannot be executed.", deterministic=True, started=Started.NO,
    ),
    _event(
        "said.no-program",
        {"condor.said": like(r"(?i)failed to (?:execute|create process)[^\n]{0,300}(?:exec format|"
                             r"no such file|permission denied|errno=?\s?(?:2|8|13)\b)")},
        APPLICATION, "FailedToCreateProcess", "The program of the job cannot be executed.",
        deterministic=True, confidence=LIKELY, started=Started.NO,
    ),
    _event(
        "said.no-file",
        {"condor.said": like(r"(?i)(?:failed to (?:open|create)|cannot (?:open|access))"
                             r"[^\n]{0,300}(?:no such file|permission denied|"
                             r"errno=?\s?(?:2|13)\b)")},
        APPLICATION, "SpecError", "A file that the job names does not exist or may not be used.",
        deterministic=True, confidence=LIKELY,
    ),
    _event(
        "event.evicted", {"condor.event": 4, **_ENDED}, INFRA, "Evicted",
        "The job was taken off its machine.", deterministic=False,
    ),
    _event(
        "event.shadow-exception", {"condor.event": 7, **_ENDED}, INFRA, "ShadowException",
        "The shadow, which watches over the job, failed.", confidence=LIKELY,
    ),
    _event(
        "event.remote-error", {"condor.event": 21, **_ENDED}, INFRA, "StarterError",
        "The starter on the machine failed.", confidence=LIKELY,
    ),
    _event(
        "event.disconnected", {"condor.event": 22, **_ENDED}, INFRA, "ConnectionLost",
        "Shadow and starter lost contact.", confidence=LIKELY, deterministic=False,
    ),
    _event(
        "event.reconnect-failed", {"condor.event": 24, **_ENDED}, INFRA, "ReconnectFailed",
        "The machine was lost, and stayed so.", deterministic=False,
    ),
    _event(
        "event.grid-down", {"condor.event": 26, **_ENDED}, INFRA, "GridResourceDown",
        "The grid resource is not there.", deterministic=False,
    ),
    _event(
        "status.removed", {"condor.status": "removed", **_ENDED}, MANUAL, "JobRemoved",
        "The job was removed.", source=_STATUS, tier=Tier.MISMATCH, confidence=LIKELY,
    ),
    _event(
        "status.held", {"condor.status": "held", **_ENDED}, UNKNOWN, "Held",
        "The job is held, and the reason is not known.", source=_STATUS, tier=Tier.NOTHING,
        confidence=GUESS,
    ),
    _event(
        "event.other", {"condor.event": PRESENT, **_ENDED}, UNKNOWN, "JobEvent",
        "This event does not tell why the job ended.", tier=Tier.NOTHING, confidence=GUESS,
    ),
)
# fmt: on
