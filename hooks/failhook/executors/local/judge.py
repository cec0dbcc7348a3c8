"""From the end of a child to evidence: what it said, how it died, and what we did to it."""

from __future__ import annotations

import io
import pickle
import re
import signal
from dataclasses import dataclass
from typing import Any, Final

from failhook.capture import capture
from failhook.details import Started
from failhook.evidence import Evidence
from failhook.executors.local import launch
from failhook.executors.local.stop import Stop
from failhook.executors.local.supervise import End
from failhook.executors.local.work import Call, Command, Terms

_SAID: Final = re.compile(
    r"MemoryError|std::bad_alloc|[Cc]annot allocate memory|OutOfMemoryError|heap out of memory"
    r"|[Oo]ut of memory|memory exhausted"
)
"""What programs and libraries write when they cannot allocate: Python, C++, libc, Java, Node."""


@dataclass(frozen=True, slots=True)
class Success:
    """The task ended well.

    Attributes:
        value: what a callable returned; None for a command.
        suspect: a kill that was seen although the task reports success.
    """

    value: Any = None
    suspect: Evidence | None = None


class _Unpickler(pickle.Unpickler):  # our own child wrote what it reads
    def find_class(self, module: str, name: str, /) -> Any:
        return super().find_class("__main__" if module == launch.CHILD_MAIN else module, name)


def judge(end: End, work: Command | Call, terms: Terms) -> Success | Evidence:
    """Say how an attempt ended: a success, or the evidence of its failure."""
    clean = end.code == 0 if isinstance(work, Command) else end.report.result is not None
    if clean and (end.stop is None or end.stop.why != "cancel"):
        value = None
        if end.report.result is not None:
            try:
                value = _Unpickler(io.BytesIO(end.report.result)).load()
            except BaseException as error:  # noqa: BLE001 - unpickling runs the value's own code
                return _unsendable("the return value cannot be unpickled here", error)
        return Success(value, _suspicion(end, terms))
    if end.stop is not None:
        seen = _stopped(end, end.stop, terms)
        return seen if end.stop.why == "heartbeat" else seen.also(_death(end, terms))
    report = end.report
    if report.refusal is not None:
        program = work.argv[0] if isinstance(work, Command) else ""
        refused = Evidence.not_started(report.refusal, command=program)
        return refused.also(_under_limit(end, terms))
    if report.error is not None:
        raised = Evidence.exception(capture(report.error)).at(started=report.started)
        return raised.also(Evidence(facts=end.oom)) if end.oom.get("oom_own") else raised
    if report.unsendable is not None:
        kind = report.unsendable.get("type")
        return _unsendable(
            f"the return value is of type {kind}, which cannot be pickled",
            report.unsendable.get("error"),
        )
    if report.started is Started.NO and end.code is not None and end.code > 0:
        return Evidence.plugin_error(
            f"the new process ended with exit status {end.code} before it could begin the task"
        )
    if end.code == 0:
        seen = _unreported("success")
        begun = report.started is Started.YES
        return Success(None, seen) if begun else seen.at(started=report.started)
    return _death(end, terms)


def unsendable(error: Exception) -> Evidence:
    """Return the evidence that a callable could not be sent to a process at all."""
    return _unsendable(str(error), error).at(started=Started.NO)


def _unsendable(message: str, error: object) -> Evidence:
    return Evidence.verdict(
        "application", "SerializationError", message=message, deterministic=True
    ).also(Evidence.exception(error))


def _suspicion(end: End, terms: Terms) -> Evidence | None:
    """Return the evidence of a kill beside a success, None where there is none.

    A deadline that the task caught, ending cleanly within its grace time, is a plain success.
    """
    if end.stop is not None and end.stop.why != "deadline":
        return _stopped(end, end.stop, terms)
    if end.code != 0 and not end.killed:
        return _death(end, terms)
    if end.report.terminations > end.terminated:
        return Evidence.returncode(-signal.SIGTERM)
    if end.oom.get("oom_own"):
        return Evidence.returncode(-signal.SIGKILL, **end.oom)
    return None


def _stopped(end: End, stop: Stop, terms: Terms) -> Evidence:
    started = end.report.started
    if stop.why == "cancel":
        return Evidence.cancel(stop.actor, action=stop.action, started=started)
    if stop.why == "shutdown":
        return Evidence.shutdown(stop.actor).at(started=started)
    if stop.why == "heartbeat":
        evidence = Evidence.heartbeat(timeout=terms.heartbeat or 0.0, age=round(end.silent, 3))
        return evidence.at(started=started)
    evidence = Evidence.deadline(terms.timeout or 0.0, elapsed=round(end.elapsed, 3))
    return evidence.at(started=started)


def _death(end: End, terms: Terms) -> Evidence:
    """Return what the exit status says, with the task's own words beside it, if any."""
    if end.code is None:
        seen = _unreported("finished", can_report=False)
    else:
        sent = signal.SIGKILL if end.killed else signal.SIGTERM if end.terminated else None
        seen = Evidence.returncode(end.code, sent=None if sent is None else int(sent), **end.oom)
        seen = seen.also(_under_limit(end, terms))
    seen = seen.at(started=end.report.started)
    error = end.report.error
    return seen if error is None else seen.also(Evidence.exception(capture(error)))


def _under_limit(end: End, terms: Terms) -> Evidence:
    """Return what is known of the memory of a process that had a limit."""
    if terms.memory is None:
        return Evidence()
    facts: dict[str, Any] = {"bytes": terms.memory}
    if end.peak > end.report.peak:
        facts["peak"] = end.peak
    said = _SAID.search(end.output)
    if said is not None:
        facts["said"] = said.group()
    return Evidence(facts={"memory_limit": facts})


def _unreported(state: str, *, can_report: bool = True) -> Evidence:
    return Evidence.mismatch(
        executor_state=state,
        recorded_state="running",
        can_report=can_report,
        info="the process ended without its last report",
    )
