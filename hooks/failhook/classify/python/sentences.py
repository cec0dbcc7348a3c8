"""Plain text: errors that came as a sentence, and log lines, when nothing else is there."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    UNKNOWN,
    Rule,
    Tier,
)

_FAQ: Final = "https://airflow.apache.org/docs/apache-airflow/stable/faq.html"
_EXCEPTIONS: Final = "https://docs.python.org/3/library/exceptions.html"
_STATUS: Final = "https://www.rfc-editor.org/rfc/rfc9110#name-status-codes"
_SIGNAL: Final = (
    "https://airflow.apache.org/docs/apache-airflow/stable/troubleshooting.html"
    "#process-terminated-by-signal"
)
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
        id="log.signal.killed",
        tier=Tier.LOG,
        when={
            "log": like(
                r"Negsignal\.SIGKILL|(?:return|exit|exited with) code:? -9\b|\(code -9\)"
                r"|signal_name=SIGKILL|terminated by signal 9\b"
            )
        },
        kind=INFRA,
        reason="KilledBySignal",
        confidence=GUESS,
        because="The supervisor's line names SIGKILL; whether for memory is not known.",
        source=_SIGNAL,
    ),
    Rule(
        id="log.signal.crash",
        tier=Tier.LOG,
        when={
            "log": like(
                r"Negsignal\.SIG(?:SEGV|ABRT|BUS|ILL|FPE)|(?:return|exit) code:? -(?:4|6"
                r"|7|8|11)\b|Fatal Python error: (?:Segmentation fault|Aborted"
                r"|Bus error)"
            )
        },
        kind=APPLICATION,
        reason="NativeCrash",
        ended_by_itself=True,
        because="The supervisor's line names a crash.",
        source=_SIGNAL,
    ),
    Rule(
        id="log.signal.terminated",
        tier=Tier.LOG,
        when={
            "log": like(
                r"Received SIGTERM\. Terminating subprocesses|Negsignal\.SIGTERM"
                r"|(?:return|exit) code:? -15\b|Task received SIGTERM"
            )
        },
        kind=UNKNOWN,
        reason="Terminated",
        confidence=GUESS,
        because="The line says that SIGTERM came; who asked for it is not known.",
        source=_SIGNAL,
    ),
    Rule(
        id="log.code",
        tier=Tier.LOG,
        when={"log": _BROKEN},
        kind=APPLICATION,
        reason="CodeLoadError",
        deterministic=True,
        ended_by_itself=True,
        because="The log holds Python's own sentence about code that cannot be loaded.",
        source=_FAQ,
    ),
    Rule(
        id="log.shell-killed",
        tier=Tier.LOG,
        when={"log": like(r"line \d{1,6}:\s{1,20}\d{1,10} Killed\s")},
        kind=UNKNOWN,
        reason="KilledBySignal",
        confidence=GUESS,
        because="A shell saw that its child was killed; the number is a process id.",
        source="https://www.gnu.org/software/bash/manual/html_node/Job-Control-Basics.html",
    ),
    Rule(
        id="log.terminated-externally",
        tier=Tier.LOG,
        when={"log": has("Likely it has been terminated by the external system")},
        kind=UNKNOWN,
        reason="TerminatedExternally",
        confidence=GUESS,
        because="The engine saw no exit status and guesses.",
        source="https://www.nextflow.io/docs/latest/executor.html",
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
    Rule(
        id="record.host-terminated",
        tier=Tier.DISRUPTION,
        when={"state.status_reason": like(r"^Host EC2")},
        kind=INFRA,
        reason="NodeLost",
        deterministic=False,
        because="AWS Batch says that the machine under the job was taken away.",
        source="https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",
    ),
)
