"""Keys of an evidence document that nothing read: a misspelt fact must not pass in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, cast

from failhook.classify import Classifier
from failhook.classify.sources import SOURCES
from failhook.evidence import Evidence
from failhook.task import Task

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "exit_code": {"": "a whole number"},
    "signal": {"": "a whole number"},
    "sent": {"": "a whole number"},
    "oom_own": {"": "a whole number"},
    "oom_host": {"": "a whole number"},
    "exception": {"": "an object or a text"},
    "log_tail": {"": "a text or a list of lines"},
    "stderr_tail": {"": "a text or a list of lines"},
    "deadline": {"which": "a text", "limit": "a number", "elapsed": "a number"},
    "cancel": {"actor": "a text", "action": "a text"},
    "shutdown": {"actor": "a text"},
    "heartbeat": {"timeout": "a number", "age": "a number", "node_ready": "true or false"},
    "mismatch": {
        "executor_state": "a text",
        "recorded_state": "a text",
        "can_report": "true or false",
        "info": "a text",
    },
    "lost": {"host": "a text", "pid": "a whole number", "why": "a text"},
    "duplicate": {"host": "a text", "pid": "a whole number"},
    "plugin_error": {"code": "a text", "message": "a text"},
    "exec": {"errno": "a whole number", "message": "a text", "command": "a text"},
    "verdict": {
        "kind": "a text",
        "reason": "a text",
        "message": "a text",
        "deterministic": "true or false",
        "confidence": "a text",
        "code": "a text",
        "retry_after": "a number",
        "actor": "a text",
        "exit_code": "a whole number",
        "signal": "a whole number",
        "hint": "a text",
        "time_limit": "a number",
        "elapsed": "a number",
        "node": "a text",
        "ended_by_itself": "true or false",
        "executor_side": "true or false",
        "cleanup": "true or false",
    },
}
"""What a supervisor may put into ``evidence``, and what each value is; docs/evidence.md tells."""

_GENERAL: Final = ("process", "python")


def unused(judge: Classifier, task: Task | None, document: object) -> list[str]:
    """Name the keys of an evidence document that change nothing of what is seen.

    Systems with records of their own are left alone: of those much is there for people only.
    """
    if not isinstance(document, Mapping):
        return []
    given = cast("Mapping[str, Any]", document)
    facts = given.get("evidence")
    if not isinstance(facts, Mapping) or not _is_general(given.get("system")):
        return []
    told: list[str] = []
    whole = _seen(judge, task, given)
    for keys, value in _places(cast("Mapping[str, Any]", facts)):
        if value is not None and _seen(judge, task, _without(given, keys)) == whole:
            told.append(_sentence(keys, value))
    return told


def _is_general(system: object) -> bool:
    return system in _GENERAL or not any(
        source.systems and source.reads(str(system)) for source in SOURCES
    )


def _seen(judge: Classifier, task: Task | None, document: Mapping[str, Any]) -> object:
    return judge.explain(task, Evidence.from_dict(document)).to_dict()


def _places(facts: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield every key; of a group that is known, those in it."""
    for name, value in facts.items():
        known = FIELDS.get(name, {})
        if isinstance(value, Mapping) and "" not in known and known:
            for key, each in cast("Mapping[str, Any]", value).items():
                yield (name, key), each
        else:
            yield (name,), value


def _without(document: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    facts = dict(document["evidence"])
    if len(keys) == 1:
        del facts[keys[0]]
    else:
        facts[keys[0]] = {name: value for name, value in facts[keys[0]].items() if name != keys[1]}
    return {**document, "evidence": facts}


def _sentence(keys: tuple[str, ...], value: object) -> str:
    path = ".".join(("evidence", *keys))
    known = FIELDS.get(keys[0], {}) if len(keys) == 2 else FIELDS
    if keys[-1] in known:
        kinds = FIELDS[keys[0]]
        wanted = kinds[keys[1]] if len(keys) == 2 else kinds.get("", "an object")
        fits = _fits(wanted, value)
        return path if fits else f"{path} (it must be {wanted})"
    alike = get_close_matches(keys[-1], [name for name in known if name], n=1)
    return f"{path} (did you mean {alike[0]}?)" if alike else path


def _fits(wanted: str, value: object) -> bool:
    if wanted.startswith("a whole number"):
        return type(value) is int
    if wanted == "a number":
        return type(value) in (int, float)
    if wanted == "true or false":
        return isinstance(value, bool)
    if wanted == "an object":
        return isinstance(value, Mapping)
    return isinstance(value, str)
