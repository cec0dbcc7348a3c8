"""Facts that Airflow writes into sentences, and that rules want as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from failhook.classify.facts import Derived, Facts, Value

_SET_TO: Final = re.compile(r"\bState of this instance has been externally set to '?(\w{2,20})")
_CURRENT: Final = re.compile(r"current_state['\"]?[:=] ?['\"]?(\w{2,20})")
_FAILED_BECAUSE: Final = re.compile(
    r"Pod failed because of (\w{2,60})|Pod phase: Failed, reason: (\w{2,60})"
)
_GONE: Final = "Server indicated the task shouldn't be running anymore"


def _set_to(facts: Facts) -> Value:
    """Return the state that something else gave a running task."""
    log = facts["log"]
    text = log if isinstance(log, str) else ""
    found = _SET_TO.search(text)
    if found is not None:
        facts.quote("airflow.set_to")
        return found[1].lower()
    status = facts["state.http_status"]
    if _GONE not in text and status not in (404, 409, 410):
        return None
    current = facts["state.current_state"]
    if isinstance(current, str):
        return current.lower()
    found = _CURRENT.search(text)
    if status is None:
        facts.quote("airflow.set_to")
    return found[1].lower() if found is not None else None


def _pod_reason(facts: Facts) -> Value:
    stated = facts["executor_event.pod_reason"]
    if stated is not None:
        return stated
    for path in ("executor_event.info", "words"):
        text = facts[path]
        found = _FAILED_BECAUSE.search(text) if isinstance(text, str) else None
        if found is not None:
            if path in facts.quoted:
                facts.quote("executor.pod_reason")
            reason = found[1] or found[2]
            return None if reason == "None" else reason
    return None


def _run_timeout(facts: Facts) -> Value:
    return True if facts["state.dagrun_timeout_set"] is True else None


_IN_TASK: Final = ("/taskinstance.py", "/task_runner.py", "/dags/", "/operators/", "/hooks/")


def _in_task(facts: Facts) -> Value:
    """Return whether the traceback went through the execution of a task."""
    frames = facts["frames"]
    if not isinstance(frames, tuple):
        return None
    return any(place in path for path in frames for place in _IN_TASK)


_OWN: Final = re.compile(
    r"/airflow/(?:utils/(?:session|retries|db|log/\w{1,40})|jobs/|executors/|cli/|models/|sdk/api/"
    r"|sdk/execution_time/(?:supervisor|comms)|api_internal/|settings)"
)
_ON_BEHALF: Final = re.compile(r"/dags/|/airflow/providers/|/operators/|/hooks/|/sensors/")


def _own_code(facts: Facts) -> Value:
    """Return whether the last frames are Airflow's own, with no operator or hook after them."""
    frames = facts["frames"]
    if not isinstance(frames, tuple):
        return None
    for path in reversed(frames):
        if _ON_BEHALF.search(path):
            return None
        if _OWN.search(path):
            return True
    return None


DERIVED: Final[Mapping[str, Derived]] = {
    "airflow.own_code": Derived(_own_code, ("exception.type", "log")),
    "airflow.in_task": Derived(_in_task, ("exception.type", "log")),
    "airflow.set_to": Derived(_set_to, ("log", "state.http_status")),
    "airflow.run_timeout": Derived(_run_timeout, ("state.ti_state",)),
    "executor.pod_reason": Derived(
        _pod_reason, ("executor_event.pod_reason", "executor_event.info", "log")
    ),
}
