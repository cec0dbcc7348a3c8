"""Reads ``docker inspect`` and ``podman inspect``, and the errors that their commands print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.evidence import Evidence

SYSTEMS: Final = frozenset({"docker", "podman", "containerd"})
LOGS: Final = ("stderr", "stderr_tail", "log_tail", "log", "stdout_tail")
FIELDS: Final = ("State", "OOMKilled", "oom_killed", *LOGS)

_ERROR: Final = re.compile(
    r"[ \t]{0,8}(?:time=\S{1,60} level=\w{1,10} msg=\"?)?(?:(?:docker|podman|Error|ERROR): ){0,2}"
    r"(?:Error response from daemon:|Cannot connect to the Docker daemon|OCI runtime|"
    r"error during connect:|Unable to find image|failed to create shim task:|"
    r"(?<=docker: )(?:Error|permission denied|invalid|open ))"
)
"""How a line of the daemon's client begins, and no line of a program in the container."""

_DAEMON_FAILED: Final = 125
"""The exit code of ``docker run`` where the daemon failed and no container ran."""

_LAST: Final = 200


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the state of the container, and what the daemon answered."""
    document = Record(evidence.facts).holder("State", "OOMKilled", "ExitCode")
    state = document.record("State")
    if not ("exitcode" in state or "oomkilled" in state):
        state = document
    named = evidence.system in SYSTEMS
    if named or state is not document or "oomkilled" in document:
        _read_state(state, facts, named=named)
    log = facts.get("log")
    if isinstance(log, str) and "container.error" not in facts:
        said = [line for line in log.splitlines()[-_LAST:] if _ERROR.match(line)]
        if said and not all("Unable to find image" in line for line in said):
            facts.read("container.error", said[-1])
            if document.whole("ExitCode", "exit_status") != _DAEMON_FAILED:
                facts.quote("container.error")


def _read_state(state: Record, facts: Facts, *, named: bool) -> None:
    if state.flag("OOMKilled"):
        facts["docker.oom_killed"] = True
    error = state.text("Error")
    if error is not None and (named or "exitcode" in state):
        facts.read("container.error", error, "State.Error")
    code = state.whole("ExitCode", "exit_status")
    if code:
        facts["exit_code"] = code
    facts.read("docker.status", state.get("Status"), "State.Status")


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know what ``docker inspect`` prints of a container."""
    document = Record(record)
    state = document.record("State")
    if "exitcode" in state and ("oomkilled" in state or "finishedat" in state):
        return Evidence("docker", record)
    return None
