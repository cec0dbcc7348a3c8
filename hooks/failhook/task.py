"""Who failed: one attempt of one task of one run, and the three keys it is known by."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from failhook.clock import as_utc, from_rfc3339, to_rfc3339
from failhook.errors import ConfigError
from failhook.given import Given
from failhook.policy import Policy
from failhook.text import clean

MAX_NAME: Final = 1_024
"""Characters that each of a task's four names may have."""

_MOST: Final = 2**31
_given: Final = Given("Task", ConfigError)
_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})

_traceparent = re.compile(
    "(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
).fullmatch
"""Source: W3C Trace Context, section 3.2."""


def new_run_id() -> str:
    """Return a run id that nobody else has."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt of a task.

    Attributes:
        workflow: the DAG, flow, pipeline or queue that the task belongs to.
        name: the task within the workflow.
        namespace: the installation; OpenLineage's job namespace.
        run_id: one run of the workflow; generated unless given.
        map_index: the index of a mapped task, None for one that is not mapped.
        generation: counts from 1; a cleared task starts a new one, with fresh budgets.
        attempt: counts from 1; the ledger's number, not a host's own.
        owner: who is to be told.
        labels: for routing; names and values are strings, nothing else is taken.
        logical_time: the time the run stands for (Airflow's logical date); kept in UTC, and one
            without an offset is taken as UTC.
        traceparent: the W3C trace context that the attempt belongs to. A string of another form
            is dropped, None in its place: nobody can follow it, and it could hold a secret.
        log_url: where its log can be read.
        executor: what runs it.
        idempotent: may it run twice? False turns an unknown outcome into a hold.
        policy: what it may cost; None leaves it to the configuration.
        job_key: the same across runs: namespace/workflow/name.
        key: one run across its attempts: job key, run id, map index, generation.
        attempt_key: one attempt; a task is hashed by it.

    Raises:
        ConfigError: a field has a type or a value that is not allowed; the message names it.
    """

    workflow: str
    name: str
    _: KW_ONLY
    namespace: str = "default"
    run_id: str = field(default_factory=new_run_id)
    map_index: int | None = None
    generation: int = 1
    attempt: int = 1
    owner: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: _NO_LABELS)
    logical_time: datetime | None = None
    traceparent: str | None = None
    log_url: str | None = None
    executor: str | None = None
    idempotent: bool = True
    policy: Policy | None = None
    job_key: str = field(init=False, repr=False, compare=False)
    key: str = field(init=False, repr=False, compare=False)
    attempt_key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_identity(self)
        _check_more(self)
        job_key = "/".join(map(_escaped, (self.namespace, self.workflow, self.name)))
        index = "" if self.map_index is None else f"[{self.map_index}]"
        key = f"{job_key}/{_escaped(self.run_id)}{index}/{self.generation}"
        object.__setattr__(self, "job_key", job_key)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "attempt_key", f"{key}/{self.attempt}")

    def next_attempt(self) -> Task:
        """Return the same task, one attempt later."""
        return replace(self, attempt=self.attempt + 1)

    def at_attempt(self, attempt: int) -> Task:
        """Return the same task at the attempt that the ledger counted."""
        return self if attempt == self.attempt else replace(self, attempt=attempt)

    def cleared(self) -> Task:
        """Return the same task in a new generation: attempt 1, fresh budgets."""
        return replace(self, generation=self.generation + 1, attempt=1)

    def __hash__(self) -> int:
        return hash(self.attempt_key)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape; what is not set is left out."""
        document: dict[str, Any] = {
            "namespace": self.namespace,
            "workflow": self.workflow,
            "name": self.name,
            "run_id": self.run_id,
            "generation": self.generation,
            "attempt": self.attempt,
            "idempotent": self.idempotent,
        }
        for name in ("map_index", "owner", "traceparent", "log_url", "executor"):
            value = getattr(self, name)
            if value is not None:
                document[name] = value
        if self.labels:
            document["labels"] = dict(self.labels)
        if self.logical_time is not None:
            document["logical_time"] = to_rfc3339(self.logical_time)
        if self.policy is not None:
            document["policy"] = self.policy.to_dict()
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Task:
        """Read the JSON shape back.

        Raises:
            KeyError, ConfigError, ValueError: a required field is missing or a value not allowed.
        """
        values = {name: document[name] for name in ("namespace", "workflow", "name", "run_id")}
        values |= {
            name: document[name]
            for name in (
                *("map_index", "generation", "attempt", "owner", "labels"),
                *("traceparent", "log_url", "executor", "idempotent"),
            )
            if document.get(name) is not None
        }
        if document.get("logical_time") is not None:
            values["logical_time"] = from_rfc3339(document["logical_time"])
        if document.get("policy") is not None:
            values["policy"] = Policy.from_dict(document["policy"])
        return cls(**values)


_TYPES: Final = (
    ("owner", str, "a string or None"),
    ("traceparent", str, "a string or None"),
    ("log_url", str, "a string or None"),
    ("executor", str, "a string or None"),
    ("logical_time", datetime, "a datetime or None"),
    ("policy", Policy, "a Policy or None; Policy.from_dict() makes one of a mapping"),
)


def _check_identity(task: Task) -> None:
    for name in ("namespace", "workflow", "name", "run_id"):
        value = getattr(task, name)
        if not isinstance(value, str) or not value:
            raise _given.wrong(name, value, "a string that is not empty")
        if (cleaned := clean(value)) is not value:
            object.__setattr__(task, name, cleaned)
        if len(cleaned) > MAX_NAME:
            msg = f"Task.{name} has {len(cleaned)} characters; at most {MAX_NAME} are allowed"
            raise ConfigError(msg)
    for name, least in (("generation", 1), ("attempt", 1), ("map_index", -1)):
        value = getattr(task, name)
        whole = type(value) is int and least <= value <= _MOST
        if not whole and (name != "map_index" or value is not None):
            raise _given.wrong(name, value, f"a whole number, {least} or more")


def _check_more(task: Task) -> None:
    for name, kind, allowed in _TYPES:
        value = getattr(task, name)
        if value is not None and not isinstance(value, kind):
            raise _given.wrong(name, value, allowed)
    if type(task.idempotent) is not bool:
        raise _given.wrong("idempotent", task.idempotent, "True or False")
    if task.logical_time is not None:
        object.__setattr__(task, "logical_time", _logical_time(task.logical_time))
    if task.traceparent is not None and not _traceparent(task.traceparent):
        object.__setattr__(task, "traceparent", None)
    if task.labels is not _NO_LABELS:
        object.__setattr__(task, "labels", _labels(task.labels))


def _logical_time(moment: datetime) -> datetime:
    try:
        return as_utc(moment)
    except ValueError as error:
        msg = f"Task.logical_time: {error}"
        raise ConfigError(msg) from None


def _labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels frozen, as the task's own."""
    _given.of_type("labels", labels, Mapping, "a mapping of strings to strings")
    for name, value in labels.items():
        _given.text(f"labels: the name {name!r}", name)
        _given.text(f"labels[{name!r}]", value)
    return labels if isinstance(labels, MappingProxyType) else MappingProxyType(dict(labels))


def _escaped(part: str) -> str:
    """Keep the separators of a key out of its parts."""
    if "%" in part or "/" in part or "[" in part:
        return part.replace("%", "%25").replace("/", "%2F").replace("[", "%5B")
    return part
