"""One alert in words: what failed, where, why, who pays, and what comes next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

from failhook.plugin import (
    Action,
    Charge,
    Decision,
    ErrorInfo,
    EventType,
    FailureDetails,
    FailureEvent,
    Task,
)
from failhook_sinks.alerts.inert import inert, one_line, shortened
from failhook_sinks.alerts.model import Alert, Notification, Status

MAX_NAME: Final = 200
MAX_FACT: Final = 500
MAX_TRACEBACK: Final = 20_000
MAX_URL: Final = 2_000
"""Characters; Slack takes links of up to 3,000, and no browser's bar shows as many."""


@dataclass(frozen=True, slots=True)
class Link:
    """An http or https URL, and the word to show for it."""

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is to be said of one alert.

    Attributes:
        title: what happened, for an alert that stands alone: ``nightly/load failed for good``.
        line: everything in one line, for an alert among many.
        facts: name and value, one line each, the most important ones first.
        traceback: what was printed where it failed, at most `MAX_TRACEBACK` characters of it; ""
            where nothing was.
        links: to the log, the run and the page on the reason.
        status: firing or resolved.
        is_new: whether the last notification did not hold it.
    """

    title: str
    line: str
    facts: tuple[tuple[str, str], ...]
    traceback: str = ""
    links: tuple[Link, ...] = ()
    status: Status
    is_new: bool


def entry_of(alert: Alert, notification: Notification) -> Entry:
    """Return what is to be said of an alert in a notification."""
    event = alert.event
    return Entry(
        title=one_line(_title(alert), MAX_FACT),
        line=one_line(_line(alert), MAX_FACT),
        facts=tuple((name, one_line(value, MAX_FACT)) for name, value in _facts(alert)),
        traceback=_traceback(event.error),
        links=tuple(_links(event, notification)),
        status=alert.status,
        is_new=alert.is_new,
    )


def moment(when: datetime) -> str:
    """Return a time for people, in UTC: ``2026-01-02 03:04 UTC``."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def who(task: Task) -> str:
    """Return the name that people know a task by: ``nightly/load[3]``."""
    index = "" if task.map_index is None else f"[{task.map_index}]"
    return f"{one_line(f'{task.workflow}/{task.name}', MAX_NAME)}{index}"


def verdict(details: FailureDetails) -> str:
    """Return the verdict in three words: ``infra NodeLost (confirmed)``."""
    return f"{details.kind.value} {one_line(details.reason, MAX_NAME)} ({details.confidence.value})"


def root_cause(event: FailureEvent) -> str:
    """Return the error that all else followed from, as one line; "" where nobody knows it."""
    if event.error is not None:
        line = _error_line(event.error.root)
        if line:
            return line
    return one_line(event.failure_details.message, MAX_FACT)


def page_of(docs_url: str, reason: str) -> str:
    """Return the URL of the page on a reason.

    Args:
        docs_url: the address of ``docs/``: ``<docs_url>/reasons/nodelost.md``; where the pages are
            named otherwise, with ``{reason}`` where the reason goes, as it stands.
        reason: the verdict's.
    """
    if "{reason}" in docs_url:
        return docs_url.replace("{reason}", quote(reason, safe="", errors="replace"))
    return f"{docs_url.rstrip('/')}/reasons/{page_name(reason)}.md"


def page_name(reason: str) -> str:
    """Return the name of the page on a reason, fit for every file system and every URL.

    In lower case, since ``Killed`` and ``KILLED`` are one file on some systems: reasons that differ
    in nothing else share a page. What is no letter, digit, ``_`` or ``-`` is a ``-``.
    """
    return re.sub(r"[^a-z0-9_-]+", "-", reason.lower()).strip("-") or "unknown"


def _traceback(error: ErrorInfo | None) -> str:
    if error is None:
        return ""
    return shortened(inert(shortened(error.traceback, MAX_TRACEBACK)).strip("\n"), MAX_TRACEBACK)


def _error_line(error: ErrorInfo) -> str:
    message = one_line(error.message, MAX_FACT)
    if error.type == "builtins.str":
        return message
    name = one_line(error.name, MAX_NAME)
    return f"{name}: {message}" if message else name


def _title(alert: Alert) -> str:
    event = alert.event
    name = who(event.task)
    if alert.status is Status.RESOLVED:
        return f"{name} is well again"
    if event.type is EventType.SUSPECT_SUCCESS:
        return f"{name} reported success, but may have lost something"
    if event.decision is not None and event.decision.action is Action.HOLD:
        return f"{name} is on hold: it failed and may have done its work"
    return f"{name} failed for good" if event.final else f"{name} failed, {_attempt(event)}"


def _line(alert: Alert) -> str:
    event = alert.event
    what = verdict(event.failure_details)
    if alert.status is Status.RESOLVED:
        return f"{who(event.task)} is well again; it was {what}{_often(alert, ', ')}"
    told = [f"{who(event.task)} {_attempt(event)}: {what}"]
    told += filter(None, (root_cause(event), _often(alert), _next(event)))
    return "; ".join(told)


def _facts(alert: Alert) -> Iterator[tuple[str, str]]:
    yield from filter(_told, _what_happened(alert))
    yield from filter(_told, _what_follows(alert))


def _told(fact: tuple[str, str]) -> bool:
    return bool(fact[1])


def _what_happened(alert: Alert) -> Iterator[tuple[str, str]]:
    event, details = alert.event, alert.event.failure_details
    cause = root_cause(event)
    message = one_line(details.message, MAX_FACT)
    told = f": {message}" if message and message != cause else ""
    yield "Task", _whole_name(event.task)
    yield "Attempt", _attempt(event).removeprefix("attempt ")
    yield "Verdict", f"{verdict(details)}{told}"
    yield "Root cause", cause
    yield "First attempt", alert.first_cause
    if event.previous is not None:
        yield "Before", f"it was taken for {verdict(event.previous)}"
    yield "Where", ", ".join(filter(None, (details.node, details.executor or event.task.executor)))
    yield "Seen", _often(alert)
    if event.error is None:
        yield "Evidence", ", ".join(f"{fact.path} = {fact.value}" for fact in details.evidence)


def _what_follows(alert: Alert) -> Iterator[tuple[str, str]]:
    event = alert.event
    if alert.status is Status.RESOLVED:
        yield "Well since", moment(alert.ends_at or event.observed_at)
    else:
        yield "Who pays", _pays(event.decision)
        yield "Next", _next(event)
    yield "Owner", alert.labels.get("owner", "")
    log = event.task.log_url
    yield "Log", log if log and not _is_link(log) else ""


def _whole_name(task: Task) -> str:
    namespace = "" if task.namespace == "default" else f", {task.namespace}"
    again = f", generation {task.generation}" if task.generation > 1 else ""
    return f"{who(task)}, run {one_line(task.run_id, MAX_NAME)}{again}{namespace}"


def _attempt(event: FailureEvent) -> str:
    of = "" if event.decision is None else f" of {event.decision.max_tries + 1}"
    return f"attempt {event.task.attempt}{of}"


def _often(alert: Alert, before: str = "") -> str:
    if alert.count <= 1:
        return ""
    runs = f" in {alert.runs:,} runs" if alert.runs > 1 else ""
    return f"{before}{alert.count:,} times since {moment(alert.starts_at)}{runs}"


def _next(event: FailureEvent) -> str:
    decision = event.decision
    if event.type is EventType.SUSPECT_SUCCESS:
        return "check what it left"
    if decision is None:
        return ""
    cleanup = "clean up what it left, then " if decision.cleanup else ""
    if decision.action is Action.HOLD:
        key = shlex.quote(one_line(event.task.key, 4 * MAX_NAME))
        return f"{cleanup}it waits for you: failhook resolve {key} retry|fail|succeeded"
    why = one_line(decision.because.text, MAX_FACT)
    if decision.action is Action.FAIL:
        code = f" ({one_line(decision.code, MAX_NAME)})" if decision.code else ""
        return f"{cleanup}nothing follows{code}: {why}"
    at = event.observed_at.astimezone(UTC) + timedelta(seconds=decision.delay)
    wait = f", in {decision.delay:.3g} s" if decision.delay else ""
    return f"{cleanup}attempt {decision.attempt + 1} at {at:%H:%M:%S} UTC{wait}: {why}"


def _pays(decision: Decision | None) -> str:
    if decision is None:
        return ""
    if decision.charge is Charge.INFRA:
        return f"nobody, the attempt is refunded ({decision.after})"
    if decision.charge is Charge.NONE:
        return f"nobody ({decision.after})"
    return f"the {decision.charge.value} budget ({decision.after})"


def _links(event: FailureEvent, notification: Notification) -> Iterator[Link]:
    if event.task.log_url and _is_link(event.task.log_url):
        yield Link("log", event.task.log_url)
    if notification.run_url:
        run = _filled(notification.run_url, event.task)
        if _is_link(run):
            yield Link("run", run)
    if notification.docs_url:
        reason = event.failure_details.reason
        page = page_of(notification.docs_url, reason)
        if _is_link(page):
            yield Link(f"what {one_line(reason, MAX_NAME)} means", page)


def _filled(template: str, task: Task) -> str:
    values = {
        "namespace": task.namespace,
        "workflow": task.workflow,
        "task": task.name,
        "run_id": task.run_id,
        "map_index": "" if task.map_index is None else str(task.map_index),
        "attempt": str(task.attempt),
    }
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", quote(value, safe="", errors="replace"))
    return template


def _is_link(url: str) -> bool:
    """Return whether it is a URL that may stand behind a link: all else is shown as text."""
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or set(url) & set(' <>"|'):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
