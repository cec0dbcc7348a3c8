"""Reads exceptions (live, recorded, text only), log tails and what a framework says of a state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from failhook.classify.facts import Facts, lines, window
from failhook.classify.python.derived import (
    http_status,
    raised_by_accelerators,
    speaks_of_accelerators,
)
from failhook.classify.python.names import short_names
from failhook.classify.python.traceback_text import last_error, read_error
from failhook.error_info import ErrorInfo
from failhook.evidence import Evidence

_LOGS: Final = frozenset(
    {
        *("log_tail", "log", "stderr_tail", "stdout_tail", "stderr", "stdout", "scheduler_log"),
        "engine_message",
    }
)
_STATES: Final = {
    "exc_info": "state.exc_info",
    "traceback": "state.exc_info",
    "task_state": "state.ti_state",
    "dagrun_timeout_set": "state.dagrun_timeout_set",
}
"""Fields that hosts put beside the state, and where they belong."""
_QUOTING: Final = ("state.message", "state.error", "state.exc_info")
_QUOTES: Final = re.compile(r"(?:encountered an exception|by an unexpected exception)[.:]\s{0,4}")
"""How an engine's sentence about a run begins to quote what the run raised."""
_GROUPS: Final = ("state", "executor_event")
_GROUP_SIZE: Final = 32
_MAX_VIEWS: Final = 16
_OF_THE_DRIVER: Final = re.compile(
    r"(?m)^(?:[^\n:]{0,40}(?::\d\d){0,2}[^\n:]{0,80}: ?)?(?:\[[\d. ]{1,20}\] ?)?NVRM: Xid \(PCI:"
)
"""A line of the kernel's log that has found its way into another one."""
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")

WRAPPERS: Final = frozenset(
    {
        *("Exception", "BaseException", "RuntimeError", "SystemError", "ExceptionGroup"),
        *("BaseExceptionGroup", "str", "airflow.AirflowException", "celery.ChordError"),
        *("dagster.DagsterExecutionStepExecutionError", "dagster.DagsterUserCodeExecutionError"),
        *("prefect.ScriptError", "ray.RayTaskError", "tenacity.RetryError", "luigi.TaskException"),
        *("concurrent.BrokenProcessPool", "concurrent.BrokenExecutor", "urllib3.MaxRetryError"),
        *("google.RetryError", "temporalio.ActivityError", "temporalio.ChildWorkflowError"),
        *("temporalio.WorkflowFailureError", "billiard.RemoteError", "sqlalchemy.DBAPIError"),
    }
)
"""Classes that say little by themselves, so that what was handled when they arose matters."""


class Reader:
    """Reads the outermost error; the ones below it are views that the engine may ask for.

    Args:
        distinct: classes that are known by their name alone (`distinct_names`).
    """

    __slots__ = ("_distinct",)

    def __init__(self, distinct: Mapping[str, str]) -> None:
        self._distinct = distinct

    def __call__(self, evidence: Evidence, facts: Facts) -> None:
        """Put into the facts what the document and its error say."""
        document = evidence.facts
        if document:
            _read_document(document, facts)
        error = evidence.error
        if error is None:
            if "log" in facts or "traceback" in facts:
                facts.sources["distinct"] = self._distinct
                facts.last_resort = _FromLog(facts)
            return
        if error.type == "builtins.str":
            error = read_error(error.message)
        if error.mark is not None:
            _read_mark(error, facts)
        facts.sources["distinct"] = self._distinct
        facts.sources["outermost"] = error
        _read_error(error, facts)
        if error.cause is not None or error.context is not None or error.exceptions:
            facts.views = _Views(error, facts)


def _read_document(document: Mapping[str, object], facts: Facts) -> None:
    texts: list[str] = []
    for name, value in document.items():
        if name in _LOGS:
            text = lines(value)
            if text:
                texts.append(text)
        elif name in _GROUPS:
            if isinstance(value, Mapping):
                _read_group(name, cast("Mapping[str, object]", value), facts)
        elif name in _STATES:
            facts.read(_STATES[name], value, name)
    if not facts.keys().isdisjoint(_QUOTING):
        _part_quotes(facts)
    if texts:
        _read_log(texts[0] if len(texts) == 1 else window("\n".join(texts)), facts)


def _read_log(log: str, facts: Facts) -> None:
    facts["log"] = log
    facts.quote("horse.signal")
    if speaks_of_accelerators(log):
        facts["text.gpu"] = log
        facts["gpu.sure"] = "likely"
        if _OF_THE_DRIVER.search(log) is None:
            facts.quote(*_OF_ACCELERATORS)


def _part_quotes(facts: Facts) -> None:
    """Part what an engine says of a state from the exception that it quotes there."""
    message = facts.get("state.message")
    found = _QUOTES.search(message) if isinstance(message, str) else None
    if found is not None and isinstance(message, str):
        facts["state.message"] = message[: found.end()]
        facts["traceback"] = message[found.end() :]
    for path in _QUOTING[1:]:
        text = facts.get(path)
        if isinstance(text, str) and read_error(text).type != "builtins.str":
            facts["traceback"] = text
            del facts[path]


def _read_group(name: str, group: Mapping[str, object], facts: Facts) -> None:
    for number, (key, value) in enumerate(group.items()):
        if number >= _GROUP_SIZE:
            break
        if _IDENTIFIER.fullmatch(key):
            facts.read(f"{name}.{key}", value)


def _read_mark(error: ErrorInfo, facts: Facts) -> None:
    mark = error.mark
    if mark is None:
        return
    facts["mark"] = True
    facts.read("mark.message", mark.message, "exception.mark.message")
    for name in ("code", "kind", "deterministic", "retry_after"):
        facts.read(f"mark.{name}", getattr(mark, name), f"exception.mark.{name}")


def _read_error(error: ErrorInfo, facts: Facts) -> None:
    facts.sources["error"] = error
    facts["exception.type"] = error.type
    names = short_names(error.type, error.mro)
    if len(names) == 1 and names[0] in facts.sources["distinct"]:
        names = (names[0], facts.sources["distinct"][names[0]])
    facts["exception.is"] = names
    message = window(error.message)
    if "\x1b" in message:
        message = _ANSI.sub("", message)
    facts["exception.message"] = message
    if names[0] == "str":
        facts["exception.text"] = message
    status = http_status(error, message)
    if status is not None:
        facts["exception.status"] = status
    if speaks_of_accelerators(message) and raised_by_accelerators(names):
        log = facts.get("log")
        facts["text.gpu"] = f"{message}\n{log}" if isinstance(log, str) else message
        sure = names[0] not in _QUOTES_TRACES and "from_log" not in facts.sources
        facts["gpu.sure"] = "confirmed" if sure else "likely"
        facts.quoted -= _OF_ACCELERATORS


_QUOTES_TRACES: Final = ("str", "torch.ChildFailedError", "ray.RayTaskError")
_OF_ACCELERATORS: Final = frozenset({"text.gpu", "gpu.xid"})
_OF_THE_ERROR: Final = frozenset({"exception.status", "exception.text"})


class _Views:
    """The same evidence, as seen from each error below the outermost, the nearest first."""

    __slots__ = ("_error", "_facts")

    def __init__(self, error: ErrorInfo, facts: Facts) -> None:
        self._error = error
        self._facts = facts

    def __call__(self) -> Iterator[Facts]:
        for number, (place, error) in enumerate(_below(self._error, "exception")):
            if number >= _MAX_VIEWS:
                return
            view = Facts(self._facts.derived)
            for path, value in self._facts.items():
                if path not in view.derived and path not in _OF_THE_ERROR:
                    view[path] = value
            view.quoted = self._facts.quoted
            view.sources = dict(self._facts.sources)
            view.origins = {
                **self._facts.origins,
                "exception.type": f"{place}.type",
                "exception.is": f"{place}.type",
                "exception.message": f"{place}.message",
            }
            _read_error(error, view)
            yield view


class _FromLog:
    """The same evidence, with the error that a traceback or, at its end, the log shows."""

    __slots__ = ("_facts",)

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def __call__(self) -> Facts | None:
        quoted, log = self._facts["traceback"], self._facts["log"]
        error = read_error(quoted) if isinstance(quoted, str) else None
        if (error is None or error.type == "builtins.str") and isinstance(log, str):
            error = last_error(log)
        if error is None or error.type == "builtins.str":
            return None
        view = Facts(self._facts.derived)
        for path, value in self._facts.items():
            if path not in view.derived:
                view[path] = value
        view.quoted = self._facts.quoted
        view.sources = dict(self._facts.sources) | {"outermost": error, "from_log": True}
        _read_error(error, view)
        return view


def _below(error: ErrorInfo, place: str) -> Iterator[tuple[str, ErrorInfo]]:
    """Yield what an error was raised from, and where that stands.

    These are its causes, a group's members, and what was being handled when it was raised, if the
    error says little by itself.
    """
    queue = [(place, error)]
    for where, current in queue:
        if current is not error:
            yield where, current
        if current.cause is not None:
            queue.append((f"{where}.cause", current.cause))
        elif current.context is not None and _says_little(current):
            queue.append((f"{where}.context", current.context))
        queue.extend(
            (f"{where}.exceptions[{number}]", member)
            for number, member in enumerate(current.exceptions[:_MAX_VIEWS])
        )


def _says_little(error: ErrorInfo) -> bool:
    return short_names(error.type, error.mro)[0] in WRAPPERS
