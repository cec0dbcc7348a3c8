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
_HOW_IT_ENDED: Final = {
    "subprocess.CalledProcessError": re.compile(
        r"(?:died with (?:<Signals\.SIG[A-Z0-9]{2,8}: |unknown signal )(?P<signal>\d{1,2})>?"
        r"|returned non-zero exit status (?P<code>-?\d{1,5}))\.?\s{0,8}$"
    ),
    "torch.ChildFailedError": re.compile(
        r"(?s:Root Cause.{0,400}?)\bexitcode\s{0,8}: (?:-(?P<signal>\d{1,2})|(?P<code>\d{1,5}))\b"
    ),
}
"""Where the sentence of a class says how a child ended; the rest of it quotes the child."""
_XID: Final = re.compile(
    r"\bXid \(PCI:[0-9a-fA-F:.]{1,40}\): (\d{1,3})\b|\bNVRM: Xid[ :=]{1,3}(\d{1,3})\b"
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
    *("CUDA", "cuda", "NCCL", "nccl", "Xid", "NVRM", "NVML", "BLAS", "CUDNN", "cuDNN"),
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
    names = facts["exception.is"]
    for name in names if isinstance(names, tuple) else ():
        if name in _HOW_IT_ENDED:
            return _end_of_child(_HOW_IT_ENDED[name], _message(facts))
    found = _EXIT.search(_message(facts)[:4_000])
    return None if found is None else int(found[1])


def _end_of_child(pattern: re.Pattern[str], message: str) -> Value:
    """Return the exit code of a child; one that a signal ended has that signal, below zero."""
    found = pattern.search(message)
    if found is None:
        return None
    return -int(found["signal"]) if found["signal"] else int(found["code"])


def _signal(facts: Facts) -> Value:
    known = _number(facts, "signal", "signum")
    if known is not None:
        return known
    names = facts["exception.is"]
    if isinstance(names, tuple) and not _HOW_IT_ENDED.keys().isdisjoint(names):
        code = facts["exception.exit_code"]
        return -code if type(code) is int and -64 <= code < 0 else None
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
        quoted if isinstance(quoted := facts["traceback"], str) else "",
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


_ACCELERATORS: Final = frozenset(
    {
        *("torch", "jaxlib", "jax", "tensorflow", "cupy", "cupy_backends", "numba", "pynvml"),
        *("cudf", "rmm", "xgboost", "horovod", "deepspeed", "vllm", "triton", "mxnet", "paddle"),
    }
)
_ALSO_OF_ACCELERATORS: Final = ("RuntimeError", "SystemError", "str")
_PASSED_ON: Final = ("ray.RayTaskError", "celery.ChordError")


def raised_by_accelerators(names: tuple[str, ...]) -> bool:
    """Return whether the runtime of a GPU or a collective raises such a class.

    Args:
        names: short names of the class and its bases; the class itself decides, unless it only
            passes on what was raised elsewhere.
    """
    own = names[0]
    if own in _PASSED_ON:
        return any(map(_of_accelerators, names[1:]))
    return _of_accelerators(own)


def _of_accelerators(name: str) -> bool:
    return name in _ALSO_OF_ACCELERATORS or name.partition(".")[0] in _ACCELERATORS


_SENTENCES: Final = (
    *("exception.text", "state.message", "state.exc_info", "state.error", "state.log_event"),
    *("executor_event.message", "executor_event.info", "log"),
)
_OUTPUT: Final = re.compile(
    r"(?m)^.{0,120}?\{(?:subprocess\.py:\d{1,5}\} INFO - (?!Command exited with)"
    r"|pod_manager\.py:\d{1,5}\} INFO - \[|logging_mixin\.py:\d{1,5}\} ).{0,2000}"
)
"""Lines in which Airflow passes on what the task itself printed."""


_HORSE: Final = re.compile(
    r"(?m)(?:^|[(\]:] ?)[Ww]ork-?horse (?:process )?(?:was )?terminated unexpectedly"
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
    """Return what came as plain sentences: an error without a class, a state's message, the log.

    What the task printed is left out, where the engine marks it as such.
    """
    texts = [text for path in _SENTENCES if isinstance(text := facts[path], str)]
    words = "\n".join(texts)
    return (_OUTPUT.sub("", words) if ".py:" in words else words) or None


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
_ANY_TEXT: Final = ("exception.type", "log", "traceback")

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
