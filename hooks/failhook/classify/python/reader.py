"""Reads exceptions (live, recorded, text only), log tails and what a framework says of a state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from failhook.classify.facts import Facts, lines, window
from failhook.classify.python.derived import http_status, speaks_of_accelerators
from failhook.classify.python.names import short_names
from failhook.classify.python.traceback_text import last_error, read_error
from failhook.error_info import ErrorInfo
from failhook.evidence import Evidence

_LOGS: Final = frozenset(
    {
        *("log_tail", "log", "stderr_tail", "stdout_tail", "stderr", "stdout", "scheduler_log"),
        *("exc_info", "traceback", "engine_message"),
    }
)
_GROUPS: Final = ("state", "executor_event")
_GROUP_SIZE: Final = 32
_MAX_VIEWS: Final = 16
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
            if "log" in facts:
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
        elif name == "task_state":
            facts.read("state.ti_state", value, name)
        elif name == "dagrun_timeout_set":
            facts.read("state.dagrun_timeout_set", value, name)
    if texts:
        log = facts["log"] = texts[0] if len(texts) == 1 else window("\n".join(texts))
        if speaks_of_accelerators(log):
            facts["text.gpu"] = log


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
    if speaks_of_accelerators(message):
        log = facts.get("log")
        facts["text.gpu"] = f"{message}\n{log}" if isinstance(log, str) else message


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
    """The same evidence, with the last error that the log shows."""

    __slots__ = ("_facts",)

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def __call__(self) -> Facts | None:
        log = self._facts["log"]
        error = last_error(log) if isinstance(log, str) else None
        if error is None:
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
