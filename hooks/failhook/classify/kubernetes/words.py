"""What an engine or the API server said about a pod that is not there to be read.

A workflow engine's node record, its log sentence, an answer of the API, a record of its audit log.
"""

from __future__ import annotations

import json
import re
from typing import Final

from failhook.classify.facts import HEAD, TAIL, Facts, window
from failhook.classify.kubernetes.containers import BEGAN, how_ended
from failhook.classify.kubernetes.fields import NOTHING, Object, mapping, pick, text, whole
from failhook.classify.kubernetes.names import INJECTED_INITS, is_helper
from failhook.classify.kubernetes.pods import read_sentence

_EXIT: Final = re.compile(
    r"(?:([\w.-]{1,253}): )?(\w{1,80}) \(exit code (-?\d{1,10})\)(?:: (.*))?", re.DOTALL
)
_OLD_EXIT: Final = re.compile(r"failed with exit code (\d{1,10})")
_BEFORE_START: Final = re.compile(
    r"Pod failed before (\S{1,253}) container starts due to (\w{0,80}): (.*)", re.DOTALL
)
_PENDING: Final = re.compile(r"([A-Z]\w{2,60}): (.*)", re.DOTALL)
_MISMATCH: Final = (
    re.compile(
        r"finished \(([\w.]{1,60})\) although the task says (?:it's|its state is) ([\w.]{1,60})"
    ),
    re.compile(
        r"finished with state ([\w.]{1,60}), but the task instance's state attribute is"
        r" ([\w.]{1,60})"
    ),
)
"""How Airflow's scheduler says that executor and record differ, before and since 2.10."""

_INFO: Final = re.compile(r"\(Info: ([^)\n]{1,300})\)|Extra info: ([^\n]++)")
_UNREACHABLE: Final = (
    r'\b(get|post|put|patch|delete) "?https://[^\s"]{1,400}"?: '
    r"(dial tcp|read tcp|net/http|http2|eof|unexpected eof|context deadline)"
)
_REFUSALS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE).search, code)
    for pattern, code in (
        (r"failed calling webhook|etcdserver: |internal error occurred", 500),
        (r"the server is currently unable to handle the request|service unavailable", 503),
        (r"timeout: request did not complete", 504),
        (_UNREACHABLE, 503),
        (r"the server has received too many requests", 429),
        (r"the object has been modified|object is being deleted", 409),
        (r"admission webhook \S{1,300} denied the request", 403),
        (r'\b\w{1,40} "[^"\n]{1,300}" is forbidden: ', 403),
        (r'\b\w{1,40}(\.\w{1,40})* "[^"\n]{1,300}" is invalid: ', 422),
    )
)
_CLIENT_ERROR: Final = re.compile(r"(?:ApiException: )?\((\d{3})\)\s+Reason: ([\w ]{1,60})")


def read_refusal(message: str, facts: Facts) -> bool:
    """Read an answer of the API server that stands in somebody else's sentence."""
    client = _CLIENT_ERROR.match(message)
    if client is not None:
        facts["kube.api.code"] = int(client[1])
        facts.read("kube.api.reason", client[2].strip().replace(" ", ""))
        facts.read("kube.api.message", message)
        return True
    for search, code in _REFUSALS:
        if search(message):
            facts["kube.api.code"] = code
            facts.read("kube.api.message", message)
            return True
    return False


def read_node(node: Object, facts: Facts) -> None:
    """Read the record of a workflow's step, as Argo Workflows keeps it: a phase and a message."""
    message = text(node.get("message"))
    if message is None:
        return
    at = "workflow_node.message"
    message = window(message)
    facts.read("kube.workflow.message", message, at)
    before = _BEFORE_START.match(message)
    if before is not None:
        facts["started"] = "no"
        _waits(before[2], before[3], at, facts)
        return
    ended = _EXIT.match(message)
    if ended is not None:
        _container(ended, at, facts)
        return
    old = _OLD_EXIT.match(message)
    if old is not None:
        facts["exit_code"] = int(old[1])
        facts["pod.ended"] = how_ended(None, int(old[1]))
        return
    pending = _PENDING.match(message)
    if pending is not None and pending[1] in _WAITING:
        _waits(pending[1], pending[2], at, facts)
        return
    if read_refusal(message, facts):
        return
    facts.read("pod.message", message, at)
    read_sentence(facts)


_WAITING: Final = frozenset(
    (
        *("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"),
        *("ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"),
        *("CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
        *("CrashLoopBackOff", "CreatePodSandboxError", "Unschedulable"),
    )
)


def _waits(reason: str, message: str, at: str, facts: Facts) -> None:
    if reason == "Unschedulable":
        facts.read("pod.unscheduled", reason, at)
        facts.read("pod.unscheduled.message", message or None, at)
        return
    facts["pod.ended"] = "blocked" if reason else "waiting"
    facts.read("pod.waiting", reason or None, at)
    facts.read("pod.waiting.message", message or None, at)


def _container(ended: re.Match[str], at: str, facts: Facts) -> None:
    name, reason, code, message = ended[1], ended[2], int(ended[3]), ended[4]
    how = how_ended(reason, code)
    if is_helper(name) or name in INJECTED_INITS:
        facts["pod.sidecar.ended"] = how
        facts["pod.sidecar.known"] = True
        facts.read("pod.sidecar.message", message, at)
        facts.read("pod.sidecar.name", name, at)
        facts.read("pod.sidecar.reason", reason, at)
        return
    facts["pod.ended"] = how
    facts["exit_code"] = code
    if how in BEGAN:
        facts["started"] = "yes"
    facts.read("pod.container.name", name, at)
    facts.read("pod.container.reason", reason, at)
    facts.read("pod.container.message", message, at)


def read_sentence_of_engine(sentence: object, facts: Facts) -> None:
    """Read a sentence that an engine logged about its pod; Airflow's mismatch in its own facts."""
    said = text(sentence)
    if said is None:
        return
    said = window(said)
    facts.read("kube.engine.message", said, "engine_error")
    for pattern in _MISMATCH:
        found = pattern.search(said)
        if found is not None:
            facts["mismatch"] = True
            facts["mismatch.executor_state"] = found[1].rstrip(".").rpartition(".")[2]
            facts["mismatch.recorded_state"] = found[2].rstrip(".").rpartition(".")[2]
            info = _INFO.search(said)
            if info is not None:
                facts["mismatch.info"] = info[1] or info[2]
            return
    read_refusal(said, facts)


def read_answer(answer: Object, facts: Facts, *, verb: str | None = None) -> None:
    """Read an answer of the API server: a Status, or a code with a body.

    Args:
        answer: a Status object, or an engine's own ``code`` and ``body``.
        facts: where to put it.
        verb: ``create`` or ``get`` where it is known what was asked for.
    """
    body = _body(answer)
    code = whole(answer.get("code"))
    if code is None:
        code = whole(answer.get("status"))  # as the Python client's ApiException has it
    if code is None:
        code = whole(body.get("code"))
    if code is not None:
        facts.read("kube.api.code", code)
    facts.read("kube.api.reason", text(body.get("reason")) or text(answer.get("reason")))
    facts.read(
        "kube.api.message",
        text(body.get("message")) or text(answer.get("message")) or text(answer.get("body")),
    )
    message = facts["kube.api.message"]
    if code is None and isinstance(message, str) and read_refusal(message, facts):
        code = whole(facts["kube.api.code"])
    about = mapping(answer.get("details") or body.get("details")).get("kind")
    if code == 404 and verb != "create" and (verb == "get" or about in ("pods", "pod")):
        facts["kube.api.gone"] = True
    elif verb == "create" or about == "namespaces":
        facts["kube.api.refused"] = True


def _body(answer: Object) -> Object:
    """Return the Status that a client keeps as the body of its error, also where it is JSON."""
    body = answer.get("body")
    if isinstance(body, str) and len(body) <= HEAD + TAIL and body.lstrip().startswith("{"):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return NOTHING
    return mapping(body)


def read_audit(record: Object, facts: Facts) -> None:
    """Read the audit record of a request on a pod: who asked for what."""
    about = mapping(pick(record, "objectRef", "object_ref"))
    if about.get("resource") not in ("pods", None):
        return
    facts.read("kube.audit.verb", text(record.get("verb")), "audit.verb")
    facts.read("kube.audit.subresource", text(about.get("subresource")))
    user = mapping(record.get("user"))
    facts.read("kube.audit.user", text(user.get("username")), "audit.user.username")
