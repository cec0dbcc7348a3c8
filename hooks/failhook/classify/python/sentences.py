"""Plain text: errors that came as a sentence, and log lines, when nothing else is there."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    UNKNOWN,
    Rule,
    Tier,
)

_FAQ: Final = "https://airflow.apache.org/docs/apache-airflow/stable/faq.html"
_EXCEPTIONS: Final = "https://docs.python.org/3/library/exceptions.html"
_STATUS: Final = "https://www.rfc-editor.org/rfc/rfc9110#name-status-codes"
_BROKEN: Final = like(
    r"Broken DAG: \[|No module named '|cannot import name '|invalid syntax \(|unexpected indent \("
    r"|expected an indented block|EOL while scanning|unterminated string literal"
    r"|dag_id could not be found|Either the dag did not exist or it failed to parse"
)

TEXTS: Final = (
    raised(
        "text.code",
        "str",
        APPLICATION,
        "CodeLoadError",
        when={"exception.message": _BROKEN},
        deterministic=True,
        because="The text is Python's own sentence about code that cannot be loaded.",
        source=_FAQ,
    ),
    raised(
        "text.denied",
        "str",
        APPLICATION,
        "PermissionDenied",
        when={
            "exception.message": like(
                r"\b40[13] (?:GET|POST|PUT|PATCH|DELETE) http|\b40[13] Client Error"
                r"|AccessDenied\w{0,9}\) when calling"
            )
        },
        deterministic=True,
        because="The text holds a client's sentence about a refused call.",
        source=_STATUS,
    ),
    raised(
        "text.throttled",
        "str",
        APPLICATION,
        "RemoteThrottled",
        when={
            "exception.message": like(
                r"\b429 (?:GET|POST|PUT|PATCH|DELETE) http|\b429 Client Error"
                r"|\((?:Throttling\w{0,9}|SlowDown"
                r"|TooManyRequests\w{0,9})\) when calling"
            )
        },
        deterministic=False,
        because="The text holds a client's sentence about a throttled call.",
        source=_STATUS,
    ),
    raised(
        "text.not-found",
        "str",
        APPLICATION,
        "NotFound",
        when={
            "exception.message": like(
                r"\b404 (?:GET|POST|PUT|PATCH|DELETE) http|\b404 Client Error"
            )
        },
        because="The text holds a client's sentence about a thing that is not there.",
        source=_STATUS,
    ),
    raised(
        "text.transient",
        "str",
        APPLICATION,
        "RemoteTransient",
        when={
            "exception.message": like(
                r"\b50[0234] (?:GET|POST|PUT|PATCH|DELETE) http|\b50[0234] Server Error"
                r"|Connection aborted\.'|Max retries exceeded with url"
            )
        },
        deterministic=False,
        because="The text holds a client's sentence about a passing trouble.",
        source=_STATUS,
    ),
    raised(
        "text.failed-to-execute",
        "str",
        APPLICATION,
        "UserException",
        when={"exception.message": like(r"^Failed to execute (?:job|task) ")},
        because="The runner's sentence quotes an exception of the task.",
        source=_EXCEPTIONS,
    ),
    raised(
        "text.pod-failed",
        "str",
        UNKNOWN,
        "PodFailed",
        when={"exception.message": like(r"^Pod failed because of|^Pod \S{1,300} failed")},
        confidence=GUESS,
        ended_by_itself=False,
        because="The text says only that the pod failed.",
        source="https://airflow.apache.org/docs/apache-airflow-providers-cncf-kubernetes/stable/",
    ),
    Rule(
        id="log.traceback",
        tier=Tier.LOG,
        when={"log": has("Traceback (most recent call last):")},
        kind=APPLICATION,
        reason="UserException",
        confidence=GUESS,
        ended_by_itself=True,
        because="The log holds a traceback, and nothing else was seen.",
        source=_EXCEPTIONS,
    ),
)
