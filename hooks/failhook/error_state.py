"""Flyte's ErrorState and ExecutionError, mapped from a verdict and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from failhook.decision import MAX_SYSTEM_FAILURES_EXCEEDED, Decision
from failhook.details import FailureDetails, Kind

_ERROR_KINDS: Final = {
    Kind.APPLICATION: "USER",
    Kind.TIMEOUT: "USER",
    Kind.MANUAL: "USER",
    Kind.INFRA: "SYSTEM",
    Kind.UNKNOWN: "",
}
_KINDS: Final = {"USER": Kind.APPLICATION, "SYSTEM": Kind.INFRA}


@dataclass(frozen=True, slots=True)
class ErrorState:
    """The structured error of Flyte's TaskAction status (executor/api/v1/taskaction_types.go).

    Attributes:
        code: the typed code, such as ``OOMKilled``.
        kind: ``USER``, ``SYSTEM``, or empty when not known.
        message: for people.
    """

    code: str
    kind: str
    message: str

    @property
    def execution_error_kind(self) -> str:
        """Return the kind of flyteidl's core.ExecutionError: an empty one becomes ``UNKNOWN``."""
        return self.kind or "UNKNOWN"

    def to_dict(self) -> dict[str, str]:
        fields = {"code": self.code, "kind": self.kind, "message": self.message}
        return {name: value for name, value in fields.items() if value}


def to_error_state(details: FailureDetails, decision: Decision | None = None) -> ErrorState:
    """Map a verdict to Flyte's error.

    When the system budget ended the task the code is ``MaxSystemFailuresExceeded`` and the
    message carries the original code and text.
    """
    code = details.code or details.reason
    message = details.message
    if decision is not None and decision.code == MAX_SYSTEM_FAILURES_EXCEEDED:
        message = f"{code}: {message}"
        code = MAX_SYSTEM_FAILURES_EXCEEDED
    return ErrorState(code, _ERROR_KINDS[details.kind], message)


def kind_of(error_kind: str) -> Kind:
    """Map ``USER``, ``SYSTEM``, ``UNKNOWN`` or an empty string to our kind."""
    return _KINDS.get(error_kind.upper(), Kind.UNKNOWN)
