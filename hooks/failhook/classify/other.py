"""Batch and CI systems without a table of their own: words that all of them use for a state."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT
from failhook.classify.facts import Facts
from failhook.classify.python.traceback_text import read_error
from failhook.classify.records import Record, fold, joined
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    LIKELY,
    MANUAL,
    TIMEOUT,
    UNKNOWN,
    Take,
    Tier,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Hint, Started
from failhook.evidence import Evidence

_SYSTEMS: Final = frozenset(
    {
        *("ci-other", "ci", "other-batch", "batch", "hail-batch", "hail", "jenkins", "buildkite"),
        *("circleci", "travis", "travis-ci", "tekton", "cromwell", "bacalhau", "kubeflow", "other"),
        *("dataproc", "glue", "emr", "dataflow", "cloud-run", "vertex-ai", "bitbucket"),
    }
)
_FIELDS: Final = ("exitCode", "exit_status", "returncode", "signal_reason")
_STATES: Final = ("status", "state", "result", "outcome", "phase", "build_result")

_JENKINS: Final = "https://www.jenkins.io/doc/book/using/aborting-a-build/"
_BUILDKITE: Final = "https://buildkite.com/docs/pipelines/configure/defining-steps#job-states"
_CIRCLECI: Final = "https://support.circleci.com/hc/en-us/articles/360007188574"
_TRAVIS: Final = "https://docs.travis-ci.com/user/common-build-problems/"
_OURS: Final = "docs/concepts.md"


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the state, the exit code, and the platform's own message."""
    document = Record(evidence.facts)
    code = document.whole("exitCode", "exit_code", "exit_status", "returncode", "return_code")
    if code and code > 0 and "exit_code" not in facts and "signal" not in facts:
        facts["exit_code"] = code
    if evidence.system not in _SYSTEMS:
        return
    state = document.text(*_STATES) or document.record("status").text("state", "phase")
    facts.read("other.state", state)
    facts.read("other.word", fold(state) if state else None)
    said = joined(*(document.get(name) for name in ("message", "error", "reason", "description")))
    if read_error(said).type == "builtins.str":  # else it quotes what the job itself raised
        facts.read("other.said", said or None)
    facts.read("other.signal_reason", document.text("signal_reason"))
    if code == -1:
        facts["other.no_exit_code"] = True


_rule: Final = Table(
    prefix="other", source=_OURS, said="other.said", ignore_case=True, confidence=LIKELY
).row


# fmt: off
RULES: Final = (
    _rule("cancelled", {"other.word": ("cancelled", "canceled", "aborted", "cancelling",
                                       "canceling", "usercancelled", "usercanceled", "revoked")},
          MANUAL, "Cancelled", "The platform's state says that the job was cancelled."),
    _rule("timed-out", {"other.word": ("timedout", "timeout", "timelimit", "timelimitexceeded",
                                       "deadlineexceeded", "walltimeexceeded")},
          TIMEOUT, "ExecutionTimeout", "The platform's state says that the job ran out of time."),
    _rule("out-of-memory",
          {"other.word": ("oom", "oomkilled", "outofmemory", "memorylimitexceeded")},
          APPLICATION, "OutOfMemory", "The platform's state says that memory ran out.",
          hint=Hint.MORE_MEMORY),
    _rule("lost", {"other.word": ("preempted", "evicted", "nodefail", "nodefailed", "nodelost",
                                  "infrastructurefail", "infrastructurefailure", "infrafailure",
                                  "agentlost", "workerlost", "lost", "spotinterruption")},
          INFRA, Take("other.state", "NodeLost"), "The platform's state says that it took or lost "
          "the machine.", deterministic=False),
    _rule("buildkite.cancel", {"other.signal_reason": "cancel"}, MANUAL, "Cancelled",
          "Somebody cancelled the job.", source=_BUILDKITE),
    _rule("buildkite.agent", {"other.signal_reason": ("agent_stop", "agent_refused",
                                                      "agent_incompatible", "stack_error")},
          INFRA, Take("other.signal_reason"), "The agent of the job stopped.", source=_BUILDKITE,
          deterministic=False),
    _rule("time-limit", r"build timed out \(after|exceeded the maximum time limit for jobs|"
          r"too long with no output|no output has been received in the last|exceeded (?:its |the )?"
          r"(?:job |build |execution |maximum )?(?:time ?limit|timeout|run ?time)|"
          r"job [^\n]{0,40}timed ?out after", TIMEOUT, "ExecutionTimeout",
          "The platform says that it ended the job at a time limit.", source=_TRAVIS),
    _rule("cancelled.said", r"\b(?:aborted|cancell?ed|stopped|killed) by (?:the )?(?:user|admin|"
          r"owner|operator)\b|^aborted by ", MANUAL, "Cancelled",
          "The platform says that somebody ended the job.", source=_JENKINS),
    _rule("agent-lost", r"agent (?:went offline|was (?:removed|disconnected|deleted)|lost)|"
          r"ChannelClosedException|ClosedChannelException|lost (?:connection|contact) (?:to|with) "
          r"(?:the )?(?:agent|node|worker|runner)|(?:node|worker|vm|instance|machine|host) (?:was |"
          r"has been )?(?:lost|preempted|reclaimed|evicted)\b", INFRA,
          "WorkerLost", "The platform says that it lost the machine of the job.", source=_JENKINS,
          deterministic=False),
    _rule("infrastructure",
          r"infrastructure (?:fail|error|issue)|internal (?:platform|system) error",
          INFRA, "PlatformError", "The platform says that it failed by itself.", source=_CIRCLECI,
          deterministic=False),
    _rule("no-capacity", r"insufficient (?:capacity|resources)|no (?:capacity|machines) available|"
          r"out of capacity|stockout", INFRA, "InsufficientCapacity",
          "The platform had no room for the job.", deterministic=False, started=Started.NO),
    _rule("no-exit-code", {"other.no_exit_code": True, "other.said": PRESENT}, INFRA,
          "PlatformError", "No program ends with -1: the platform failed around the job.",
          tier=Tier.MISMATCH, confidence=GUESS),
    _rule("state", {"other.state": PRESENT}, UNKNOWN, Take("other.state"),
          "The platform's state does not tell whose fault it was.", tier=Tier.NOTHING,
          confidence=GUESS),
)
# fmt: on

SOURCE: Final = Source(
    name="other",
    systems=_SYSTEMS,
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
)
