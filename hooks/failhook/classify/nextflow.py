"""Nextflow: what its engine says of a process, and the rows of its trace file."""

from __future__ import annotations

import re
from typing import Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record, joined
from failhook.classify.rule import (
    APPLICATION,
    INFRA,
    LIKELY,
    TIMEOUT,
)
from failhook.classify.source import Source
from failhook.classify.table import Table
from failhook.details import Started
from failhook.evidence import Evidence

_PROCESSOR: Final = (
    "https://github.com/nextflow-io/nextflow/blob/master/modules/nextflow/src/main/groovy/nextflow/"
    "processor/TaskProcessor.groovy"
)
_FIELDS: Final = ("engine_message", "trace", "exit_status", "error_report")
_OUTPUT: Final = re.compile(r"(?m)^\s{0,4}Command (?:output|error|executed):")
"""Where a report begins to quote the task's script and what it printed."""
_STATUS: Final = re.compile(r"error exit status \((\d{1,5})\)")


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the engine's message, and the exit status that it or the trace has."""
    document = Record(evidence.facts)
    trace = document.record("trace")
    said = joined(document.get("engine_message"), document.get("error_report"))
    facts.read("nextflow.said", _OUTPUT.split(said)[0] or None, "engine_message")
    status = document.whole("exit_status")
    status = trace.whole("exit") if status is None else status
    if status is None and (found := _STATUS.search(said)):
        status = int(found[1])
    if status and "exit_code" not in facts and "signal" not in facts:
        facts["exit_code"] = status


_rule: Final = Table(
    prefix="nextflow",
    source=_PROCESSOR,
    next_step="Read .command.log in the task's work directory, and the scheduler's record.",
    said="nextflow.said",
    ignore_case=True,
).row


# fmt: off
RULES: Final = (
    _rule("time-limit", r"exceeded running time limit", TIMEOUT, "ExecutionTimeout",
          "The engine ended the task at its time directive."),
    _rule("requirement", r"process requirement exceed", APPLICATION, "SpecError",
          "The process asks for more than the machine has.", deterministic=True,
          started=Started.NO),
    _rule("submit", r"failed to submit process to|error submitting process", INFRA, "SubmitFailure",
          "The engine could not hand the task to the scheduler.", confidence=LIKELY,
          started=Started.NO, executor_side=True),
    _rule("missing-output", r"missing output file\(s\)", APPLICATION, "MissingOutput",
          "The task ended without the files that it has to make.", confidence=LIKELY),
)
# fmt: on

SOURCE: Final = Source(
    name="nextflow",
    systems=frozenset({"nextflow"}),
    fields=frozenset(_FIELDS),
    read=read,
    rules=RULES,
)
