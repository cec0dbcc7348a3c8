"""Reads ``docker inspect`` and ``podman inspect``, and the errors that their commands print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from failhook.classify.facts import Facts
from failhook.classify.records import Record
from failhook.evidence import Evidence

SYSTEMS: Final = frozenset({"docker", "podman", "containerd"})
LOGS: Final = ("stderr", "stderr_tail", "log_tail", "log", "stdout_tail")
FIELDS: Final = ("State", "OOMKilled", "oom_killed", *LOGS)

_ERRORS: Final = (
    *("Error response from daemon:", "docker: Error", "Cannot connect to the Docker daemon"),
    *("OCI runtime", "error during connect:", "docker: permission denied"),
    *("Unable to find image", "docker: invalid", "docker: open "),
)
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
        said = [line[:2_000] for line in log.splitlines()[-_LAST:] if _of_the_daemon(line)]
        if said and not all("Unable to find image" in line for line in said):
            facts.read("container.error", said[-1])


def _read_state(state: Record, facts: Facts, *, named: bool) -> None:
    if state.flag("OOMKilled"):
        facts["docker.oom_killed"] = True
    error = state.text("Error")
    if error is not None and (named or "exitcode" in state):
        facts.read("container.error", error[:2_000], "State.Error")
    code = state.whole("ExitCode", "exit_status")
    if code:
        facts["exit_code"] = code
    facts.read("docker.status", state.get("Status"), "State.Status")


def _of_the_daemon(line: str) -> bool:
    return any(words in line for words in _ERRORS)


def shape(record: Mapping[str, Any]) -> Evidence | None:
    """Know what ``docker inspect`` prints of a container."""
    document = Record(record)
    state = document.record("State")
    if "exitcode" in state and ("oomkilled" in state or "finishedat" in state):
        return Evidence("docker", record)
    return None
