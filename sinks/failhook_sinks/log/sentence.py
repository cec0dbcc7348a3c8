"""An event in one line for people: who, what, why, what comes next."""

from __future__ import annotations

import shlex
from typing import Final

from failhook.plugin import (
    Action,
    Charge,
    Decision,
    ErrorInfo,
    EventType,
    FailureDetails,
    FailureEvent,
    Hint,
    Task,
)

MAX_TEXT: Final = 300
"""Characters that a message of somebody else's takes in a line; the record has it whole."""

_HINTS: Final = {
    Hint.POISON_TASK: "this task may be what ends its workers",
    Hint.OTHER_NODE: "another node may help",
    Hint.MORE_MEMORY: "more memory may help",
}


def sentence(event: FailureEvent) -> str:
    """Return the line for an event."""
    if event.type is EventType.RECOVERED:
        line = _recovered(event)
    elif event.type is EventType.AMENDED:
        line = _amended(event)
    elif event.type is EventType.SUSPECT_SUCCESS:
        line = f"{_who(event.task)} reported success, but{_what(event)}; check what it left"
    else:
        line = _failed(event)
    return f"[simulated] {line}" if event.simulated else line


def undelivered_sentence(event: FailureEvent, plugin: str, error: str) -> str:
    """Return the line for an event that a plugin could not take for good."""
    why = f": {one_line(error)}" if error.strip() else ""
    return f"plugin {plugin} was not told that {sentence(event)} (now a dead letter{why})"


def verdict(details: FailureDetails) -> str:
    """Return the verdict in three words: ``infra WorkerLost (likely)``."""
    return f"{details.kind.value} {one_line(details.reason)} ({details.confidence.value})"


def one_line(text: str) -> str:
    """Return text as one printable line of bounded length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"


def _failed(event: FailureEvent) -> str:
    parts = [f"{_who(event.task)} failed{_what(event)}"]
    if event.decision is not None:
        parts.append(_next(event.decision, event))
    hint = event.failure_details.hint
    if hint is not None:
        parts.append(_HINTS[hint])
    if event.task.log_url:
        parts.append(f"log: {one_line(event.task.log_url)}")
    return "; ".join(parts)


def _recovered(event: FailureEvent) -> str:
    last, first = event.failure_details, event.first_failure
    line = f"{_who(event.task)} succeeded: recovered from {verdict(last)}"
    if first is not None and verdict(first) != verdict(last):
        line = f"{line}, which began with {verdict(first)}"
    return line


def _amended(event: FailureEvent) -> str:
    before = "" if event.previous is None else f", not {verdict(event.previous)}"
    if event.succeeded:
        return f"{_who(event.task)} has succeeded after all{before}"
    return (
        f"{_who(event.task)}, looked at again, was {verdict(event.failure_details)}{before}"
        f"{_why(event)}; the decision stands"
    )


def _who(task: Task) -> str:
    index = "" if task.map_index is None else f"[{task.map_index}]"
    return one_line(f"{task.workflow}/{task.name}{index} attempt {task.attempt}")


def _what(event: FailureEvent) -> str:
    node = f" on {one_line(event.failure_details.node)}" if event.failure_details.node else ""
    return f"{node}: {verdict(event.failure_details)}{_why(event)}"


def _why(event: FailureEvent) -> str:
    message = one_line(event.failure_details.message).rstrip(".")
    error = "" if event.error is None else _raised(event.error)
    if event.error is not None and _repeats(message, event.error):
        error = ""
    elif message in error:
        message = ""
    told = "; ".join(text for text in (message, error) if text)
    return f" - {told}" if told else ""


def _repeats(message: str, error: ErrorInfo) -> bool:
    """Return whether a message says already all that the error says."""
    said = one_line(error.message)
    return error.root is error and bool(said) and said in message


def _raised(error: ErrorInfo) -> str:
    """Return the outermost error and, where that is another one, its root."""
    line, root = _error_line(error), error.root
    return line if root is error else f"{line} (from {_error_line(root)})"


def _error_line(error: ErrorInfo) -> str:
    if error.type == "builtins.str":
        return one_line(error.message)
    return one_line(f"{error.name}: {error.message}" if error.message.strip() else error.name)


def _next(decision: Decision, event: FailureEvent) -> str:
    cleanup = "clean up what it left, then " if decision.cleanup else ""
    if decision.action is Action.HOLD:
        return (
            f"{cleanup}on hold, since it may have done its work: "
            f"failhook resolve {shlex.quote(one_line(event.task.key))} retry|fail|succeeded"
        )
    if decision.action is Action.FAIL:
        code = f" ({one_line(decision.code)})" if decision.code else ""
        why = one_line(decision.because.text)
        if not event.final:
            return f"{cleanup}nothing follows: {why}"
        return f"{cleanup}failed for good{code}: {why} ({decision.after})"
    wait = f" in {decision.delay:.3g} s" if decision.delay else ""
    return f"{cleanup}retry as attempt {decision.attempt + 1}{wait}, {_paid(decision)}"


def _paid(decision: Decision) -> str:
    after = decision.after
    if decision.charge is Charge.INFRA:
        return f"refunded (infra {after.infra}/{after.infra_limit})"
    if decision.charge is Charge.SYSTEM:
        return f"charged to the system budget ({after.system}/{after.system_limit})"
    return f"charged to the user ({after.user}/{after.user_limit})"
