"""Reads what the constructors of `Evidence` put down, and the exit code or signal of any record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from failhook.classify.facts import Derived, Facts, Value
from failhook.classify.process.limits import share
from failhook.evidence import Evidence

_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "deadline": ("which", "limit", "elapsed"),
    "cancel": ("actor", "action"),
    "shutdown": ("actor",),
    "heartbeat": ("timeout", "age", "node_ready"),
    "mismatch": ("executor_state", "recorded_state", "can_report", "info"),
    "lost": ("host", "pid", "why"),
    "duplicate": ("host", "pid"),
    "plugin_error": ("code", "message"),
    "exec": ("errno", "message", "command"),
    "memory_limit": ("bytes", "peak", "said"),
}
_VERDICT: Final = (
    *("kind", "reason", "message", "deterministic", "confidence", "code", "retry_after", "actor"),
    *("exit_code", "signal", "hint", "time_limit", "elapsed", "node", "ended_by_itself"),
    *("executor_side", "cleanup"),
)
_NUMBERS: Final = ("sent", "oom_own", "oom_host")
_SIGNAL_NAMES: Final = dict(
    enumerate(
        (
            *("SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE"),
            *("SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM"),
            *("SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"),
            *("SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO"),
            *("SIGPWR", "SIGSYS"),
        ),
        start=1,
    )
)


def read(evidence: Evidence, facts: Facts) -> None:
    """Read the facts of a supervisor; on other systems' records only what is unmistakable."""
    document = evidence.facts
    facts["system"] = evidence.system
    for name, value in document.items():
        if name in ("signal", "exit_code"):
            _read_status(facts, name, value)
        elif name in _NUMBERS:
            if type(value) is int:
                facts[name] = value
        elif name == "verdict":
            _read_group(facts, name, value, _VERDICT)
        elif name in _GROUPS:
            _read_group(facts, name, value, _GROUPS[name])


def _read_status(facts: Facts, name: str, value: object) -> None:
    if type(value) is not int:
        return
    if name == "exit_code" and -64 <= value < -1:
        facts.setdefault("signal", -value)  # as subprocess writes the signal that ended a child
    else:
        facts[name] = value


def _read_group(facts: Facts, name: str, value: object, fields: tuple[str, ...]) -> None:
    if not isinstance(value, Mapping):
        return
    group = cast("Mapping[str, object]", value)
    facts[name] = True
    for field in fields:
        facts.read(f"{name}.{field}", group.get(field))


def signal_name(number: int) -> str:
    """Return the name of a signal as Linux numbers them, such as ``SIGKILL``."""
    return _SIGNAL_NAMES.get(number, f"signal {number}")


def _signal_name(facts: Facts) -> Value:
    number = facts["signal"]
    return signal_name(number) if type(number) is int else None


def _recorded(facts: Facts) -> Value:
    state = facts["mismatch.recorded_state"]
    return state.lower() if isinstance(state, str) else None


def _executor_said(facts: Facts) -> Value:
    state = facts["mismatch.executor_state"]
    return state.lower() if isinstance(state, str) else None


def _stated_confidence(facts: Facts) -> Value:
    if facts["verdict.confidence"] is not None:
        return facts["verdict.confidence"]
    return "guess" if facts["verdict.kind"] == "unknown" else "confirmed"


def _stated_by_itself(facts: Facts) -> Value:
    stated = facts["verdict.ended_by_itself"]
    return facts["verdict.kind"] == "application" if stated is None else stated


def _stated_side(facts: Facts) -> Value:
    stated = facts["verdict.executor_side"]
    if stated is not None:
        return stated
    return facts["verdict.reason"] in ("SubmitFailure", "OrchestratorUnreachable")


DERIVED: Final[Mapping[str, Derived]] = {
    "signal.name": Derived(_signal_name, ("signal",)),
    "mismatch.recorded": Derived(_recorded, ("mismatch.recorded_state",)),
    "mismatch.executor": Derived(_executor_said, ("mismatch.executor_state",)),
    "memory_limit.share": Derived(share, ("memory_limit.peak",)),
    "verdict.sure": Derived(_stated_confidence, ("verdict",)),
    "verdict.by_itself": Derived(_stated_by_itself, ("verdict",)),
    "verdict.of_the_executor": Derived(_stated_side, ("verdict",)),
}
