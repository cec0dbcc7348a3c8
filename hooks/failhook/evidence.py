"""What an observer saw: one constructor per source, one JSON document for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from failhook.capture import capture
from failhook.details import Confidence, FailureDetails, Kind, Started, is_object
from failhook.error_info import ErrorInfo
from failhook.errors import EvidenceError
from failhook.given import Given

CancelAction = Literal["cancel", "mark_failed", "interrupt"]
Deadline = Literal["execution", "run", "sensor", "walltime", "start"]

_given: Final = Given("Evidence", EvidenceError)
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen of one failed attempt.

    Attributes:
        system: whose vocabulary `facts` uses: ``process``, ``python``, ``kubernetes``, ...
        facts: the evidence object, JSON values only.
        context: what the caller knows beside it (``main_container``, ...).
        error: the exception, where there is one.
        started: what the observer knows of whether the task's own code ran; None is nothing.
        node: the machine it ran on.

    Raises:
        EvidenceError: by the constructors too: something has a type or a value that is not
            allowed; the message names it.
    """

    system: str = "process"
    facts: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    context: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    error: ErrorInfo | None = None
    started: Started | None = None
    node: str | None = None

    def __post_init__(self) -> None:
        if not (  # as most are made, at no cost
            type(self.facts) is dict
            and type(self.started) is Started
            and type(self.system) is str
            and self.error is None
            and self.node is None
            and self.context is _NOTHING
        ):
            _checked(self)

    @classmethod
    def exception(cls, error: object, *, system: str = "python") -> Evidence:
        """Describe what the task raised: live, recorded (a mapping), or text only."""
        return cls(system, error=capture(error), started=Started.YES)

    @classmethod
    def returncode(
        cls,
        code: int,
        *,
        sent: int | None = None,
        oom_own: int | None = None,
        oom_host: int | None = None,
    ) -> Evidence:
        """Describe how a child process ended.

        Args:
            code: as `subprocess` gives it: the exit status, or minus the signal's number.
            sent: the signal that the supervisor itself sent for a reason of its own.
            oom_own: how far the OOM-kill counter of the task's own memory cgroup moved;
                None when none could be read.
            oom_host: how far the host's ``oom_kill`` in ``/proc/vmstat`` moved.
        """
        if type(code) is not int:
            code = _given.whole("returncode: code", code)
        facts: dict[str, Any] = {"signal": -code} if code < 0 else {"exit_code": code}
        if sent is not None:
            facts["sent"] = _given.whole("returncode: sent", sent)
        if oom_own is not None:
            facts["oom_own"] = _given.whole("returncode: oom_own", oom_own)
        if oom_host is not None:
            facts["oom_host"] = _given.whole("returncode: oom_host", oom_host)
        return cls("process", facts, started=Started.YES)

    @classmethod
    def not_started(cls, error: OSError, *, command: str = "") -> Evidence:
        """Describe a command that could not be executed (no such file, no permission)."""
        _given.of_type("not_started: error", error, OSError, "an OSError")
        _given.text("not_started: command", command)
        facts = {"exec": {"errno": error.errno, "message": str(error), "command": command}}
        return cls("process", facts, error=capture(error), started=Started.NO)

    @classmethod
    def deadline(
        cls, limit: float, *, elapsed: float | None = None, which: Deadline = "execution"
    ) -> Evidence:
        """Say that the engine itself enforced a deadline on this attempt.

        Args:
            limit: seconds.
            elapsed: seconds that the attempt had run.
            which: ``execution``, ``run``, ``sensor``, ``walltime``, or ``start`` for one that
                never began.
        """
        _given.seconds("deadline: limit", limit)
        _given.optional_seconds("deadline: elapsed", elapsed)
        _given.among("deadline: which", which, get_args(Deadline))
        started = Started.NO if which == "start" else Started.YES
        return cls(
            "process",
            {"deadline": {"which": which, "limit": limit, "elapsed": elapsed}},
            started=started,
        )

    @classmethod
    def cancel(
        cls,
        actor: str | None = None,
        *,
        action: CancelAction = "cancel",
        started: Started | None = None,
    ) -> Evidence:
        """Say that somebody ended the attempt on purpose.

        Args:
            actor: who.
            action: ``cancel``, ``mark_failed`` or ``interrupt``.
            started: had it begun?
        """
        _given.optional_text("cancel: actor", actor)
        _given.among("cancel: action", action, get_args(CancelAction))
        return cls("process", {"cancel": {"actor": actor, "action": action}}, started=started)

    @classmethod
    def shutdown(cls, actor: str | None = None) -> Evidence:
        """Say that the executor ended the attempt because it is itself shutting down."""
        _given.optional_text("shutdown: actor", actor)
        return cls("process", {"shutdown": {"actor": actor}}, started=Started.YES)

    @classmethod
    def heartbeat(
        cls, *, timeout: float, age: float | None = None, node_ready: bool | None = None
    ) -> Evidence:
        """Say that the attempt's heartbeat stopped.

        Args:
            timeout: seconds without a heartbeat that are allowed.
            age: seconds since the last one.
            node_ready: whether the node still answers, where known.
        """
        _given.seconds("heartbeat: timeout", timeout)
        _given.optional_seconds("heartbeat: age", age)
        if node_ready is not None:
            _given.flag("heartbeat: node_ready", node_ready)
        return cls(
            "process",
            {"heartbeat": {"timeout": timeout, "age": age, "node_ready": node_ready}},
            started=Started.YES,
        )

    @classmethod
    def mismatch(
        cls,
        *,
        executor_state: str,
        recorded_state: str | None,
        can_report: bool = True,
        info: str | None = None,
    ) -> Evidence:
        """Say that the executor saw the task finish, but the task never reported (AIP-97).

        Args:
            executor_state: what the executor says, such as ``failed`` or ``success``.
            recorded_state: what the record says, such as ``queued``, ``running``, ``failed``.
            can_report: False when the task had no working way to report.
            info: the executor's own words.
        """
        _given.text("mismatch: executor_state", executor_state)
        _given.optional_text("mismatch: recorded_state", recorded_state)
        _given.flag("mismatch: can_report", can_report)
        _given.optional_text("mismatch: info", info)
        return cls(
            "process",
            {
                "mismatch": {
                    "executor_state": executor_state,
                    "recorded_state": recorded_state,
                    "can_report": can_report,
                    "info": info,
                }
            },
        )

    @classmethod
    def lost(cls, *, host: str, pid: int, why: str) -> Evidence:
        """Say that whoever supervised an open attempt is gone, so the attempt is lost.

        Args:
            host: where the supervisor ran.
            pid: its process id there.
            why: how that is known: ``process_gone``, ``rebooted`` or ``started_elsewhere``.
        """
        _given.text("lost: host", host)
        _given.whole("lost: pid", pid)
        _given.text("lost: why", why)
        return cls("process", {"lost": {"host": host, "pid": pid, "why": why}}, started=Started.YES)

    @classmethod
    def duplicate(cls, *, host: str, pid: int) -> Evidence:
        """Say that the same attempt is still running elsewhere."""
        _given.text("duplicate: host", host)
        _given.whole("duplicate: pid", pid)
        return cls("process", {"duplicate": {"host": host, "pid": pid}}, started=Started.NO)

    @classmethod
    def plugin_error(
        cls, message: str = "", *, code: str | None = None, started: Started = Started.NO
    ) -> Evidence:
        """Describe an error of the executor or of its plugin, with its typed code, if any."""
        _given.text("plugin_error: message", message)
        _given.optional_text("plugin_error: code", code)
        return cls("process", {"plugin_error": {"code": code, "message": message}}, started=started)

    @classmethod
    def pod(
        cls, pod: object, *, events: object = None, main_container: str | None = None
    ) -> Evidence:
        """Describe a Kubernetes pod: a mapping, or a client object that has ``to_dict()``.

        Args:
            pod: as the API returns it, in camelCase or in the Python client's snake_case.
            events: the pod's events, where they were read.
            main_container: the container that is the task; an annotation or the only candidate
                decides otherwise.

        Raises:
            EvidenceError: it is neither.
        """
        _given.optional_text("pod: main_container", main_container)
        facts = dict(_document(pod, "a pod"))
        if events is not None:
            facts["events"] = events
        context = {"main_container": main_container} if main_container else {}
        return cls("kubernetes", facts, context)

    @classmethod
    def record(cls, system: str, document: object, **context: Any) -> Evidence:
        """Describe a job by the record of its system: Slurm, AWS Batch, ECS, YARN, ...

        Raises:
            EvidenceError: the document is not a mapping.
        """
        facts = dict(_document(document, f"a record of {system}"))
        return cls(system, facts, context, _recorded(facts.pop("exception", None)))

    @classmethod
    def verdict(
        cls,
        kind: str | None = None,
        reason: str | None = None,
        *,
        source: str | None = None,
        failure_details: object = None,
        **more: Any,
    ) -> Evidence:
        """Pass on the verdict of a host that already knows (AIP-97).

        Args:
            kind: ``failure_kind``; None is no verdict and becomes unknown.
            reason: the host's reason token.
            source: the older name of the kind; ``user`` is application.
            failure_details: the older details object, with ``source`` or ``failure_kind``, and
                ``infra_reason`` or ``reason``.
            more: further fields of `FailureDetails`, such as ``message`` or ``deterministic``.

        Raises:
            EvidenceError: the kind, the confidence or `started` is not one of its closed set.
        """
        if unknown := more.keys() - _STATED:
            msg = (
                f"a verdict has no {', '.join(sorted(unknown))}; "
                f"beside kind and reason it may have {', '.join(sorted(_STATED))}"
            )
            raise EvidenceError(msg)
        given = {"kind": kind or source, "reason": reason, **more}
        stated = _stated(failure_details)
        stated |= {name: _plain(value) for name, value in given.items() if value is not None}
        named = str(stated.get("kind", Kind.UNKNOWN))
        stated["kind"] = _given.member(
            "verdict: kind", Kind.APPLICATION if named == "user" else named, Kind
        ).value
        if "confidence" in stated:
            level = _given.member("verdict: confidence", stated["confidence"], Confidence)
            stated["confidence"] = level.value
        started = stated.pop("started", None)
        return cls(
            "process",
            {"verdict": stated},
            started=None
            if started is None
            else _given.member("verdict: started", started, Started),
        )

    def also(self, other: Evidence) -> Evidence:
        """Add what else was seen of the attempt; where both saw the same, this one's stays."""
        _given.of_type("also: other", other, Evidence, "an Evidence")
        return Evidence(
            system=self.system,
            facts={**other.facts, **self.facts},
            context={**other.context, **self.context},
            error=self.error if self.error is not None else other.error,
            started=self.started if self.started is not None else other.started,
            node=self.node or other.node,
        )

    def at(self, *, started: Started | None = None, node: str | None = None) -> Evidence:
        """Add where it ran and whether it had begun."""
        return replace(
            self,
            started=self.started if started is None else started,
            node=self.node if node is None else node,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence document: ``system``, ``evidence``, ``context``."""
        facts = dict(self.facts)
        if self.error is not None:
            facts["exception"] = self.error.to_dict()
        context = dict(self.context)
        if self.started is not None:
            context["started"] = self.started.value
        if self.node is not None:
            context["node"] = self.node
        return {"system": self.system, "evidence": facts, "context": context}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Evidence:
        """Read an evidence document.

        Raises:
            EvidenceError: it has no ``evidence`` object.
        """
        _given.of_type(
            "from_dict: document", document, Mapping, 'an object such as {"evidence": {}}'
        )
        facts = document.get("evidence")
        if not is_object(facts):
            msg = f"evidence is {type(facts).__name__}; it must be an object"
            raise EvidenceError(msg)
        system, given = document.get("system"), document.get("context")
        context = dict(given) if is_object(given) else {}
        started, node = context.pop("started", None), context.pop("node", None)
        error = _recorded(facts.get("exception"))
        if error is not None:
            facts = {name: value for name, value in facts.items() if name != "exception"}
        return cls(
            system=system if isinstance(system, str) and system else "process",
            facts=facts,
            context=context,
            error=error,
            started=Started(started) if isinstance(started, str) and started in _STARTED else None,
            node=node if isinstance(node, str) else None,
        )


_STARTED: Final = frozenset(Started)
_STATED: Final = frozenset(field.name for field in fields(FailureDetails)) - {
    *("kind", "reason", "rule", "evidence"),
}


def _checked(evidence: Evidence) -> None:
    """Refuse fields of a wrong type; a start that is named by its word becomes a `Started`."""
    _given.text("system", evidence.system)
    _given.of_type("facts", evidence.facts, Mapping, "a mapping")
    _given.of_type("context", evidence.context, Mapping, "a mapping")
    if evidence.error is not None:
        _given.of_type(
            "error", evidence.error, ErrorInfo, "an ErrorInfo; Evidence.exception() makes one"
        )
    _given.optional_text("node", evidence.node)
    started = evidence.started
    if started is not None and type(started) is not Started:
        object.__setattr__(evidence, "started", _given.member("started", started, Started))


def _recorded(error: object) -> ErrorInfo | None:
    return capture(error) if is_object(error) or isinstance(error, str) else None


def _document(source: object, what: str) -> Mapping[str, Any]:
    if is_object(source):
        return source
    convert = getattr(source, "to_dict", None)
    document: object = convert() if callable(convert) else None
    if not is_object(document):
        msg = f"{what} must be a mapping or have to_dict(), not {type(source).__name__}"
        raise EvidenceError(msg)
    return document


def _plain(value: object) -> object:
    """Return what an enum's member stands for; anything else stays."""
    return value.value if isinstance(value, Enum) else value


def _stated(details: object) -> dict[str, Any]:
    """Read an older details object, by attribute or by key."""
    if details is None:
        return {}

    def field_of(*names: str) -> Any:
        for name in names:
            value = details.get(name) if is_object(details) else getattr(details, name, None)
            if value is not None:
                return _plain(value)
        return None

    found = {
        "kind": field_of("failure_kind", "kind", "source"),
        "reason": field_of("reason", "infra_reason"),
        "message": field_of("message"),
        "executor": field_of("executor_kind", "executor"),
    }
    return {name: value for name, value in found.items() if value is not None}
