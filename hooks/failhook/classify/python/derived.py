"""Facts about an exception that take some work; each is computed when a rule first asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from failhook.classify.facts import Derive, Derived, Facts, Value, window
from failhook.error_info import ErrorInfo

_FRAME: Final = re.compile(r'File "([^"\n]{1,300})"')
_ERRNO: Final = re.compile(r"\[(?:Errno|WinError) (-?\d{1,6})\]|\bError (\d{1,5}) connecting to")
_EXIT: Final = re.compile(
    r"(?:exit status|exit code|exitcode|return code|Return Code:|code is:|status code|exited with"
    r"|code) ?:? ?(-?\d{1,5})\b"
)
_SIGNAL: Final = re.compile(
    r"(?:<Signals\.SIG[A-Z0-9]{2,8}: |signal |\(signal |signal: |SIG[A-Z0-9]{2,8}\(-)(\d{1,2})\b"
)
_XID: Final = re.compile(
    r"\bXid \(PCI:[0-9a-fA-F:.]{1,40}\): (\d{1,3})\b|\bXid[ :=]{1,3}(\d{1,3})\b"
)
_THREE_DIGITS: Final = re.compile(r"\d{3}")
_STATUS: Final = (
    # google.api_core: "403 POST https://...", aiohttp: "404, message='...'", urllib3 and friends
    re.compile(r"^(\d{3})(?: (?:GET|POST|PUT|PATCH|DELETE|HEAD)\b|, message=| [A-Z][a-z])"),
    # requests: "404 Client Error: Not Found for url: ...", httpx: "Client error '404 Not Found'"
    re.compile(r"\b(\d{3}) (?:Client|Server) Error\b|(?:Client|Server) error '(\d{3}) "),
    # the Kubernetes client: "(404)", then "Reason: Not Found" on the next line
    re.compile(r"^\((\d{3})\)\nReason:"),
    # urllib: "HTTP Error 503: ...", openai and anthropic: "Error code: 429 - {...}"
    re.compile(
        r"\bHTTP Error (\d{3})\b|\bError code: (\d{3})\b|\bHTTP (?:status|code)[ :]+(\d{3})\b"
    ),
    # botocore with a bare number for a code, boto 2
    re.compile(r"An error occurred \((\d{3})\) when calling|^\w{2,9}ResponseError: (\d{3}) "),
    # googleapiclient, Elasticsearch, and what many clients of their own making say
    re.compile(r"<HttpError (\d{3}) |^\w{2,40}(?:Error|Exception)\((\d{3}), "),
    re.compile(r"\b(?:HTTP|[Rr]esponse|[Ss]tatus)[ _](?:status[ _]?)?(?:code)?[ =:]{1,3}(\d{3})\b"),
)
_CODE: Final = (
    re.compile(r"An error occurred \(([\w.]{1,80})\) when calling"),
    re.compile(r"StatusCode\.([A-Z_]{2,30})\b"),
    re.compile(r"""["']code["']: ["']([a-z_]{3,40})["']"""),
    re.compile(r"\bORA-(\d{5})\b|\(SQLSTATE ([0-9A-Z]{5})\)|\bSQLSTATE\[([0-9A-Z]{5})\]"),
    re.compile(
        r"(?:Error|Warning)\)? \((\d{4}), ['\"]"
    ),  # MySQL: "(OperationalError) (1213, '...')"
    re.compile(r"^\((\d{4}), ['\"]|\bERROR (\d{4}) \("),
)
_RETRY_AFTER: Final = re.compile(
    r"(?:[Rr]etry[- ][Aa]fter|try again in|retry in) ?:? ?(\d{1,6}+(?:\.\d{1,3}+)?+) ?(ms|m|s|h)?\b"
)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_GPU: Final = (
    *("CUDA", "cuda", "NCCL", "nccl", "Xid", "NVRM", "BLAS", "CUDNN", "cuDNN"),
    *("HIP ", "hipError", "ncorrectable", "ECC", "MPS backend", "XPU out", "OOM when allocating"),
    *("RESOURCE_EXHAUSTED", "Out of memory allocating", "gloo/transport", "remote process exited"),
    *("fallen off the bus", "device handle for", "GPU is lost", "DataLoader worker"),
)


def _error(facts: Facts) -> ErrorInfo | None:
    return facts.sources.get("error")


def _first_group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else next((group for group in found.groups() if group), None)


def _message(facts: Facts) -> str:
    message = facts["exception.message"]
    return message if isinstance(message, str) else ""


def _attribute(facts: Facts, *names: str) -> Value:
    error = _error(facts)
    if error is None:
        return None
    for name in names:
        value = error.attributes.get(name)
        if value is not None:
            return value
    return None


def _number(facts: Facts, *names: str) -> int | None:
    value = _attribute(facts, *names)
    return value if type(value) is int else None


def _errno(facts: Facts) -> Value:
    known = _number(facts, "errno", "winerror")
    if known is not None:
        return known
    found = _first_group(_ERRNO, _message(facts)[:2_000])
    return None if found is None else int(found)


def http_status(error: ErrorInfo, message: str) -> int | None:
    """Return the HTTP status that an error carries, or that its message is written around."""
    for name in ("status_code", "status", "code"):
        known = error.attributes.get(name)
        if type(known) is int and 100 <= known <= 599:
            return known
    if _THREE_DIGITS.search(message, 0, 4_000) is None:
        return None
    for pattern in _STATUS:
        found = _first_group(pattern, message[:4_000])
        if found is not None and "400" <= found <= "599":
            return int(found)
    return None


def _code(facts: Facts) -> Value:
    known = _attribute(facts, "error_code", "sqlstate", "pgcode", "code")
    if isinstance(known, str) and known:
        return known
    message = _message(facts)[:4_000]
    for pattern in _CODE:
        found = _first_group(pattern, message)
        if found is not None:
            return found
    return None


def _retry_after(facts: Facts) -> Value:
    known = _attribute(facts, "retry_after")
    if known is not None:
        return known
    found = _RETRY_AFTER.search(_message(facts)[:4_000])
    return None if found is None else float(found[1]) * _SECONDS.get(found[2] or "s", 1.0)


def _exit_code(facts: Facts) -> Value:
    known = _number(facts, "returncode", "exit_code", "exitcode")
    if known is not None:
        return known
    found = _EXIT.search(_message(facts)[:4_000])
    return None if found is None else int(found[1])


def _signal(facts: Facts) -> Value:
    known = _number(facts, "signal", "signum")
    if known is not None:
        return known
    found = _SIGNAL.search(_message(facts)[:4_000])
    if found is not None:
        return int(found[1])
    code = facts["exception.exit_code"]
    return -code if type(code) is int and -64 <= code < 0 else None


def _frames(facts: Facts) -> Value:
    """Return the files of the traceback and of frames in the log, outermost first."""
    outermost: ErrorInfo | None = facts.sources.get("outermost")
    log = facts["log"]
    texts = (
        window(outermost.traceback) if outermost is not None else "",
        outermost.message[:4_000] if outermost is not None else "",
        log if isinstance(log, str) else "",
    )
    return tuple(path for text in texts for path in _FRAME.findall(text))[-64:]


def _text(facts: Facts) -> Value:
    """Return what was said anywhere: every message of the chain, then the log."""
    outermost: ErrorInfo | None = facts.sources.get("outermost")
    texts: list[str] = []
    if outermost is not None:
        texts += [
            window(error.message) for number, error in enumerate(outermost.walk()) if number < 16
        ]
    log = facts["log"]
    if isinstance(log, str):
        texts.append(log)
    return "\n".join(texts) or None


def speaks_of_accelerators(text: str) -> bool:
    """Return whether a text can concern a GPU, its driver or a collective at all."""
    return any(word in text for word in _GPU)


_SENTENCES: Final = (
    *("exception.text", "state.message", "state.exc_info", "state.error", "state.log_event"),
    *("executor_event.message", "executor_event.info", "log"),
)


_HORSE: Final = re.compile(
    r"[Ww]ork-?horse (?:process )?(?:was )?terminated unexpectedly"
    r"[^\n]{0,30}waitpid returned (\d{1,6})\b"
)


def _horse_signal(facts: Facts) -> Value:
    """Return the signal in the wait status that an RQ worker prints of its child."""
    words = facts["words"]
    found = _HORSE.search(words) if isinstance(words, str) else None
    return None if found is None else (int(found[1]) & 0x7F or None)


def _xids(facts: Facts) -> Value:
    """Return the numbers of the driver's Xid events, as texts."""
    text = facts["text.gpu"]
    found = _XID.findall(text) if isinstance(text, str) else []
    return tuple(dict.fromkeys(one or other for one, other in found))


def _words(facts: Facts) -> Value:
    """Return what came as plain sentences: an error without a class, a state's message, the log."""
    texts = [text for path in _SENTENCES if isinstance(text := facts[path], str)]
    return "\n".join(texts) or None


def _child_signal(facts: Facts) -> Value:
    """Return the signal that ended a worker, as its exception, its record or its parent says."""
    for known in (facts["exception.signal"], facts["signal"]):
        if type(known) is int:
            return known
    said = facts["executor_event.message"]
    found = _SIGNAL.search(said) if isinstance(said, str) else None
    if found is not None:
        return int(found[1])
    code = facts["child.exit_code"]
    return -code if type(code) is int and -64 <= code < 0 else None


def _child_exit_code(facts: Facts) -> Value:
    for known in (facts["exception.exit_code"], facts["exit_code"]):
        if type(known) is int:
            return known
    said = facts["executor_event.message"]
    found = _EXIT.search(said) if isinstance(said, str) else None
    return None if found is None else int(found[1])


def _said(name: str) -> Derive:
    """Return how to read what the exception, or the record of its state, says of retries."""

    def derive(facts: Facts) -> Value:
        known = _attribute(facts, name)
        return facts[f"state.{name}"] if known is None else known

    return derive


def _line(facts: Facts) -> Value:
    """Return type and first line of the message, as people write it."""
    kind = str(facts["exception.type"]).removeprefix("builtins.")
    first = _message(facts).strip().partition("\n")[0]
    if kind == "str":
        return first
    return f"{kind}: {first}" if first else kind


_ERROR: Final = ("exception.type",)
_ANY_TEXT: Final = ("exception.type", "log")

DERIVED: Final[Mapping[str, Derived]] = {
    "exception.errno": Derived(_errno, _ERROR),
    "exception.code": Derived(_code, _ERROR),
    "exception.retry_after": Derived(_retry_after, _ERROR),
    "exception.exit_code": Derived(_exit_code, _ERROR),
    "exception.signal": Derived(_signal, _ERROR),
    "exception.line": Derived(_line, _ERROR),
    "said.non_retryable": Derived(_said("non_retryable")),
    "said.allow_retries": Derived(_said("allow_retries")),
    "child.signal": Derived(_child_signal),
    "child.exit_code": Derived(_child_exit_code),
    "horse.signal": Derived(_horse_signal, _SENTENCES),
    "gpu.xid": Derived(_xids, ("text.gpu",)),
    "frames": Derived(_frames, _ANY_TEXT),
    "text": Derived(_text, _ANY_TEXT),
    "words": Derived(_words, _SENTENCES),
}
